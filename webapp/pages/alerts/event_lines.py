"""What happened to an alert, each line a sentence that begins with who did it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from webapp.alerts.models import AlertEvent

SYSTEM = "Driftline"
_Kind = AlertEvent.Kind
DID = {
    _Kind.OPENED: "opened it",
    _Kind.JOINED: "added findings",
    _Kind.LEFT: "took findings out",
    _Kind.MOVED: "moved it",
    _Kind.REFINED: "narrowed or widened the suspects",
    _Kind.NAMED: "ended a bisect",
    _Kind.TURNED: "changed the verdict",
    _Kind.CONFIRMED: "found it confirmed by more builds",
    _Kind.ONE_BUILD: "found that it rests on one build a side",
    _Kind.RECOVERED: "found everything recovered",
    _Kind.RETURNED: "found it no longer recovered",
    _Kind.RETRACTED: "retracted it",
    _Kind.REACTIVATED: "found its findings back",
    _Kind.SNOOZED: "snoozed it",
    _Kind.WOKE: "woke it",
    _Kind.HISTORY: "found it resting on history alone",
    _Kind.CLOSED: "closed it after quiet days",
    _Kind.ACKNOWLEDGED: "acknowledged it",
    _Kind.INVESTIGATING: "is investigating it",
    _Kind.RESOLVED: "resolved it",
    _Kind.REOPENED: "reopened it",
    _Kind.MERGED: "merged it",
    _Kind.SPLIT: "split findings off",
    _Kind.SENT: "moved findings",
    _Kind.UNDONE: "undid it",
}
"""What somebody did, after their name."""

BY_THE_METHOD = " when the analysis was repeated after an upgrade"


@dataclass(frozen=True, slots=True)
class EventLine:
    """Who did what, and when."""

    at: datetime
    who: str
    did: str


def lines_of_events(events: Iterable[AlertEvent]) -> list[EventLine]:
    """A line for each, in the order given."""
    return [
        EventLine(one.at, one.actor.get_username() if one.actor else SYSTEM, _did(one))
        for one in events
    ]


def _did(event: AlertEvent) -> str:
    did = DID[_Kind(event.kind)] + (BY_THE_METHOD if event.is_quiet else "")
    return f"{did}: {event.reason}" if event.reason else did
