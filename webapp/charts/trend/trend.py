"""The trend chart: what it shows of several series along one tree. Pure.

`webapp.charts.trend.figure` makes a figure of Plotly of it, which `webapp.charts.trend.svg` and
the page's script draw.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain
from statistics import median

from webapp.charts.scale import y_range
from webapp.charts.text import better_text
from webapp.charts.trend.series import AlertMark, Marker, Revisions, TrendSeries, moment_at


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


class Split(StrEnum):
    """What has a lane of its own; by scale: series whose medians lie far apart."""

    SCALE = "scale"
    ONE = "one"
    MODE = "mode"
    HARDWARE = "hardware"


@dataclass(frozen=True)
class Lane:
    """Series on one vertical axis, with the title of that."""

    title: str
    series: Sequence[TrendSeries]


@dataclass(frozen=True)
class Trend:
    """Everything the chart shows and how. ``window`` names the first and the last revision in view,
    where that is not all, and ``notes`` are sentences on what was asked for and cannot be shown;
    ``hidden`` are ids of series that are listed and not drawn; ``heights`` the ends of vertical
    axes that were asked for, by the number of the lane from 1.
    """

    tree: str
    metric: str
    unit: str
    better: str
    revisions: Revisions
    series: Sequence[TrendSeries]
    axis: Axis = Axis.COMMIT
    values: Values = Values.RAW
    whiskers: Whiskers = Whiskers.CONFIDENCE
    split: Split = Split.SCALE
    alerts: Sequence[AlertMark] = ()
    markers: Sequence[Marker] = ()
    costs: Sequence[TrendSeries] = ()
    window: tuple[str, str] | None = None
    notes: Sequence[str] = ()
    hidden: frozenset[int] = frozenset()
    heights: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def beside(self) -> list[Marker]:
        """The markers with a line of their own; a finding is marked at its series."""
        return [one for one in self.markers if one.kind != "finding"]

    @cached_property
    def drawn(self) -> list[TrendSeries]:
        """The series in the values to draw; those that cannot be indexed are left out."""
        shown = [each for each in self.series if each.id not in self.hidden]
        if self.values == Values.RAW:
            return shown
        return [series for each in shown if (series := each.indexed()) is not None]

    @cached_property
    def changing(self) -> Mapping[int, Sequence[int]]:
        """By the index of a revision the series (ids) drawn that have a change of level there."""
        found: dict[int, list[int]] = {}
        for one in self.drawn:
            for index in {each.index for each in one.found}:
                found.setdefault(index, []).append(one.id)
        return found

    @property
    def y_title(self) -> str:
        """The metric, its unit and which way is better."""
        if self.values == Values.INDEXED:
            return f"{self.metric}, first revision shown = 100 ({better_text(self.better)})"
        return f"{self.metric}, {self.unit} ({better_text(self.better)})"

    @cached_property
    def lanes(self) -> list[Lane]:
        """The series as they share an axis, and below them one lane for each cost."""
        costs = [Lane(self.cost_title(one), [one]) for one in self.costs]
        if self.split == Split.SCALE:
            return [*self._by_scale(), *costs]
        groups: dict[tuple[str, str], list[TrendSeries]] = {}
        for one in self.drawn:
            groups.setdefault(self._lane(one), []).append(one)
        return [*(Lane(title, its) for (_, title), its in groups.items()), *costs]

    def _lane(self, one: TrendSeries) -> tuple[str, str]:
        """What a series shares its lane by, and the title of the lane."""
        if self.split == Split.MODE:
            return one.mode, one.mode
        return (one.hardware, one.machine) if self.split == Split.HARDWARE else ("", self.y_title)

    def _by_scale(self) -> list[Lane]:
        """Lanes whose medians differ by less than `APART`, the largest values on top."""
        medians = {one.id: abs(median(one.centres)) for one in self.drawn if one.centres}
        groups: list[list[TrendSeries]] = []
        for one in sorted(self.drawn, key=lambda each: -medians.get(each.id, 0.0)):
            largest = medians.get(groups[-1][0].id, 0.0) if groups else 0.0
            if groups and largest < APART * medians.get(one.id, 0.0):
                groups[-1].append(one)
            else:
                groups.append([one])
        lanes = [sorted(group, key=self.drawn.index) for group in groups]
        titles = [
            f"{len(lane)} series" if len(lane) > NAMED else ", ".join(map(self.short_name, lane))
            for lane in lanes
        ]
        first = self.y_title if len(lanes) == 1 else f"{self.y_title}: {titles[0]}" if lanes else ""
        return [Lane(*both) for both in zip([first, *titles[1:]], lanes, strict=False)]

    def cost_title(self, one: TrendSeries) -> str:
        """``VIMAGE costs 3.7 % since r317849: cost of VIMAGE in pf, % of without (Atom/i350)``."""
        change = one.last_change
        since = f" since {self.revisions.names[change.index]}" if change else ""
        return f"{one.title}{since}: {one.mode}, with in % of without ({one.machine})"

    @property
    def extent(self) -> tuple[float, float]:
        """The ends of the horizontal axis: half a revision beyond the first and last in view."""
        return self._extent_of(self._in_window)

    @property
    def whole_extent(self) -> tuple[float, float]:
        """The same of all revisions."""
        return self._extent_of(range(len(self.revisions.names)))

    def _extent_of(self, shown: range) -> tuple[float, float]:
        if self.axis == Axis.TIME:
            times = [
                float(time)
                for time in (self.revisions.times[at] for at in shown)
                if time is not None
            ]
            return (min(times), max(times) + 1) if times else (0.0, 1.0)
        if len(shown) == len(self.revisions.names):
            return -0.5, max(self.revisions.length, 1) - 0.5
        return self.revisions.slot_at(shown[0]) - 0.5, self.revisions.slot_at(shown[-1]) + 0.5

    @property
    def _in_window(self) -> range:
        names = list(self.revisions.names)
        if self.window is None:
            return range(len(names))
        first, last = sorted(names.index(end) for end in self.window)
        return range(first, last + 1)

    def y_range(self, series: Sequence[TrendSeries]) -> tuple[float, float]:
        """The ends of the y axis of ``series`` (as drawn) in view; whiskers fit where shown."""
        shown = self._in_window
        parts = [
            (one, slice(*(bisect_left(one.indices, end) for end in (shown.start, shown.stop))))
            for one in series
        ]
        apart = [mean for one in series for point in one.apart for mean in point.means]
        levels = [
            level.height_at(min(max(end, level.first), level.last))
            for one in series
            for level in one.levels
            if level.last >= shown.start and level.first < shown.stop
            for end in (shown.start, shown.stop - 1)
        ]
        whiskered = parts if self.whiskers != Whiskers.NONE else []
        return y_range(
            [*chain(*(one.centres[part] for one, part in parts)), *levels, *apart],
            [*chain(*(one.lows[part] for one, part in whiskered))],
            [*chain(*(one.highs[part] for one, part in whiskered))],
        )

    def short_name(self, series: TrendSeries, among: Sequence[TrendSeries] = ()) -> str:
        """What distinguishes a series from those beside it: all, or those of a lane."""
        others = among or self.series
        if among and self.split == Split.MODE:
            return series.machine
        if len({each.hardware for each in others}) == 1:
            return series.mode
        return series.machine if len({each.mode for each in others}) == 1 else series.label

    @property
    def centre(self) -> str:
        """What stands for a revision: the mean of its samples, or their median."""
        return "median" if self.whiskers == Whiskers.RANGE else "mean"

    @property
    def caption(self) -> str:
        """What is drawn, in one line."""
        alerts = f" {_ALERTED}" if self.alerts else ""
        markers = f" {_AROUND}" if self.markers else ""
        apart = f" {_APART}" if any(series.apart for series in self.series) else ""
        beside = f" {_BESIDE}" if any(series.foreign for series in self.series) else ""
        return f"{_CAPTIONS[self.whiskers]}. {_MARKED}{alerts}{markers}{apart}{beside}"

    def marker_x(self, marker: Marker) -> float | None:
        """Where a marker stands on the x axis; None where the time there is not known."""
        if self.axis == Axis.COMMIT:
            return self.revisions.slot_at(marker.at)
        return moment_at(self.revisions.times, marker.at)


_CAPTIONS = {
    Whiskers.CONFIDENCE: "Dot: mean of a revision; whisker: its 95 % interval (Student's t)",
    Whiskers.RANGE: "Dot: median of a revision; whisker: smallest to largest sample",
    Whiskers.NONE: "Dot: mean of a revision",
}

_MARKED = (
    "Heavy lines: levels with their 95 % band. Where a level moves stands a riser with a triangle "
    "(dashed: not confirmed) and dashes carry the old level on. Dark bar on the axis: where the "
    "change began (95 %)."
)

_ALERTED = "Squares with a number, at the foot: alerts at their likeliest commit."

_AROUND = (
    "At the top: diamonds are events of the lab (filled: what was measured before is not compared "
    "with what comes after), plain lines releases and branch points."
)

_BESIDE = (
    "Hollow: measured in a session from elsewhere, no part of levels and findings until another "
    "session agrees; new session: compared with itself alone until then."
)

_APART = (
    "Hollow, with lab?: runs of one revision disagree; each dash is the mean of one, and the point "
    "takes no part in levels and findings."
)


NAMED = 3
"""Series that the title of a lane names."""

APART = 3.0
"""Series whose medians differ by this factor have lanes of their own."""


def x_values(trend: Trend, indices: Iterable[int]) -> list[float | None]:
    """Where revisions stand on the x axis: their order, or their time in ms since 1970."""
    if trend.axis == Axis.COMMIT:
        slots = trend.revisions.slots
        return [slots[index] for index in indices] if slots else list(indices)
    return [trend.revisions.times[index] for index in indices]


def x_value(trend: Trend, index: int) -> float | None:
    """Where one revision stands on the x axis."""
    return x_values(trend, [index])[0]
