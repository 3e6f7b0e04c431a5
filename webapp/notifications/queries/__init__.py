from webapp.notifications.queries.matching import (
    NEWS,
    BadToken,
    Target,
    events_of_hardware,
    events_of_subscription,
    events_of_tree,
    matches,
)

__all__ = [
    "NEWS",
    "BadToken",
    "Target",
    "events_of_hardware",
    "events_of_subscription",
    "events_of_tree",
    "matches",
]
