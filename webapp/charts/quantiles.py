"""Quantile curves of several histograms over each other, and one histogram over revisions. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor, log10

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels
from webapp.charts.svg import MARGINS, PALETTE_SIZE
from webapp.charts.text import number
from webapp.charts.trend.labels import Json, plain

WIDTH, HEIGHT = 720.0, 300.0
LEGEND, NAMES = 18.0, 22.0
ROWS = 48
SHADES = (0.08, 0.18, 0.32, 0.5, 0.75, 1.0)
"""Of the map: its rows, and the opacity of its depths: the deepest a tenth of the values and more,
each other a decade less. `static/css/distributions.css` has the same."""

DEPTHS = len(SHADES)
CLEAR, MUTED, INK = "rgba(0,0,0,0)", "var(--muted)", "var(--ink)"

STEPS = (1, 2, 5)
BELOW = "of all values below"


Line = Sequence[tuple[float, float]]
"""Points of a curve: how many nines the share below has (2 of 99 %), and the value."""

Column = Sequence[tuple[float, int]]
"""Values of a histogram, ascending, each with how often it was there."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A side: its name, the curve of its ``count`` values, and that of each boot (or run)."""

    label: str
    count: int
    whole: Line
    boots: Sequence[Line]


def curves(sides: Sequence[Curve], *, unit: str) -> str:
    """The SVG: the value over log 1/(1 − q), as HdrHistogram plots it; thin lines are boots."""
    drawn = [[side.whole, *side.boots] for side in sides]
    ends = [at for lines in drawn for line in lines for at in line]
    x = Scale(0.0, _most_nines(ends), MARGINS.left, WIDTH - MARGINS.right)
    top = MARGINS.top + LEGEND * len(sides)
    height = HEIGHT + LEGEND * len(sides)
    y = Scale(*_decades([value for _, value in ends]), height - MARGINS.bottom, top)
    lines = [
        svg.element("polyline", points=svg.points(_line(line, x, y)), class_=_kind(side, number))
        for side, its in enumerate(drawn)
        for number, line in enumerate(its)
    ]
    frame = [*_values(y, unit, x), *_shares(x, y)]
    described = f"{unit} by quantile: " + " against ".join(side.label for side in sides)
    legend = [_legend(at, side) for at, side in enumerate(sides)]
    return svg.document(
        *frame, *lines, *legend, width=WIDTH, height=height, described=described, class_="quantiles"
    )


def _most_nines(ends: Line) -> float:
    return max(nines for nines, _ in ends) or 1.0


def _kind(side: int, number: int) -> str:
    return f"series-{side % PALETTE_SIZE} {'boot' if number else 'side'}"


def _line(line: Line, x: Scale, y: Scale) -> Iterator[tuple[float, float]]:
    for nines, value in line:
        yield x(nines), y.clamped(log10(value)) if value else y.start


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The range of an axis of logarithms; zeros lie at its lower end."""
    logs = [log10(value) for value in values if value] or [0.0]
    low, high = min(logs), max(logs)
    pad = (high - low) * 0.04 or 0.05
    return low - pad, high + pad


def round_values(low: float, high: float) -> list[float]:
    """Round numbers between two logarithms: 1, 2, 5 of each decade, or powers of ten of many."""
    steps = STEPS if high - low < 4 else STEPS[:1]
    found = [step * 10.0**power for power in range(floor(low), ceil(high) + 1) for step in steps]
    return [value for value in found if low <= log10(value) <= high]


def _values(y: Scale, unit: str, x: Scale) -> Iterator[str]:
    yield svg.label(unit, x=4.0, y=MARGINS.top - 10.0, class_="axis-title")
    for value in round_values(y.low, y.high):
        at = y(log10(value))
        yield svg.element("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid")
        yield svg.label(f"{value:g}", x=x.start - 6.0, y=at + 4, class_="tick end")


def _percent(nines: float) -> str:
    """The share below, to as many digits as distinguish it from its neighbours."""
    digits = nines - 2 if nines == int(nines) else ceil(nines) - 1
    return f"{100 * (1 - 10.0**-nines):.{max(int(digits), 0)}f} %"


def _shares(x: Scale, y: Scale) -> Iterator[str]:
    for nines in range(floor(x.high) + 1):
        at = x(nines)
        yield svg.element("line", x1=at, x2=at, y1=y.start, y2=y.end, class_="grid")
        yield svg.label(_percent(nines), x=at, y=y.start + 16, class_="tick middle")
    yield svg.label(BELOW, x=x.end, y=y.start + 34, class_="tick end")


def _legend(at: int, side: Curve) -> str:
    up = MARGINS.top + LEGEND * at - 8
    key = svg.element("line", x1=80.0, x2=104.0, y1=up, y2=up, class_="side")
    text = svg.label(side.label, x=110.0, y=up + 4, class_="tick")
    return svg.element("g", key, text, class_=f"series-{at % PALETTE_SIZE}")


def over_revisions(columns: Sequence[tuple[str, Column]], *, unit: str) -> str:
    """The SVG: a column a revision, the deeper the more of its values lie there."""
    height = HEIGHT + NAMES
    y = Scale(*_reach(columns), height - MARGINS.bottom, MARGINS.top)
    x = Scale(0, len(columns), MARGINS.left, WIDTH - MARGINS.right)
    depths: list[list[str]] = [[] for _ in range(DEPTHS)]
    for at, (_, column) in enumerate(columns):
        rows = _rows(column, y.low, y.high)
        for row, count in enumerate(rows):
            if count:
                depths[_depth(count / sum(rows))].append(_cell(x, y, at, row))
    cells = [
        svg.path("".join(found), f"depth-{depth}") for depth, found in enumerate(depths) if found
    ]
    marks = [
        svg.label(columns[at][0], x=x(at + 0.5), y=y.start + 16, class_="tick middle")
        for at in spread_labels(len(columns), 6)
    ]
    described = f"{unit} over {len(columns)} revisions, {columns[0][0]} to {columns[-1][0]}"
    frame = _values(y, unit, x)
    return svg.document(
        *frame, *cells, *marks, width=WIDTH, height=height, described=described, class_="quantiles"
    )


def _reach(columns: Sequence[tuple[str, Column]]) -> tuple[float, float]:
    return _decades([value for _, column in columns for value, _ in column])


def _rows(column: Column, low: float, high: float) -> list[int]:
    """How many of the values lie in each row, from below."""
    found = [0] * ROWS
    for value, count in column:
        row = floor((log10(value) - low) / (high - low) * ROWS) if value else 0
        found[min(max(row, 0), ROWS - 1)] += count
    return found


def _depth(share: float) -> int:
    return max(DEPTHS - 1 + min(floor(log10(share)) + 1, 0), 0)


def _cell(x: Scale, y: Scale, at: int, row: int) -> str:
    tall = (y.start - y.end) / ROWS
    return f"M{x(at):.1f} {y.start - tall * row:.1f}h{x.slope:.1f}v{-tall:.1f}h{-x.slope:.1f}z"


def curves_figure(sides: Sequence[Curve], *, unit: str) -> Json:
    """What `curves` draws, as a figure of Plotly: pointing at a thick line shows value, quantile,
    and how many values lie above."""
    ends = [at for side in sides for line in (side.whole, *side.boots) for at in line]
    low, high = _decades([value for _, value in ends])
    most = _most_nines(ends)
    whole = [_whole(side, at, 10**low, unit) for at, side in enumerate(sides)]
    boots = [
        _trace(line, at, 10**low) | {"hoverinfo": "skip", "showlegend": False, "opacity": 0.45}
        for at, side in enumerate(sides)
        for line in side.boots
    ]
    x = {
        "range": [0, most],
        "tickvals": list(range(floor(most) + 1)),
        "ticktext": [_percent(nines) for nines in range(floor(most) + 1)],
        "title": {"text": BELOW, "standoff": 6},
    }
    layout = _layout(unit, (low, high), HEIGHT + LEGEND * len(sides)) | {"hovermode": "x"}
    return {"data": [*boots, *whole], "layout": layout | {"xaxis": _axis(x)}}


def _trace(line: Line, side: int, least: float) -> Json:
    """A curve; zeros lie at the lower end of the axis."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [round(nines, 4) for nines, _ in line],
        "y": [float(f"{max(value, least):.6g}") for _, value in line],
        "line": {"color": f"var(--series-{side % PALETTE_SIZE})", "width": 0.8},
        "legendgroup": str(side),
    }


def _whole(side: Curve, at: int, least: float, unit: str) -> Json:
    trace = _trace(side.whole, at, least)
    label = plain(side.label)
    return trace | {
        "name": label,
        "line": trace["line"] | {"width": 2},
        "hoverinfo": "text",
        "text": [
            f"{label}<br>{_percent(nines)}: {number(value)} {plain(unit)}<br>"
            f"{round(side.count * 10**-nines):,} of {side.count:,} values above"
            for nines, value in side.whole
        ],
    }


def map_figure(columns: Sequence[tuple[str, Column]], *, unit: str) -> Json:
    """What `over_revisions` draws, for Plotly; ``colorscale`` is the opacity of the ink."""
    low, high = _reach(columns)
    edges = [10 ** (low + (high - low) * row / ROWS) for row in range(ROWS + 1)]
    rows = [_rows(column, low, high) for _, column in columns]
    texts = [_cells(name, its, edges, unit) for (name, _), its in zip(columns, rows, strict=True)]
    depths = [[_depth(one / sum(its)) if one else None for one in its] for its in rows]
    shown = spread_labels(len(columns), 6)
    trace = {
        "type": "heatmap",
        "x": list(range(len(columns))),
        "y": [float(f"{edge:.6g}") for edge in edges],
        "z": list(zip(*depths, strict=True)),
        "text": list(zip(*texts, strict=True)),
        "hoverinfo": "text",
        "hoverongaps": False,
        "showscale": False,
        "zmin": -0.5,
        "zmax": DEPTHS - 0.5,
        "colorscale": [
            [(depth + end) / DEPTHS, shade] for depth, shade in enumerate(SHADES) for end in (0, 1)
        ],
    }
    x = {
        "range": [-0.5, len(columns) - 0.5],
        "tickvals": shown,
        "ticktext": [plain(columns[at][0]) for at in shown],
    }
    layout = _layout(unit, (low, high), HEIGHT + NAMES) | {"hovermode": "closest"}
    return {"data": [trace], "layout": layout | {"xaxis": _axis(x)}}


def _cells(name: str, rows: Sequence[int], edges: Sequence[float], unit: str) -> list[str]:
    """What pointing at each cell of a column shows; nothing where no value is."""
    total = sum(rows)
    return [
        f"{plain(name)}<br>{number(low)} to {number(high)} {plain(unit)}<br>"
        f"{count:,} of {total:,} values, {_up_to(below, total)}"
        if count
        else ""
        for count, below, low, high in zip(rows, accumulate(rows), edges, edges[1:], strict=False)
    ]


def _up_to(below: int, total: int) -> str:
    if below == total:
        return "the largest"
    return f"up to quantile {_percent(-log10((total - below) / total))}"


def _axis(more: Json) -> Json:
    return {"gridcolor": "var(--line)", "zeroline": False, "tickangle": 0} | more


def _layout(unit: str, ends: tuple[float, float], height: float) -> Json:
    values = round_values(*ends)
    y = {
        "type": "log",
        "range": list(ends),
        "tickvals": values,
        "ticktext": [f"{value:g}" for value in values],
        "exponentformat": "none",
        "title": {"text": plain(unit)},
    }
    return {
        "width": WIDTH,
        "height": height,
        "margin": {"l": MARGINS.left, "r": MARGINS.right, "t": MARGINS.top, "b": MARGINS.bottom},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"size": 11, "color": MUTED},
        "legend": {"x": 0, "y": 1, "yanchor": "bottom", "font": {"color": INK}},
        "hoverlabel": {"align": "left"},
        "meta": {"color": INK},
        "yaxis": _axis(y),
    }
