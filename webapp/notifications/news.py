"""Which events of an alert are news: what mails, digests, feeds and webhooks tell."""

from collections.abc import Iterable

from webapp.alerts.models import Alert, AlertEvent

Kind = AlertEvent.Kind

OPENED = "alert.opened"
CONFIRMED = "alert.confirmed"
MOVED = "alert.moved"
RECOVERED = "alert.recovered"
RETURNED = "alert.returned"
RETRACTED = "alert.retracted"

NEWS: dict[str, str] = {
    Kind.OPENED: OPENED,
    Kind.WOKE: OPENED,
    Kind.CONFIRMED: CONFIRMED,
    Kind.MOVED: MOVED,
    Kind.RECOVERED: RECOVERED,
    Kind.RETURNED: RETURNED,
    Kind.REACTIVATED: RETURNED,
    Kind.RETRACTED: RETRACTED,
}
"""An alert wakes when it leaves history: until then nobody was told of it."""

FOLLOWING = (CONFIRMED, MOVED, RECOVERED, RETURNED, RETRACTED)
"""Told only to those who know of the alert."""


def is_untold(alert: Alert) -> bool:
    """Whether ``alert`` waits for somebody, so that everybody whom it concerns is to know of it."""
    return alert.is_active and alert.is_open and not alert.history and not alert.is_quiet


def news_of(events: Iterable[AlertEvent]) -> list[tuple[str, AlertEvent]]:
    """The events of the system that are news, each with its kind; those of history are not."""
    return [
        (NEWS[event.kind], event)
        for event in events
        if event.kind in NEWS and event.actor_id is None and not event.alert.history
    ]
