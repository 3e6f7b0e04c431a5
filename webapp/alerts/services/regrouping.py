"""Findings change their alerts: people decide which findings belong together, and the grouping
honours that from then on; two alerts that turn out to be about one commit become one.

An act of a person adds assignments, brings the alerts of the tree in line, and is an event of the
alert that was looked at, which an undo takes back together with its assignments.

People do not join alerts (they *merge*, which is an assignment and can be undone): alerts are
joined when two revisions are one. Findings, alerts and their logs are kept then, the rows with
their numbers, their states and people's decisions; the analysis that follows brings them in line
with the points.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent, Assignment, FormerAlert
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.services import triage
from webapp.alerts.services.analysing import reconcile_alerts
from webapp.alerts.services.events import RESTORED, Change, follow_alerts, open_alert, write
from webapp.alerts.services.triage import TriageError
from webapp.analysis.models import Finding
from webapp.outbox.services import move_mails
from webapp.results.models import Hardware, Revision
from webapp.results.services import begin_writing, lock_trees

Kind = AlertEvent.Kind


@transaction.atomic
def merge(*, alert: int, actor: User, version: int, into: int, reason: str = "") -> Alert:
    """Give all findings of an alert to another, and what will point at its commits as well.

    Raises TriageError.
    """
    row = _lock_as_seen(alert, version)
    target = _other(row, into)
    findings = _findings(row)
    if not findings:
        raise TriageError(f"Alert {alert} has no findings to merge.")
    given = _assignments(row.assignments.select_related("after", "last"), target)
    if _has_own(row, findings):
        given.append(Assignment(alert=target, after=row.after, last=row.revision))
    return _assign(row, actor, given, Kind.MERGED, _with_reason(f"into {target.pk}", reason))


@transaction.atomic
def move(
    *, alert: int, actor: User, version: int, findings: Sequence[int], to: int, reason: str = ""
) -> Alert:
    """Give some findings (ids) of an alert to another. Raises TriageError."""
    row = _lock_as_seen(alert, version)
    target = _other(row, to)
    chosen = _chosen(row, findings)
    reason = _with_reason(f"{_names(chosen)} to {target.pk}", reason)
    return _assign(row, actor, _assignments(chosen, target), Kind.SENT, reason)


@transaction.atomic
def split(
    *,
    alert: int,
    actor: User,
    version: int,
    findings: Sequence[int],
    revision: Revision | None = None,
    reason: str = "",
) -> Alert:
    """Take findings (ids) out to an alert of their own.

    An alert is one commit: that of the new one is ``revision``, which all of them suspect, or else
    the last that all of them suspect; no other alert may stand there. Raises TriageError.
    """
    row = _lock_as_seen(alert, version)
    chosen = _chosen(row, findings)
    if len(chosen) == len(_findings(row)):
        raise TriageError("Leave one finding: the others are then an alert of their own.")
    at = revision or min((one.last for one in chosen), key=lambda last: last.position)
    _refuse_strangers(at, chosen)
    target = _alert_at(at, row, chosen)
    reason = _with_reason(f"{_names(chosen)} to {target.pk} at {at}", reason)
    _assign(row, actor, _assignments(chosen, target), Kind.SPLIT, reason)
    if not target.findings.exists():
        raise TriageError("None of them is large and sure enough to open an alert of its own.")
    return row


def _lock_as_seen(alert: int, version: int) -> Alert:
    begin_writing()
    row = triage.lock_as_seen(alert, version)
    if row.is_slow:
        raise TriageError(f"Alert {alert} is a slow loss: its window decides what belongs to it.")
    if row.is_excursion:
        raise TriageError(
            f"Alert {alert} is an excursion: its machine and revision decide what belongs to it."
        )
    return row


def _other(row: Alert, number: int) -> Alert:
    others = Alert.objects.of_levels().numbered(number).filter(tree=row.tree_id)
    other = others.exclude(pk=row.pk).first()
    if other is None:
        raise TriageError(f"There is no other alert {number} in {row.tree}.")
    if not other.is_active:
        raise TriageError(f"Alert {other.pk} has no findings now; choose one that has.")
    return other


def _findings(row: Alert) -> list[Finding]:
    parts = ("after", "last", "series__mode", "series__hardware", "series__metric")
    return list(findings_of([row]).select_related(*parts).defer("why"))


def _chosen(row: Alert, findings: Sequence[int]) -> list[Finding]:
    chosen = [one for one in _findings(row) if one.pk in set(findings)]
    if not chosen or len(chosen) != len(set(findings)):
        raise TriageError(f"Choose findings that alert {row.pk} holds.")
    return chosen


def _has_own(row: Alert, findings: Sequence[Finding]) -> bool:
    """Whether the grouping gave it a finding, beside those that people did."""
    given = list(row.assignments.select_related("after", "last"))
    return any(
        not any(
            one.series_id in (None, finding.series_id)
            and one.after.position < finding.last.position
            and finding.after.position < one.last.position
            for one in given
        )
        for finding in findings
    )


def _assignments(alike: Iterable[Finding | Assignment], target: Alert) -> list[Assignment]:
    return [
        Assignment(alert=target, series_id=one.series_id, after=one.after, last=one.last)
        for one in alike
    ]


def _refuse_strangers(at: Revision, chosen: Sequence[Finding]) -> None:
    for one in chosen:
        if not one.after.position < at.position <= one.last.position:
            raise TriageError(
                f"{one.series.subject} on {one.series.hardware} does not suspect {at}, but a "
                f"commit after {one.after} up to {one.last}; name one of these, or split it off "
                "alone."
            )


def _alert_at(at: Revision, row: Alert, chosen: Sequence[Finding]) -> Alert:
    """An alert for the commit: one whose findings went, or a new one."""
    there = Alert.objects.of_levels().filter(tree=row.tree_id, revision=at).first()
    if there is not None and there.is_active:
        raise TriageError(
            f"Alert {there.pk} stands for {at} already, and an alert is one commit: name another "
            "commit that the chosen findings suspect, or move them to an alert that is there."
        )
    if there is not None:
        return there
    fields = {"revision_id": at.pk, "after_id": chosen[0].after_id, "likeliest_id": at.pk}
    change = open_alert(
        row.tree_id,
        fields,
        row.verdict,
        is_history=row.history,
        now=timezone.now(),
        reason=f"split off alert {row.pk}",
    )
    write([change])
    return change.alert


def _names(findings: Sequence[Finding]) -> str:
    return ", ".join(f"{one.series.subject} on {one.series.hardware}" for one in findings)


def _with_reason(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what


def _assign(row: Alert, actor: User, given: Sequence[Assignment], kind: Kind, reason: str) -> Alert:
    """Store the assignments and what follows from them; then the act, so that it can be undone."""
    before: dict[str, Any] = triage.restored(row)
    made = Assignment.objects.bulk_create(given)
    reconcile_alerts(row.tree_id)
    row.refresh_from_db()
    triage._write(row, actor, kind, reason, {}, before=before)  # noqa: SLF001
    event = row.events.order_by("-pk").first()
    Assignment.objects.filter(pk__in=[one.pk for one in made]).update(event=event)
    return row


def join_slow_losses(source: Hardware, into: Hardware) -> None:
    """Of two open ones of what is one machine, the older goes on."""
    is_open = ~Q(state=Alert.State.RESOLVED)
    _join_of_machines(Alert.Kind.SLOW, source, into, is_open, "tree_id")


def join_excursions(source: Hardware, into: Hardware) -> None:
    """Of two at one revision of what is one machine, the older stays."""
    _join_of_machines(Alert.Kind.EXCURSION, source, into, Q(), "revision_id")


def _join_of_machines(
    kind: Alert.Kind, source: Hardware, into: Hardware, which: Q, where: str
) -> None:
    found = Alert.objects.filter(kind=kind, hardware__in=[source, into])
    lock_trees(found.values_list("tree_id", flat=True))
    kept: dict[int, Alert] = {}
    for alert in found.filter(which).order_by("pk"):
        stays = kept.setdefault(getattr(alert, where), alert)
        if stays is not alert:
            join(kept=stays, gone=alert, reason=f"{source} and {into} are one machine")


def join(*, kept: Alert, gone: Alert, reason: str) -> None:
    """Let ``kept`` hold what ``gone`` held: its findings and what bisects hold of it, its log,
    its mails and its number.
    """
    joining = list(gone.findings)
    gone.memberships.update(alert=kept)
    gone.assignments.update(alert=kept)
    gone.duplicates.exclude(pk=kept.pk).update(duplicate_of=kept)
    # Versions of another alert mean nothing here, and its acts can no longer be undone.
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
