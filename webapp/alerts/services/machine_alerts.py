"""The findings of alerts of one machine that blame no commit, slow losses and excursions: no plan
weighs them against one another.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from webapp.alerts.models import Alert, AlertEvent, AlertFinding
from webapp.alerts.services.events import Change
from webapp.alerts.services.writing import names_of
from webapp.analysis.models import Finding

Kind = AlertEvent.Kind
State = Alert.State


def add_members(change: Change, rows: Sequence[Finding], members: dict[int, int | None]) -> None:
    """Have the alert of ``change`` hold ``rows``: noted in ``members`` (finding → alert)."""
    joining = [row for row in rows if _alert_of(row) != change.alert.pk]
    if joining:
        change.note(Kind.JOINED, names_of(joining), joining)
        members |= dict.fromkeys((row.pk for row in joining), change.alert.pk)


def retracted(alert: Alert, now: datetime) -> Change:
    """Later runs no longer show it. A person's resolution stays."""
    change = Change(alert, now)
    change.note(Kind.RETRACTED)
    alert.is_active = False
    if alert.state != State.RESOLVED:
        change.enter(State.RESOLVED, resolution=Alert.Resolution.RETRACTED)
    return change


def let_go(
    findings: Sequence[Finding],
    groups: Iterable[Sequence[Finding]],
    changes: Sequence[Change],
    members: dict[int, int | None],
) -> None:
    """Take out of the alerts those of ``findings`` that are in none of ``groups`` any more."""
    kept = {row.pk for rows in groups for row in rows}
    by_alert = {change.alert.pk: change for change in changes}
    leaving: dict[int, list[Finding]] = defaultdict(list)
    for row in findings:
        alert = _alert_of(row)
        if alert is not None and row.pk not in kept:
            members[row.pk] = None
            leaving[alert].append(row)
    for number, rows in leaving.items():
        if number in by_alert:
            by_alert[number].note(Kind.LEFT, names_of(rows), rows)


def _alert_of(row: Finding) -> int | None:
    membership: AlertFinding | None = getattr(row, "membership", None)
    return membership.alert_id if membership else None
