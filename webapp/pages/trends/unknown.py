"""Names in the address of a trend chart that nothing is called, and the nearest that there are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from django.http import Http404

from webapp.pages.trends.query import TrendQuery

Part = Literal["tree", "metric", "hardware", "mode"]
MOST_SUGGESTED = 3
LONGEST = 100
"""Characters of a name that are compared: the time grows with their square."""

CUTOFF = 0.4
"""Of difflib: below it two names have little in common."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """``name`` is no ``part`` that is measured here; ``links`` lead to the nearest that are, or
    where none is near (``is_near``) to the first.
    """

    part: Part
    name: str
    links: Sequence[tuple[str, str]]
    is_near: bool


class NotOffered(Http404):
    """The tree or the metric of a query does not exist."""

    def __init__(self, query: TrendQuery, unknown: Unknown) -> None:
        super().__init__(f"There is no {unknown.part} {unknown.name}.")
        self.query = query
        self.unknown = unknown


def unknown(query: TrendQuery, part: Part, name: str, offered: Sequence[str]) -> Unknown:
    """``name`` of ``query`` with the nearest of those ``offered``, each as another query."""
    found = nearest(name, offered)
    links = [(one, _with(query, part, name, one).link()) for one in found or offered]
    return Unknown(part, name, links[:MOST_SUGGESTED], bool(found))


def nearest(name: str, offered: Sequence[str]) -> list[str]:
    """The names that look most like ``name``, whatever the case."""
    by_lower = {one.lower()[:LONGEST]: one for one in reversed(offered)}
    close = get_close_matches(name.lower()[:LONGEST], by_lower, n=MOST_SUGGESTED, cutoff=CUTOFF)
    return [by_lower[one] for one in close]


def _with(query: TrendQuery, part: Part, name: str, other: str) -> TrendQuery:
    """``query`` with ``other`` in place of ``name``."""
    if part == "tree":
        return replace(query, tree=other)
    if part == "metric":
        return replace(query, metric=other)
    given = query.hardware if part == "hardware" else query.modes
    names = tuple(dict.fromkeys(other if one == name else one for one in given))
    return replace(query, hardware=names) if part == "hardware" else replace(query, modes=names)
