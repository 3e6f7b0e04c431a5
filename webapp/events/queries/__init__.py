"""What is known around measurements."""

from webapp.events.queries.canaries import Boot, WatchedCanary, watch
from webapp.events.queries.nearby import Disturbance, Window, disturbances
from webapp.events.queries.positions import LocatedEvent, events_along

__all__ = [
    "Boot",
    "Disturbance",
    "LocatedEvent",
    "WatchedCanary",
    "Window",
    "disturbances",
    "events_along",
    "watch",
]
