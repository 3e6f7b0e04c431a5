"""Alerts on a trend chart: a line at the commit, and a label at its foot. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_ROWS = 3
LABEL_SHARE = 0.075
"""The share of the axis that a label takes, with some room beside it."""


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


class Label(NamedTuple):
    """A mark with the row its label stands in, counted from the foot of the chart."""

    mark: AlertMark
    row: int


def distinct(marks: Iterable[AlertMark]) -> list[AlertMark]:
    """Each alert once, along the tree: several series tell of the same."""
    found = {mark.number: mark for mark in marks}
    return sorted(found.values(), key=lambda mark: (mark.index, mark.number))


def labels(marks: Sequence[AlertMark], length: int) -> list[Label]:
    """Those with room for a label on an axis of ``length`` revisions; open ones choose first."""
    gap = max(length - 1, 1) * LABEL_SHARE
    taken: list[Label] = []
    for mark in sorted(marks, key=lambda mark: (not mark.is_open, mark.index, mark.number)):
        near = {one.row for one in taken if abs(one.mark.index - mark.index) < gap}
        free = [row for row in range(MOST_ROWS) if row not in near]
        if free:
            taken.append(Label(mark, free[0]))
    return sorted(taken, key=lambda one: (one.mark.index, one.row))
