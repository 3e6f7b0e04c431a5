"""Keep findings, alerts and their logs when two revisions turn out to be one commit.

The analysis that follows brings all of it in line with the points; what it must find is the rows,
with their numbers, their states and what people said.
"""

from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.events import Change, write
from webapp.alerts.services.joining import join, let_undos_restore
from webapp.analysis.models import Finding
from webapp.results.models import Revision
from webapp.results.services import lock_trees


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
