"""What a trend chart is given: the revisions along a tree, series of points, what is concluded
about a series (levels, and findings), and events of labs and releases: a line, and a label at its
top. Pure.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, isfinite
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from webapp.charts.svg import SeriesStyle
from webapp.charts.text import all_rounded, change_within, cost_figure, percent

SPACE = "\N{NARROW NO-BREAK SPACE}"
PROVEN = ("confirmed", "recovered")

INDEX_BASE = 100.0


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
        """Whether a figure has its size."""
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


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of the chart in the order of the tree; columns of one length.

    ``times`` are milliseconds since 1970 (UTC), None where the commit's time is unknown;
    ``authors`` are names. Of a long
    history only some are here: ``slots``: where each stands among all ``total``.
    """

    names: Sequence[str] = ()
    subjects: Sequence[str] = ()
    times: Sequence[int | None] = ()
    slots: Sequence[int] = ()
    total: int = 0
    authors: Sequence[str] = ()

    @property
    def is_thinned(self) -> bool:
        """Whether the axis has more revisions than are here."""
        return len(self.slots) > 0

    @property
    def length(self) -> int:
        """How many revisions the axis has."""
        return self.total or len(self.names)

    def slot_at(self, at: float) -> float:
        """Where the index ``at`` stands along the axis; 3.5 is between the fourth and fifth."""
        if not self.is_thinned:
            return at
        last = len(self.slots) - 1
        low, high = (self.slots[min(max(end, 0), last)] for end in (floor(at), ceil(at)))
        return (low + high) / 2


class Apart(NamedTuple):
    """A point whose runs disagree: which of its series it is, and the mean of each run."""

    at: int
    means: Sequence[float]


@dataclass(frozen=True)
class TrendSeries:
    """One series of the chart; columns of one length, ordered along the tree.

    ``indices`` index `Revisions`. ``centres`` are what is drawn, ``lows`` and ``highs`` the ends of
    the whisker (None where unknown), in the metric's unit. ``levels`` and ``found`` are what the
    change detector concludes, ``found`` in order along the tree; ``marks`` are its findings of
    other kinds. Points whose runs disagree are ``apart``. ``left_out`` has by the index of a point
    how many samples of its runs do not count, and why, and ``foreign`` what becomes of its session,
    where that is one from elsewhere; points ``beside`` do not count for that. ``single`` is what a
    figures of one revision; ``detects`` and ``noise`` are texts. Of what an option costs,
    ``option`` is that, values are ratios in percent, ``better`` is which way, and ``mode`` is
    what a sentence calls it.
    ``machine`` is what people call its hardware;
    ``count`` is how many points it has, drawn or not; ``stands`` what it has lost today, as data
    (`webapp.stats.changes.NetLoss`), None: nothing.
    """

    id: int
    hardware: str
    machine: str
    mode: str
    style: SeriesStyle
    indices: Sequence[int]
    counts: Sequence[int]
    centres: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    simulated: bool = False
    levels: Sequence[Level] = ()
    found: Sequence[Found] = ()
    marks: Sequence[Found] = ()
    apart: Sequence[Apart] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)
    foreign: Mapping[int, str] = field(default_factory=dict)
    beside: Collection[int] = ()
    single: str = ""
    detects: str = ""
    noise: str = ""
    option: str = ""
    better: str = ""
    count: int = 0
    stands: Mapping[str, Any] | None = None

    @cached_property
    def heights(self) -> list[float | None]:
        """The centres as a figure has them."""
        return all_rounded(self.centres)

    @cached_property
    def reaches(self) -> tuple[list[float | None], list[float | None]]:
        """How far each whisker goes up and down from its point; none where its ends are unknown."""
        columns = (self.lows, self.centres, self.highs)
        low, centre, high = (np.array(one, np.float64) for one in columns)
        with np.errstate(all="ignore"):
            ends = all_rounded(np.concatenate([high - centre, centre - low]).tolist())
        return ends[: len(centre)], ends[len(centre) :]

    @property
    def is_cost(self) -> bool:
        """Whether it is what an option costs: the ratio of two series, in percent."""
        return bool(self.option)

    @property
    def title(self) -> str:
        """Of a cost: ``VIMAGE costs 3.7 %``, by its newest level, else its newest ratio."""
        ratio = self.newest if self.level is None else self.level
        return f"{self.option} costs {cost_figure(ratio, self.better)}"

    @property
    def level(self) -> float | None:
        """The newest level, None where the detector knows none."""
        return self.levels[-1].end if self.levels else None

    @property
    def newest(self) -> float | None:
        """The newest centre."""
        return self.centres[-1] if self.centres else None

    @property
    def last_change(self) -> Found | None:
        """The newest proven change."""
        return next((one for one in reversed(self.found) if one.is_confirmed), None)

    @property
    def label(self) -> str:
        """Mode and machine: what distinguishes the series of a chart."""
        return f"{self.mode} · {self.machine}"

    @property
    def factor(self) -> float | None:
        """What makes its first centre 100; None when that is not above zero. A ratio stays one."""
        if self.is_cost:
            return 1.0
        base = self.centres[0] if self.centres else 0.0
        return INDEX_BASE / base if isfinite(base) and base > 0 else None

    def indexed(self) -> "TrendSeries | None":
        """The same series with its first centre as 100; None when that is not above zero."""
        factor = self.factor
        if factor is None:
            return None
        return replace(
            self,
            centres=[value * factor for value in self.centres],
            lows=[_scaled(value, factor) for value in self.lows],
            highs=[_scaled(value, factor) for value in self.highs],
            levels=[level.scaled(factor) for level in self.levels],
            found=[one.scaled(factor) for one in self.found],
            marks=[one.scaled(factor) for one in self.marks],
            apart=[one._replace(means=[mean * factor for mean in one.means]) for one in self.apart],
        )


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


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


LONGEST_LABEL = 30
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
        return (
            self.text
            if len(self.text) <= LONGEST_LABEL
            else f"{self.text[: LONGEST_LABEL - 1].rstrip()}…"
        )

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
    """Each alert once, along the tree: several series have the same."""
    found = {mark.number: mark for mark in marks}
    return sorted(found.values(), key=lambda mark: (mark.index, mark.number))
