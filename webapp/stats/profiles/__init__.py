"""Profiles: what functions cost per packet, and which a change made dearer."""

from webapp.stats.profiles.costs import Boot, Side
from webapp.stats.profiles.difference import difference
from webapp.stats.profiles.found import Change, Difference, Row
from webapp.stats.profiles.headline import Headline, Part, headline

__all__ = [
    "Boot",
    "Change",
    "Difference",
    "Headline",
    "Part",
    "Row",
    "Side",
    "difference",
    "headline",
]
