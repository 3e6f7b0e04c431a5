"""Profiles: what functions cost per packet, and which a change made dearer."""

from webapp.stats.profiles.costs import Boot, Side
from webapp.stats.profiles.difference import difference
from webapp.stats.profiles.headline import Headline, Part, headline
from webapp.stats.profiles.judging import Change, Difference, Row
