"""Changes of an alert together with the events that tell them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.holds import follow_alerts
from webapp.analysis.models import Finding
from webapp.queueing import Task, queue_on_commit

RESTORED = (
    "state",
    "triaged",
    "resolution",
    "resolution_revision_id",
    "duplicate_of_id",
    "snoozed_until",
    "snoozed_until_revision",
    "snoozed_until_position",
    "recovered_since",
)
"""What people change, and an undo puts back."""

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Changes of alerts within follow from another analysis of the same runs: they are in the log,
    and nobody is notified.
    """
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


OPENING = ("opened", "woke", "returned", "standing")
"""Kinds of events after which an alert waits for somebody."""

NEW_EVIDENCE = (*OPENING, "joined", "confirmed")
"""Kinds of events after which people are to know of an alert that only another analysis opened."""

WRITTEN = (
    *(name.removesuffix("_id") for name in RESTORED),
    *("revision", "after", "likeliest", "named", "named_probability", "verdict"),
    *("is_active", "is_quiet", "history", "one_build", "updated_at", "version"),
)


class Change:
    """One alert being changed by the system: its events, collected until it is written."""

    def __init__(self, alert: Alert, now: datetime) -> None:
        self.alert = alert
        self.now = now
        self.events: list[AlertEvent] = []
        self.is_changed = False
        self.was_resolved = alert.is_resolved_by_people

    def touch(self) -> None:
        """Have the alert written; its version grows once, however much changes."""
        if not self.is_changed:
            self.is_changed = True
            self.alert.version += 1
            self.alert.updated_at = self.now

    def note(
        self, kind: AlertEvent.Kind, reason: str = "", findings: Iterable[Finding] = ()
    ) -> None:
        """Change the alert by what the caller does next, and say so in its log."""
        self.touch()
        is_quiet = _quiet.get()
        if kind in (OPENING if is_quiet else NEW_EVIDENCE):
            self.alert.is_quiet = is_quiet
        self.events.append(
            AlertEvent(
                alert=self.alert,
                at=self.now,
                kind=kind,
                reason=reason,
                version=self.alert.version,
                findings=[row.pk for row in findings],
                is_quiet=is_quiet,
                is_read=is_quiet,
            )
        )

    def enter(self, state: Alert.State, **fields: Any) -> None:
        """Go to ``state`` with the fields that belong to it; those of the state before are gone."""
        empty = {
            "resolution": "",
            "resolution_revision": None,
            "duplicate_of": None,
            "snoozed_until": None,
            "snoozed_until_revision": "",
            "snoozed_until_position": None,
            "recovered_since": None,
        }
        self.alert.state = state
        for name, value in (empty | fields).items():
            setattr(self.alert, name, value)


def write(changes: list[Change]) -> None:
    """Store changed alerts and their events; whoever is to be told hears of it from these."""
    changed = [one.alert for one in changes if one.is_changed]
    if not changed:
        return
    events = [event for one in changes for event in one.events]
    Alert.objects.bulk_update(changed, WRITTEN)
    AlertEvent.objects.bulk_create(events)
    turned = [one for one in changes if one.alert.is_resolved_by_people != one.was_resolved]
    follow_alerts([one.alert for one in turned], now=changes[0].now)
    queue_on_commit(Task.NOTIFY)
