"""What is concluded about a series, as a trend chart draws it: levels, and findings. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

Json = dict[str, Any]
PROVEN = ("confirmed", "recovered")


@dataclass(frozen=True, slots=True)
class Level:
    """A line from index ``first`` (at the height ``start``) to index ``last`` (at ``end``)."""

    first: int
    last: int
    start: float
    end: float

    @classmethod
    def within(
        cls, positions: Sequence[int], ends: tuple[int, int], heights: tuple[float, float]
    ) -> Self | None:
        """The part of a level that shows; None when none of it does.

        ``positions`` are those of the revisions shown, in order; ``ends`` the positions of the
        level's first and last revision, ``heights`` the level at either.
        """
        first, last = bisect_left(positions, ends[0]), bisect_right(positions, ends[1]) - 1
        if first > last:
            return None
        slope = (heights[1] - heights[0]) / max(ends[1] - ends[0], 1)
        start, end = (heights[0] + slope * (positions[index] - ends[0]) for index in (first, last))
        return cls(first, last, start, end)

    def scaled(self, factor: float) -> Self:
        """The same line with its heights times ``factor``."""
        return replace(self, start=self.start * factor, end=self.end * factor)


@dataclass(frozen=True, slots=True)
class Found:
    """A change of level. ``at`` counts the points of its series; the suspects are the commits
    between the indices ``after`` and ``last``. ``percent`` with its 95 % interval is None where it
    has no figure. ``alert`` is the number and the state of the alert that holds it.
    """

    at: int
    after: int
    last: int
    state: str
    verdict: str
    percent: float | None
    low: float | None
    high: float | None
    probability: float
    suspects: tuple[str, str]
    why: str
    alert: tuple[int, str] | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the change is proven, rather than a candidate."""
        return self.state in PROVEN

    def columns(self) -> Json:
        """What the hover card reads."""
        return {
            "at": self.at,
            "state": self.state,
            "verdict": self.verdict,
            "percent": _tenths(self.percent),
            "low": _tenths(self.low),
            "high": _tenths(self.high),
            "probability": round(self.probability, 3),
            "suspects": self.suspects,
            "why": self.why,
            "alert": self.alert,
        }


def _tenths(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
