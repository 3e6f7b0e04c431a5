"""Slow losses: at most one open alert for each tree and machine, which its series join.

No commit is to blame for one, so nothing groups it by commits. Whoever is on the same machine while
it goes on loses to the same cause or to several, and one alert is what somebody can look into.
"""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries.evidence import slow_losses, uploaded_as_history
from webapp.alerts.services.events import Change, write
from webapp.alerts.services.machine_alerts import add_members, let_go, retracted
from webapp.alerts.services.opening import open_alert
from webapp.alerts.services.writing import store_members
from webapp.analysis.models import Finding

Kind = AlertEvent.Kind
State = Alert.State


def reconcile_slow_losses(tree: int, findings: Sequence[Finding]) -> None:
    """Open, extend and retract the slow losses of a tree; ``findings`` are those of
    ``alertable_in``. The caller holds ``lock_trees``.
    """
    lost = slow_losses(tree, findings)
    alerts = _alerts(tree)
    now = timezone.now()
    changes: list[Change] = []
    members: dict[int, int | None] = {}
    for hardware, rows in lost.items():
        alert = next((one for one in alerts if one.hardware_id == hardware), None)
        change = _opened(tree, hardware, rows, now) if alert is None else Change(alert, now)
        _settle(change, rows, is_new=alert is None)
        add_members(change, rows, members)
        changes.append(change)
    ended = [one for one in alerts if one.is_active and one.hardware_id not in lost]
    changes += [retracted(alert, now) for alert in ended]
    let_go(findings, lost.values(), changes, members)
    store_members(members)
    write(changes)


def _alerts(tree: int) -> list[Alert]:
    """The slow losses that may go on, those that wait for somebody first, then the newest."""
    stored = Alert.objects.filter(tree=tree, kind=Alert.Kind.SLOW)
    may = stored.filter(is_active=True) | stored.exclude(state=State.RESOLVED)
    may |= stored.filter(resolution=Alert.Resolution.RETRACTED)
    parts = ("revision", "after", "likeliest", "named")
    return sorted(may.select_related(*parts), key=lambda one: (not one.is_open, -one.pk))


def _opened(tree: int, hardware: int, rows: Sequence[Finding], now: datetime) -> Change:
    fields = {"kind": Alert.Kind.SLOW, "hardware_id": hardware, **_window(rows)}
    is_history = len(uploaded_as_history(rows)) == len(rows)
    return open_alert(
        tree, fields, Alert.Verdict.REGRESSION, is_history=is_history, now=now, reason="slow loss"
    )


def _window(rows: Sequence[Finding]) -> dict[str, int]:
    """From the first revision of the windows to the last: ``after`` up to ``revision``."""
    begin = min(rows, key=lambda row: row.after.position)
    end = max(rows, key=lambda row: row.position)
    return {"after_id": begin.after_id, "revision_id": end.last_id, "likeliest_id": end.last_id}


def _settle(change: Change, rows: Sequence[Finding], *, is_new: bool) -> None:
    """The window goes on with each revision, which is no news; that it is back is."""
    alert = change.alert
    window = _window(rows)
    if not is_new and any(getattr(alert, name) != value for name, value in window.items()):
        for name, value in window.items():
            setattr(alert, name, value)
        Alert.objects.filter(pk=alert.pk).update(**window)
    if not alert.is_active:
        change.note(Kind.REACTIVATED)
        alert.is_active = True
        if alert.resolution == Alert.Resolution.RETRACTED:
            change.enter(State.REOPENED if alert.triaged else State.NEW)
    if alert.history and not is_new and len(uploaded_as_history(rows)) < len(rows):
        change.note(Kind.WOKE)
        alert.history = False
        if alert.state == State.SNOOZED and not alert.triaged:
            change.enter(State.NEW)
