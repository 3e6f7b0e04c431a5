"""The trend chart: what it shows of several series along one tree. Pure.

`webapp.charts.trend.figure` makes a Plotly figure of it, `webapp.charts.trend.svg` an image.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from math import isfinite
from typing import NamedTuple

from webapp.charts.scale import y_range
from webapp.charts.text import better_text
from webapp.charts.theme import SeriesStyle
from webapp.charts.trend.alerts import AlertMark
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.markers import Marker, moment_at

INDEX_BASE = 100.0
MOST_LABELS = 8
LABEL_GAP = 0.06
"""Labels whose lines start closer than this share of the y axis would cover each other."""


class Axis(StrEnum):
    """What is drawn from left to right: commits in their order, or the time of each."""

    COMMIT = "commit"
    TIME = "time"


class Values(StrEnum):
    """What is drawn from bottom to top: the metric, or percent of each series' first point."""

    RAW = "raw"
    INDEXED = "indexed"


class Whiskers(StrEnum):
    """What whiskers show: the 95 % interval of the mean, or the range of the samples."""

    CONFIDENCE = "ci"
    RANGE = "range"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of the chart in the order of the tree; columns of one length.

    ``times`` are milliseconds since 1970 (UTC), None where the commit's time is unknown.
    """

    names: Sequence[str] = ()
    subjects: Sequence[str] = ()
    times: Sequence[int | None] = ()


class Mark(NamedTuple):
    """A flagged point: which of its series it is, "regressed" or "improved"."""

    at: int
    flag: str
    is_confirmed: bool


class Apart(NamedTuple):
    """A point whose runs disagree: which of its series it is, and the mean of each run."""

    at: int
    means: Sequence[float]


@dataclass(frozen=True)
class TrendSeries:
    """One series of the chart; columns of one length, ordered along the tree.

    ``indices`` index `Revisions`. ``centres`` are what is drawn, ``lows`` and ``highs`` the ends of
    the whisker (None where unknown), in the metric's unit. ``percents`` and ``errors`` are the
    change to the point before it in percent and half its 95 % interval, ``verdicts`` and ``flags``
    the words that go with it ("" where nothing was compared or flagged). ``levels`` and ``found``
    are what the change detector concludes, ``found`` in order along the tree. Points whose runs
    disagree are ``apart``. ``left_out`` says by the index of a point how many samples of its runs
    do not count, and why. ``single`` is what a series of one revision tells.
    """

    id: int
    hardware: str
    mode: str
    style: SeriesStyle
    indices: Sequence[int]
    counts: Sequence[int]
    centres: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    percents: Sequence[float | None]
    errors: Sequence[float | None]
    verdicts: Sequence[str]
    flags: Sequence[str]
    simulated: bool = False
    levels: Sequence[Level] = ()
    found: Sequence[Found] = ()
    apart: Sequence[Apart] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)
    single: str = ""

    @cached_property
    def marks(self) -> list[Mark]:
        """The flagged points, and whether each is a confirmed change."""
        confirmed = {one.at for one in self.found if one.is_confirmed}
        return [
            Mark(index, flag, index in confirmed) for index, flag in enumerate(self.flags) if flag
        ]

    @property
    def label(self) -> str:
        """Mode and machine: what tells series of one chart apart."""
        return f"{self.mode} · {self.hardware}"

    def indexed(self) -> "TrendSeries | None":
        """The same series with its first centre as 100; None when that is not above zero."""
        base = self.centres[0] if self.centres else 0.0
        if not isfinite(base) or base <= 0:
            return None
        factor = INDEX_BASE / base
        return replace(
            self,
            centres=[value * factor for value in self.centres],
            lows=[_scaled(value, factor) for value in self.lows],
            highs=[_scaled(value, factor) for value in self.highs],
            levels=[level.scaled(factor) for level in self.levels],
            apart=[one._replace(means=[mean * factor for mean in one.means]) for one in self.apart],
        )


@dataclass(frozen=True)
class Trend:
    """Everything the chart shows and how. What takes a pass over all points is kept."""

    tree: str
    metric: str
    unit: str
    better: str
    revisions: Revisions
    series: Sequence[TrendSeries]
    axis: Axis = Axis.COMMIT
    values: Values = Values.RAW
    whiskers: Whiskers = Whiskers.CONFIDENCE
    alerts: Sequence[AlertMark] = ()
    markers: Sequence[Marker] = ()

    @cached_property
    def drawn(self) -> list[TrendSeries]:
        """The series in the values to draw; those that cannot be indexed are left out."""
        if self.values == Values.RAW:
            return list(self.series)
        return [series for each in self.series if (series := each.indexed()) is not None]

    @property
    def y_title(self) -> str:
        """The metric, its unit and which way is better."""
        if self.values == Values.INDEXED:
            return f"{self.metric}, first revision shown = 100 ({better_text(self.better)})"
        return f"{self.metric}, {self.unit} ({better_text(self.better)})"

    @cached_property
    def y_range(self) -> tuple[float, float]:
        """The ends of the y axis, in the values drawn; whiskers fit where they are shown."""
        drawn = self.drawn
        apart = [mean for series in drawn for one in series.apart for mean in one.means]
        whiskered = drawn if self.whiskers != Whiskers.NONE else []
        return y_range(
            [*(value for series in drawn for value in series.centres), *apart],
            [value for series in whiskered for value in series.lows],
            [value for series in whiskered for value in series.highs],
        )

    @property
    def labels(self) -> list[tuple[TrendSeries, str]]:
        """Names to write where lines start: what tells the series apart, where there is room."""
        drawn = self.drawn
        if len(drawn) > MOST_LABELS:
            return []
        low, high = self.y_range
        gap = (high - low) * LABEL_GAP
        starts = [series.centres[0] for series in drawn]
        alone = [sum(abs(start - other) < gap for other in starts) == 1 for start in starts]
        return [
            (series, self._short_name(series))
            for series, has_room in zip(drawn, alone, strict=True)
            if has_room
        ]

    def _short_name(self, series: TrendSeries) -> str:
        if len({each.hardware for each in self.series}) == 1:
            return series.mode
        return series.hardware if len({each.mode for each in self.series}) == 1 else series.label

    @property
    def caption(self) -> str:
        """What is drawn, in one line."""
        alerts = f" {_ALERTED}" if self.alerts else ""
        markers = f" {_AROUND}" if self.markers else ""
        apart = f" {_APART}" if any(series.apart for series in self.series) else ""
        return f"{_CAPTIONS[self.whiskers]}. {_MARKED}{alerts}{markers}{apart}"

    def marker_x(self, marker: Marker) -> float | None:
        """Where a marker stands on the x axis; None where the time there is not known."""
        if self.axis == Axis.COMMIT:
            return marker.at
        return moment_at(self.revisions.times, marker.at)


_CAPTIONS = {
    Whiskers.CONFIDENCE: "Mean of the samples at a revision; whiskers: its 95 % interval "
    "(Student's t)",
    Whiskers.RANGE: "Median of the samples at a revision; whiskers: smallest to largest",
    Whiskers.NONE: "Mean of the samples at a revision",
}


_MARKED = (
    "Thick lines: levels. Filled triangles: confirmed changes; hollow ones: candidates. Bar at a "
    "triangle: the revisions among which the change began (95 %)."
)

_ALERTED = "Dotted lines: alerts at their likeliest commit, with number and state at the foot."


_AROUND = (
    "Dashed lines, named at the top: events of the lab (heavy: what was measured before is not "
    "compared with what comes after); thin lines: releases and branch points."
)


_APART = (
    "Hollow, with lab?: runs of one revision disagree; each dash is the mean of one, and the point "
    "takes no part in levels and findings."
)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def x_values(trend: Trend, indices: Iterable[int]) -> list[int | None]:
    """Where revisions stand on the x axis: their order, or their time in ms since 1970."""
    if trend.axis == Axis.COMMIT:
        return list(indices)
    return [trend.revisions.times[index] for index in indices]
