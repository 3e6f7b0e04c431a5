"""Events of labs and releases on a trend chart: a line, and a label at its top. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

LONGEST = 30
"""Characters of a label on a chart."""

MarkerKind = Literal["event", "epoch", "note", "release", "finding"]


@dataclass(frozen=True, slots=True)
class Marker:
    """Something that people should know beside the points.

    ``at`` counts the revisions shown; 3.5 lies between the fourth and the fifth. ``kind`` is how it
    is drawn: an event that begins an epoch has a heavier line. ``short`` is the label where there
    is little room, ``text`` elsewhere. ``what``, ``when`` and ``subject`` are columns of a table:
    its kind, its time or revisions, the machines (or the tree) that it concerns.
    """

    kind: MarkerKind
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


def moment_at(times: Sequence[int | None], at: float) -> float | None:
    """The time at ``at``, in ms since 1970: between two revisions the middle of theirs; None where
    a time that is needed is not known.
    """
    low = times[min(max(floor(at), 0), len(times) - 1)]
    high = times[min(max(ceil(at), 0), len(times) - 1)]
    return None if low is None or high is None else (low + high) / 2
