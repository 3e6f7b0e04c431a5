"""What is concluded about a series, as a trend chart draws it: levels, and findings. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from webapp.charts.text import change_within, percent

SPACE = "\N{NARROW NO-BREAK SPACE}"
PROVEN = ("confirmed", "recovered")


@dataclass(frozen=True, slots=True)
class Level:
    """A line from index ``first`` (at the height ``start``) to index ``last`` (at ``end``), with
    the ends of its 95 % interval at the start, where they are known.
    """

    first: int
    last: int
    start: float
    end: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def within(
        cls,
        positions: Sequence[int],
        ends: tuple[int, int],
        heights: tuple[float, float],
        band: tuple[float | None, float | None] = (None, None),
        since: int | None = None,
    ) -> Self | None:
        """The part of a level that shows; None when none of it does.

        ``positions`` are those of the revisions shown, in order; ``ends`` the positions of the
        level's first and last revision, ``heights`` the level at either; ``band`` is its 95 %
        interval at the first. Nothing is drawn before the position ``since``.
        """
        begin = ends[0] if since is None else max(ends[0], since)
        first, last = bisect_left(positions, begin), bisect_right(positions, ends[1]) - 1
        if first > last:
            return None
        slope = (heights[1] - heights[0]) / max(ends[1] - ends[0], 1)
        start, end = (heights[0] + slope * (positions[index] - ends[0]) for index in (first, last))
        moved = start - heights[0]
        low, high = (None if edge is None else edge + moved for edge in band)
        return cls(first, last, start, end, low, high)

    def height_at(self, index: float) -> float:
        """The height of the line at ``index``."""
        share = (index - self.first) / max(self.last - self.first, 1)
        return self.start + (self.end - self.start) * share

    def scaled(self, factor: float) -> Self:
        """The same line with its heights times ``factor``."""
        return replace(
            self,
            start=self.start * factor,
            end=self.end * factor,
            low=None if self.low is None else self.low * factor,
            high=None if self.high is None else self.high * factor,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A finding. ``at`` counts the points of its series, ``index`` the revisions shown; the
    suspects are the commits between the indices ``after`` and ``last``, a slow change goes on from
    ``after``. ``before`` and ``since`` are the levels on either side. ``percent`` with its 95 %
    interval is None where it has no figure. ``alert`` is the number and the state of the alert that
    holds it. ``kind`` chooses how it is drawn (`webapp.charts.trend.marks`); ``ratio`` is that of
    the noise after to before, ``shares`` those of the lower mode before and after, in percent.
    """

    at: int
    index: int
    after: int
    last: int
    state: str
    verdict: str
    percent: float | None
    low: float | None
    high: float | None
    probability: float
    suspects: tuple[str, str]
    before: float
    since: float
    why: str
    alert: tuple[int, str] | None = None
    kind: str = "level"
    ratio: float | None = None
    shares: tuple[float, float] | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the change is proven, rather than a candidate."""
        return self.state in PROVEN

    @property
    def has_size(self) -> bool:
        """Whether a figure tells how large it is."""
        return any(one is not None for one in (self.percent, self.ratio, self.shares))

    @property
    def size(self) -> str:
        """How large it is in its own terms: percent, a ratio of noise, shares of the lower mode."""
        if self.ratio is not None:
            return f"noise{SPACE}×{SPACE}{self.ratio:.1f}"
        if self.shares is not None:
            return f"lower mode {self.shares[0]:.0f} → {self.shares[1]:.0f}{SPACE}%"
        return f"{percent(self.percent)}{SPACE}%"

    @property
    def whole_size(self) -> str:
        """The same with the interval of a percentage; empty where there is none."""
        if self.percent is None:
            return self.size if self.has_size else ""
        return f"{change_within(self.percent, self.low, self.high)}{SPACE}%"

    @property
    def title(self) -> str:
        """Size, state and reason in a line."""
        return f"{self.size}, {self.state}: {self.why}"

    def scaled(self, factor: float) -> Self:
        """The same change with its levels times ``factor``."""
        return replace(self, before=self.before * factor, since=self.since * factor)
