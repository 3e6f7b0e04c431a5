"""People say which findings belong together; the grouping honours it from then on.

Each act adds assignments, brings the alerts of the tree in line, and is an event of the alert that
was looked at, which an undo takes back together with its assignments.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent, Assignment
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.services import triage
from webapp.alerts.services.events import open_alert, write
from webapp.alerts.services.reconciling import reconcile_alerts
from webapp.alerts.services.triage import TriageError
from webapp.analysis.models import Finding
from webapp.results.models import Revision
from webapp.results.services import begin_writing

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
    given = [
        Assignment(alert=target, series_id=one.series_id, after=one.after, last=one.last)
        for one in row.assignments.select_related("after", "last")
    ]
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
        raise TriageError(
            f"Alert {alert} is a slow loss: what belongs to it is told by its window."
        )
    if row.is_excursion:
        raise TriageError(
            f"Alert {alert} is an excursion: its machine and revision tell what belongs to it."
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


def _assignments(findings: Sequence[Finding], target: Alert) -> list[Assignment]:
    return [
        Assignment(alert=target, series_id=one.series_id, after=one.after, last=one.last)
        for one in findings
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
