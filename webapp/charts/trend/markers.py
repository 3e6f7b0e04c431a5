"""Events of labs and releases on a trend chart: a line, and a label at its top. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal, NamedTuple

MOST_ROWS = 3
LONGEST = 30
CHARACTER_SHARE, NARROW_CHARACTER_SHARE, GAP_SHARE = 0.0075, 0.024, 0.01
"""The share of the axis that a character of a label takes on a wide and on a narrow chart (which
has the short one), and the room beside a label."""
Kind = Literal["event", "epoch", "release", "finding"]


@dataclass(frozen=True, slots=True)
class Marker:
    """Something that people should know beside the points.

    ``at`` counts the revisions shown; 3.5 lies between the fourth and the fifth. ``kind`` is how it
    is drawn: an event that begins an epoch has a heavier line. ``short`` is the label where there
    is little room, ``text`` elsewhere. ``what``, ``when`` and ``subject`` are columns of a table:
    its kind, its time or revisions, the machines (or the tree) that it concerns.
    """

    kind: Kind
    at: float
    text: str
    short: str
    what: str
    when: str
    subject: str
    href: str

    @property
    def label(self) -> str:
        """Its text, cut to what a chart has room for."""
        return self.text if len(self.text) <= LONGEST else f"{self.text[: LONGEST - 1].rstrip()}…"

    @property
    def title(self) -> str:
        """Everything about it in a line."""
        return f"{self.what}, {self.when}, {self.subject}: {self.text}"


class MarkerLabel(NamedTuple):
    """A marker with the row its label stands in, counted from the top of the chart."""

    marker: Marker
    row: int


def marker_labels(markers: Sequence[Marker], length: int) -> list[MarkerLabel]:
    """Those with room for a label on an axis of ``length`` revisions, along the tree."""
    taken: list[MarkerLabel] = []
    span = max(length - 1, 1)
    for marker in sorted(markers, key=lambda one: (one.at, one.short)):
        near = {one.row for one in taken if marker.at - one.marker.at < span * _share(one.marker)}
        free = [row for row in range(MOST_ROWS) if row not in near]
        if free:
            taken.append(MarkerLabel(marker, free[0]))
    return taken


def _share(marker: Marker) -> float:
    """The share of the axis that its label takes, on whichever chart that is more."""
    wide = CHARACTER_SHARE * len(marker.label)
    return max(wide, NARROW_CHARACTER_SHARE * len(marker.short)) + GAP_SHARE


def moment_at(times: Sequence[int | None], at: float) -> float | None:
    """The time at ``at``, in ms since 1970: between two revisions the middle of theirs; None where
    a time that is needed is not known.
    """
    low = times[min(max(floor(at), 0), len(times) - 1)]
    high = times[min(max(ceil(at), 0), len(times) - 1)]
    return None if low is None or high is None else (low + high) / 2
