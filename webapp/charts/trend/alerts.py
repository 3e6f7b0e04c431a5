"""Alerts on a trend chart: a line at the commit, and a label at its foot. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass


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


def distinct(marks: Iterable[AlertMark]) -> list[AlertMark]:
    """Each alert once, along the tree: several series tell of the same."""
    found = {mark.number: mark for mark in marks}
    return sorted(found.values(), key=lambda mark: (mark.index, mark.number))
