"""Two alerts that turn out to be about one commit become one.

People do not do this (they *merge*, which is an assignment and can be undone); it follows when two
revisions are one.

Keep findings, alerts and their logs when two revisions turn out to be one commit.

The analysis that follows brings all of it in line with the points; what it must find is the rows,
with their numbers, their states and what people said.
"""

from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent, FormerAlert
from webapp.alerts.services.events import RESTORED, Change, follow_alerts, write
from webapp.analysis.models import Finding
from webapp.outbox.services import move_mails
from webapp.results.models import Hardware, Revision
from webapp.results.services import lock_trees


def join_slow_losses(source: Hardware, into: Hardware) -> None:
    """Of two open ones of what is one machine, the older goes on."""
    found = Alert.objects.filter(kind=Alert.Kind.SLOW, hardware__in=[source, into])
    lock_trees(found.values_list("tree_id", flat=True))
    kept: dict[int, Alert] = {}
    for alert in found.exclude(state=Alert.State.RESOLVED).order_by("pk"):
        if alert.tree_id in kept:
            join(
                kept=kept[alert.tree_id], gone=alert, reason=f"{source} and {into} are one machine"
            )
        else:
            kept[alert.tree_id] = alert


def join_excursions(source: Hardware, into: Hardware) -> None:
    """Of two at one revision of what is one machine, the older stays."""
    found = Alert.objects.filter(kind=Alert.Kind.EXCURSION, hardware__in=[source, into])
    lock_trees(found.values_list("tree_id", flat=True))
    kept: dict[int, Alert] = {}
    for alert in found.order_by("pk"):
        if alert.revision_id in kept:
            reason = f"{source} and {into} are one machine"
            join(kept=kept[alert.revision_id], gone=alert, reason=reason)
        else:
            kept[alert.revision_id] = alert


def join(*, kept: Alert, gone: Alert, reason: str) -> None:
    """Let ``kept`` hold what ``gone`` held: its findings and what bisects hold of it, its log,
    its mails and its number.
    """
    joining = list(gone.findings)
    gone.memberships.update(alert=kept)
    gone.assignments.update(alert=kept)
    gone.duplicates.exclude(pk=kept.pk).update(duplicate_of=kept)
    # Versions of another alert say nothing here, and its acts can no longer be undone.
    gone.events.update(alert=kept, version=0, before={})
    let_undos_restore("duplicate_of_id", gone.pk, kept.pk)
    _take_over_state(kept, gone)
    move_mails(about=f"alert:{gone.pk}", to=f"alert:{kept.pk}", alert=kept.pk)
    FormerAlert.objects.filter(alert=gone).update(alert=kept)
    FormerAlert.objects.create(number=gone.pk, alert=kept)
    gone.holds.update(alert=kept)
    gone.delete()
    now = timezone.now()
    follow_alerts([kept], now=now)
    change = Change(kept, now)
    change.note(AlertEvent.Kind.JOINED, reason, joining)
    write([change])


def _take_over_state(kept: Alert, gone: Alert) -> None:
    """What waits for somebody goes on waiting, in the state that a person gave it if one did."""
    if kept.duplicate_of_id == gone.pk or _rank(gone) > _rank(kept):
        for name in (*RESTORED, "history"):
            setattr(kept, name, getattr(gone, name))
    kept.is_active = kept.is_active or gone.is_active
    kept.mailed = kept.mailed or gone.mailed
    kept.one_build = kept.one_build and gone.one_build
    kept.opened_at = min(kept.opened_at, gone.opened_at)
    kept.save()


def _rank(alert: Alert) -> tuple[bool, bool, bool]:
    return alert.is_open, alert.is_open and alert.triaged, alert.is_active


def let_undos_restore(name: str, gone: int, kept: int) -> None:
    """What an undo puts back is what stays, not what it was called."""
    events = list(AlertEvent.objects.filter(**{f"before__{name}": gone}))
    for event in events:
        event.before[name] = kept
    AlertEvent.objects.bulk_update(events, ["before"])


def alerts_that_join(source: Revision, into: Revision) -> tuple[Alert, Alert] | None:
    """The alert that will go and the one that takes it over, where both commits have one."""
    lock_trees([source.tree_id])
    gone, kept = (Alert.objects.of_levels().filter(revision=row).first() for row in (source, into))
    return (gone, kept) if gone and kept else None


def move_conclusions(source: Revision, into: Revision) -> None:
    """Let what was concluded about ``source`` be about ``into``, but for mere references."""
    lock_trees([source.tree_id])
    _move_findings(source, into)
    _move_alert(source, into)
    let_undos_restore("resolution_revision_id", source.pk, into.pk)


def _move_findings(source: Revision, into: Revision) -> None:
    """A change between the two is none: it goes. Of two findings of a series at what is one commit
    now, the one at ``into`` stands and supersedes the other.
    """
    between = Q(revision=source, previous=into) | Q(revision=into, previous=source)
    Finding.all_kinds.filter(between).delete()
    stays = Finding.all_kinds.live().filter(revision=into)
    live = {(series, kind): pk for series, kind, pk in stays.values_list("series_id", "kind", "pk")}
    for twin in Finding.all_kinds.live().filter(revision=source):
        if (twin.series_id, twin.kind) in live:
            twin.state, twin.recovered_by = Finding.State.SUPERSEDED, None
            twin.superseded_by_id = live[twin.series_id, twin.kind]
            twin.save(update_fields=["state", "recovered_by", "superseded_by"])
    Finding.all_kinds.filter(previous=source).update(previous=into)
    Finding.all_kinds.filter(revision=source).update(revision=into, position=into.position)


def _move_alert(source: Revision, into: Revision) -> None:
    """One alert stands for one commit: that of ``into``, if any, takes over the other's log."""
    Alert.objects.filter(kind=Alert.Kind.SLOW, revision=source).update(revision=into)
    _move_excursions(source, into)
    moving = Alert.objects.of_levels().filter(revision=source).first()
    if moving is None:
        return
    kept = Alert.objects.of_levels().filter(tree=into.tree_id, revision=into).first()
    if kept is None:
        change = Change(moving, timezone.now())
        change.note(AlertEvent.Kind.MOVED, f"{source} and {into} are one commit")
        moving.revision = into
        write([change])
    else:
        join(
            kept=kept,
            gone=moving,
            reason=f"{source} and {into} are one commit: with the log of {moving}",
        )


def _move_excursions(source: Revision, into: Revision) -> None:
    """A machine was odd at what is one commit now: that of ``into`` takes over the other's log."""
    kind = Alert.Kind.EXCURSION
    kept = {one.hardware_id: one for one in Alert.objects.filter(kind=kind, revision=into)}
    for moving in Alert.objects.filter(kind=kind, revision=source).order_by("pk"):
        if moving.hardware_id in kept:
            reason = f"{source} and {into} are one commit: with the log of {moving}"
            join(kept=kept[moving.hardware_id], gone=moving, reason=reason)
        else:
            Alert.objects.filter(pk=moving.pk).update(revision=into, likeliest=into)
