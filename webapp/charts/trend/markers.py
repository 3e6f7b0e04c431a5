"""Events of labs and releases on a trend chart: a line, and a label at its top. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal


@dataclass(frozen=True, slots=True)
class AlertMark:
    """An alert at its likeliest commit: ``index`` is that of the first revision shown that has it.

    ``state`` is the word for people; an alert that is not open is drawn fainter.
    """

    number: int
    state: str
    is_open: bool
    index: int
    href: str

    @property
    def text(self) -> str:
        """``17 acknowledged``."""
        return f"{self.number} {self.state}"


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
        """The marker's text, cut to what a chart has room for."""
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


def distinct(marks: Iterable[AlertMark]) -> list[AlertMark]:
    """Each alert once, along the tree: several series tell of the same."""
    found = {mark.number: mark for mark in marks}
    return sorted(found.values(), key=lambda mark: (mark.index, mark.number))
