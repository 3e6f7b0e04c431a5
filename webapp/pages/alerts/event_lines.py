"""What happened to an alert, each line a sentence that begins with who did it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from webapp.alerts.models import AlertEvent

SYSTEM = "Driftline"
_Kind = AlertEvent.Kind
DID = {
    _Kind.OPENED: "opened the alert",
    _Kind.JOINED: "added findings",
    _Kind.LEFT: "took findings out",
    _Kind.MOVED: "moved the alert",
    _Kind.REFINED: "narrowed or widened the suspects",
    _Kind.NAMED: "ended a bisect",
    _Kind.TURNED: "changed the verdict",
    _Kind.CONFIRMED: "found the change confirmed by more builds",
    _Kind.ONE_BUILD: "found that the change rests on one build a side",
    _Kind.RECOVERED: "found everything recovered",
    _Kind.RETURNED: "found the change back after a recovery",
    _Kind.RETRACTED: "retracted the alert",
    _Kind.REACTIVATED: "found the findings back",
    _Kind.SNOOZED: "snoozed the alert",
    _Kind.WOKE: "woke the alert",
    _Kind.HISTORY: "found history alone behind the alert",
    _Kind.CLOSED: "closed the alert after quiet days",
    _Kind.ACKNOWLEDGED: "acknowledged the alert",
    _Kind.INVESTIGATING: "is investigating the alert",
    _Kind.RESOLVED: "resolved the alert",
    _Kind.REOPENED: "reopened the alert",
    _Kind.MERGED: "merged the alert",
    _Kind.SPLIT: "split findings off",
    _Kind.SENT: "moved findings",
    _Kind.UNDONE: "undid the last step",
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
