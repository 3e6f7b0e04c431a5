"""The trend chart: several series along one tree, as a Plotly figure. Pure.

The figure travels with the columns its hover card reads (`payload`), each value once: revisions
are rows of one table and a point names its revision by index, so 20 series of 200 revisions stay
small on the wire.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import isfinite
from typing import Any

from webapp.charts import theme
from webapp.charts.scale import spread_labels, y_range
from webapp.charts.text import better_words
from webapp.charts.theme import MARGINS, SeriesStyle

Json = dict[str, Any]

SIGNIFICANT_DIGITS = 6
LABELLED_REVISIONS = 8
INDEX_BASE = 100.0
MARKER_SIZE = 4.5
FLAG_SIZE = 11
LINE_WIDTH = 1.3
MOST_LABELS = 8
LABEL_GAP = 0.06
"""Labels whose lines start closer than this share of the y axis would cover each other."""


class Axis(StrEnum):
    COMMIT = "commit"
    TIME = "time"


class Values(StrEnum):
    RAW = "raw"
    INDEXED = "indexed"


class Whiskers(StrEnum):
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


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One series of the chart; columns of one length, ordered along the tree.

    ``places`` index `Revisions`. ``centres`` are what is drawn, ``lows`` and ``highs`` the ends of
    the whisker (None where unknown), in the metric's unit. ``percents`` and ``errors`` are the
    change to the point before it in percent and half its 95 % interval, ``verdicts`` and ``flags``
    the words that go with it ("" where nothing was compared or flagged).
    """

    id: int
    hardware: str
    mode: str
    style: SeriesStyle
    places: Sequence[int]
    counts: Sequence[int]
    centres: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    percents: Sequence[float | None]
    errors: Sequence[float | None]
    verdicts: Sequence[str]
    flags: Sequence[str]
    simulated: bool = False

    @property
    def label(self) -> str:
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

    @cached_property
    def drawn(self) -> list[TrendSeries]:
        """The series in the values to draw; those that cannot be indexed are left out."""
        if self.values == Values.RAW:
            return list(self.series)
        return [series for each in self.series if (series := each.indexed()) is not None]

    @property
    def y_title(self) -> str:
        if self.values == Values.INDEXED:
            return f"{self.metric}, first revision shown = 100 ({better_words(self.better)})"
        return f"{self.metric}, {self.unit} ({better_words(self.better)})"

    @cached_property
    def y_range(self) -> tuple[float, float]:
        drawn = self.drawn
        whiskered = drawn if self.whiskers != Whiskers.NONE else []
        return y_range(
            [value for series in drawn for value in series.centres],
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
        return ". ".join([_CAPTIONS[self.whiskers], "Triangles: flagged commits"]) + "."


_CAPTIONS = {
    Whiskers.CONFIDENCE: "Mean of the samples at a revision; whiskers: its 95 % interval "
    "(Student's t)",
    Whiskers.RANGE: "Median of the samples at a revision; whiskers: smallest to largest",
    Whiskers.NONE: "Mean of the samples at a revision",
}


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def payload(trend: Trend) -> Json:
    """What the page's script needs: the figure, and the columns behind its hover card.

    The values as measured are columns of their own only where the figure draws others.
    """
    columns = _columns if trend.values == Values.RAW else _columns_with_values
    return {
        "figure": figure(trend),
        "tree": trend.tree,
        "metric": trend.metric,
        "unit": trend.unit,
        "better": trend.better,
        "values": trend.values,
        "revisions": {"name": trend.revisions.names, "subject": trend.revisions.subjects},
        "series": [columns(series) for series in trend.series],
    }


def _columns(series: TrendSeries) -> Json:
    return {
        "id": series.id,
        "hardware": series.hardware,
        "mode": series.mode,
        "simulated": series.simulated,
        "revision": series.places,
        "n": series.counts,
        "percent": [_cents(value) for value in series.percents],
        "error": [_cents(value) for value in series.errors],
        "verdict": _letters(series.verdicts),
        "flag": _letters(series.flags),
    }


def _columns_with_values(series: TrendSeries) -> Json:
    return _columns(series) | {
        "value": [rounded(value) for value in series.centres],
        "low": [rounded(value) for value in series.lows],
        "high": [rounded(value) for value in series.highs],
    }


def _letters(values: Sequence[str]) -> str:
    """One letter a point: the first of each word, ``-`` for none."""
    return "".join(word[:1] or "-" for word in values)


def figure(trend: Trend) -> Json:
    """The Plotly figure: one line for each series, then one trace of markers for each flag."""
    drawn = trend.drawn
    lines = [_line(trend, series) for series in drawn]
    flags = [_flags(trend, drawn, flag) for flag in ("regressed", "improved")]
    return {"data": lines + flags, "layout": layout(trend)}


def x_values(trend: Trend, places: Iterable[int]) -> list[int | None]:
    """Where revisions stand on the x axis: their order, or their time in ms since 1970."""
    if trend.axis == Axis.COMMIT:
        return list(places)
    return [trend.revisions.times[place] for place in places]


def _line(trend: Trend, series: TrendSeries) -> Json:
    style = series.style
    trace: Json = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": series.label,
        "meta": series.id,
        "x": x_values(trend, series.places),
        "y": [rounded(value) for value in series.centres],
        "line": {"color": style.colour, "width": LINE_WIDTH, "dash": style.dash},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": MARKER_SIZE},
        "hoverinfo": "none",
    }
    if trend.whiskers != Whiskers.NONE:
        trace["error_y"] = _whiskers(series)
    return trace


def _whiskers(series: TrendSeries) -> Json:
    above = [_gap(high, centre) for high, centre in zip(series.highs, series.centres, strict=True)]
    below = [_gap(centre, low) for low, centre in zip(series.lows, series.centres, strict=True)]
    bars: Json = {
        "type": "data",
        "array": above,
        "color": series.style.colour,
        "thickness": 0.8,
        "width": 0,
    }
    return bars if above == below else bars | {"symmetric": False, "arrayminus": below}


def _gap(upper: float | None, lower: float | None) -> float | None:
    return None if upper is None or lower is None else rounded(upper - lower)


_FLAG_MARKS = {
    "regressed": ("triangle-down", theme.WORSE),
    "improved": ("triangle-up", theme.BETTER),
}


def _flags(trend: Trend, drawn: Sequence[TrendSeries], flag: str) -> Json:
    symbol, colour = _FLAG_MARKS[flag]
    marked = [
        (place, centre)
        for series in drawn
        for place, centre, its in zip(series.places, series.centres, series.flags, strict=True)
        if its == flag
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": flag,
        "x": x_values(trend, (place for place, _ in marked)),
        "y": [rounded(centre) for _, centre in marked],
        "marker": {
            "symbol": symbol,
            "size": FLAG_SIZE,
            "color": colour,
            "line": {"color": theme.PAPER, "width": 1},
        },
        "hoverinfo": "skip",
    }


def layout(trend: Trend) -> Json:
    low, high = trend.y_range
    return {
        "margin": {"l": MARGINS.left, "r": MARGINS.right, "t": MARGINS.top, "b": MARGINS.bottom},
        "paper_bgcolor": theme.PAPER,
        "plot_bgcolor": theme.PAPER,
        "font": {"color": theme.MUTED, "family": "var(--sans)", "size": 11},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "select",
        "selectdirection": "h",
        "xaxis": _axis() | _x_axis(trend),
        "yaxis": _axis()
        | {
            "range": [rounded(low), rounded(high)],
            "gridcolor": theme.LINE,
            "tickformat": ",.4~g" if trend.values == Values.INDEXED else ",.5~r",
        },
        "annotations": [_title(trend), *_labels(trend)],
    }


def _title(trend: Trend) -> Json:
    """The title of the y axis, written across above it: upright text reads badly."""
    return _note(trend.y_title) | {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xshift": 4 - MARGINS.left,
        "yshift": 4,
        "yanchor": "bottom",
        "font": {"color": theme.MUTED},
    }


def _labels(trend: Trend) -> list[Json]:
    return [
        _note(text)
        | {
            "x": x_values(trend, series.places[:1])[0],
            "y": rounded(series.centres[0]),
            "yshift": 6,
            "yanchor": "bottom",
            "font": {"color": series.style.colour},
        }
        for series, text in trend.labels
    ]


def _note(text: str) -> Json:
    return {"text": text, "showarrow": False, "xanchor": "left", "align": "left"}


def _axis() -> Json:
    return {
        "zeroline": False,
        "fixedrange": True,
        "linecolor": theme.LINE,
        "tickcolor": theme.LINE,
        "ticks": "outside",
        "ticklen": 4,
    }


def _x_axis(trend: Trend) -> Json:
    if trend.axis == Axis.TIME:
        return {"type": "date", "showgrid": False}
    names = trend.revisions.names
    places = spread_labels(len(names), LABELLED_REVISIONS)
    return {
        "type": "linear",
        "showgrid": False,
        "range": [-0.5, max(len(names), 1) - 0.5],
        "tickmode": "array",
        "tickvals": places,
        "ticktext": [names[place] for place in places],
    }


def rounded(value: float | None) -> float | None:
    """``value`` to `SIGNIFICANT_DIGITS`; a whole number loses its fraction; not finite is None."""
    if value is None or not isfinite(value):
        return None
    short = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(short) if abs(short) < 1e15 and short.is_integer() else short


def _cents(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 2)
