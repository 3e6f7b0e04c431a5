from webapp.notifications.news import NEWS
from webapp.notifications.queries.feed import (
    events_of_hardware,
    events_of_subscription,
    events_of_tree,
)
from webapp.notifications.queries.matching import matches
from webapp.notifications.queries.unsubscribing import BadToken, Target

__all__ = [
    "NEWS",
    "BadToken",
    "Target",
    "events_of_hardware",
    "events_of_subscription",
    "events_of_tree",
    "matches",
]
