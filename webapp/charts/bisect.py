"""The chart of a bisect as a Plotly figure: boots above, probability beneath, on one axis. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.charts import theme
from webapp.charts.plotly_text import literal
from webapp.charts.scale import spread_labels, y_range
from webapp.charts.theme import MARGINS
from webapp.charts.trend.figure import rounded

Json = dict[str, Any]

LABELLED_REVISIONS = 8
TOPS = (10, 20, 50, 100)
DOT_SIZE = 7
UPPER, LOWER = (0.42, 1.0), (0.0, 0.3)
SYMBOLS = {
    "history": "circle-open",
    "run": "circle",
    "anchor": "diamond",
    "pasted": "square",
    "weak": "x-thin-open",
}
NAMES = {
    "history": "measured before",
    "run": "measured for it",
    "anchor": "anchor: an end booted again",
    "pasted": "entered by hand",
    "weak": "set aside as weak",
}
STEADY = "less what the machine moved"


@dataclass(frozen=True, slots=True)
class Dot:
    """One boot: its revision and the index of that (below 0 and above the last: neighbours
    beside the ends), its value, and the 95 % interval of that. ``steady``: the value less the
    machine's own shift, where it probably moved.
    """

    name: str
    index: int
    value: float
    low: float
    high: float
    source: str
    steady: float | None = None


@dataclass(frozen=True, slots=True)
class BisectChart:
    """Revisions from the good one (index 0) to the bad one.

    ``chances`` is the probability of each revision to be the first bad one, 0 for the good one;
    ``skipped`` are indices that cannot be measured, ``unlikely`` those that began with less weight,
    and why. ``before`` and ``after`` are the levels on
    either side of the step as far as they are known, in ``unit``.
    """

    names: Sequence[str]
    dots: Sequence[Dot]
    chances: Sequence[float]
    skipped: frozenset[int]
    unit: str
    better: str
    before: float | None = None
    after: float | None = None
    unlikely: Mapping[int, str] = field(default_factory=dict)


def figure(chart: BisectChart) -> Json:
    """The figure; colours are names of CSS properties, which the page fills in."""
    sources = [source for source in SYMBOLS if any(dot.source == source for dot in chart.dots)]
    return {
        "data": [
            *(_level(chart, level) for level in ("before", "after")),
            *(_dots(chart, source) for source in sources),
            *_steady(chart),
            _bars(chart),
            _skipped(chart),
            _unlikely(chart),
        ],
        "layout": _layout(chart),
    }


def _level(chart: BisectChart, which: str) -> Json:
    value = getattr(chart, which)
    first, last = _ends(chart)
    x = [] if value is None else [first - 0.5, last + 0.5]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": [rounded(value)] * len(x),
        "line": {"color": theme.MUTED, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }


def _dots(chart: BisectChart, source: str) -> Json:
    """Boots of one revision stand beside one another, in the order they were measured."""
    dots = [dot for dot in chart.dots if dot.source == source]
    colour = theme.MUTED if source == "history" else "var(--series-4)"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": NAMES[source],
        "x": [_beside(chart.dots, dot) for dot in dots],
        "y": [rounded(dot.value) for dot in dots],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [rounded(dot.high - dot.value) for dot in dots],
            "arrayminus": [rounded(dot.value - dot.low) for dot in dots],
            "color": colour,
            "thickness": 0.9,
            "width": 0,
        },
        "marker": {"color": colour, "symbol": SYMBOLS[source], "size": DOT_SIZE},
        "text": [literal(dot.name) for dot in dots],
        "hovertemplate": f"%{{text}}: %{{y:,.5~r}} {literal(chart.unit)}"
        f"<extra>{NAMES[source]}</extra>",
    }


def _steady(chart: BisectChart) -> list[Json]:
    """Where each boot would lie, had the machine not moved: the rest is the machine's walk."""
    dots = [dot for dot in chart.dots if dot.steady is not None]
    if not dots:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": STEADY,
            "x": [_beside(chart.dots, dot) for dot in dots],
            "y": [rounded(dot.steady) for dot in dots],
            "marker": {"color": theme.MUTED, "symbol": "line-ew-open", "size": DOT_SIZE},
            "text": [literal(dot.name) for dot in dots],
            "hovertemplate": f"%{{text}}: %{{y:,.5~r}} {literal(chart.unit)}"
            f"<extra>{STEADY}</extra>",
        }
    ]


def _beside(dots: Sequence[Dot], dot: Dot) -> float:
    beside = [one for one in dots if one.index == dot.index]
    order = next(index for index, one in enumerate(beside) if one is dot)
    return round(dot.index + 0.6 * ((order + 1) / (len(beside) + 1) - 0.5), 3)


def _bars(chart: BisectChart) -> Json:
    indices = [index for index, chance in enumerate(chart.chances) if index > 0 or chance > 0]
    return {
        "type": "bar",
        "name": "probability",
        "x": indices,
        "y": [rounded(100 * chart.chances[index]) for index in indices],
        "yaxis": "y2",
        "width": 0.8,
        "marker": {"color": theme.WORSE},
        "text": [literal(chart.names[index]) for index in indices],
        "textposition": "none",
        "hovertemplate": "%{text}: %{y:.1f} %<extra>first bad one</extra>",
    }


def _skipped(chart: BisectChart) -> Json:
    """The whole height hatched: these cannot be measured, and so not be excluded by themselves."""
    indices = sorted(chart.skipped)
    return {
        "type": "bar",
        "name": "skipped",
        "x": indices,
        "y": [_top(chart)] * len(indices),
        "yaxis": "y2",
        "width": 0.8,
        "marker": {
            "color": "rgba(0,0,0,0)",
            "pattern": {"shape": "/", "fgcolor": "var(--hatch)", "size": 5, "fillmode": "overlay"},
        },
        "text": [literal(chart.names[index]) for index in indices],
        "textposition": "none",
        "hovertemplate": "%{text}: cannot be measured<extra>skipped</extra>",
    }


def _unlikely(chart: BisectChart) -> Json:
    """A cross on the axis: told by its shape, and beneath a bar that grew all the same."""
    indices = sorted(chart.unlikely)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "unlikely",
        "x": indices,
        "y": [0] * len(indices),
        "yaxis": "y2",
        "cliponaxis": False,
        "marker": {
            "symbol": "x-thin",
            "size": DOT_SIZE,
            "line": {"color": theme.MUTED, "width": 1},
        },
        "text": [
            literal(f"{chart.names[index]}: touches {chart.unlikely[index]}") for index in indices
        ],
        "hovertemplate": "%{text}<extra>unlikely</extra>",
    }


def _top(chart: BisectChart) -> int:
    """Where the axis of probability ends, percent: small bars are still to be told apart."""
    highest = 100 * max(chart.chances, default=0)
    return next(top for top in TOPS if highest <= top or top == TOPS[-1])


def _layout(chart: BisectChart) -> Json:
    top = _top(chart)
    return {
        "margin": {"l": MARGINS.left, "r": MARGINS.right, "t": MARGINS.top, "b": MARGINS.bottom},
        "paper_bgcolor": theme.PAPER,
        "plot_bgcolor": theme.PAPER,
        "font": {"color": theme.MUTED, "family": "var(--sans)", "size": 11},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "barmode": "overlay",
        "xaxis": theme.axis() | _x_axis(chart),
        "yaxis": theme.axis()
        | {
            "domain": UPPER,
            "range": _y_range(chart),
            "gridcolor": theme.LINE,
            "tickformat": ",.5~r",
        },
        "yaxis2": theme.axis()
        | {
            "domain": LOWER,
            "range": [0, top],
            "tickvals": [0, top / 2, top],
            "gridcolor": theme.LINE,
        },
        "annotations": [
            _title(f"{chart.unit}, {chart.better} is better", UPPER[1]),
            _title("probability of being the first bad one, %", LOWER[1]),
        ],
    }


def _y_range(chart: BisectChart) -> list[float | None]:
    levels = [level for level in (chart.before, chart.after) if level is not None]
    centres = [*levels, *(dot.value for dot in chart.dots)]
    if not centres:
        return [0, 1]
    lows, highs = [dot.low for dot in chart.dots], [dot.high for dot in chart.dots]
    return [rounded(end) for end in y_range(centres, lows, highs)]


def _x_axis(chart: BisectChart) -> Json:
    indices = spread_labels(len(chart.names), LABELLED_REVISIONS)
    first, last = _ends(chart)
    return {
        "type": "linear",
        "showgrid": False,
        "anchor": "y2",
        "range": [first - 0.6, last + 0.6],
        "tickmode": "array",
        "tickvals": indices,
        "ticktext": [literal(chart.names[index]) for index in indices],
    }


def _ends(chart: BisectChart) -> tuple[int, int]:
    """The first and the last index that is drawn."""
    indices = [dot.index for dot in chart.dots]
    return min(0, *indices, 0), max(len(chart.names) - 1, *indices, 0)


def _title(text: str, top: float) -> Json:
    """Written across above its axis: upright text reads badly."""
    return {
        "text": literal(text),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xshift": 4 - MARGINS.left,
        "yshift": 4,
        "font": {"color": theme.MUTED},
    }
