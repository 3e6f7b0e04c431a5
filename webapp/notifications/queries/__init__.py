from webapp.notifications.news import NEWS
from webapp.notifications.queries.matching import (
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
