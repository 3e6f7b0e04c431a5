"""Quantile curves of several histograms over each other, and one histogram over revisions. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels
from webapp.charts.theme import MARGINS, PALETTE_SIZE

WIDTH, HEIGHT = 720.0, 300.0
LEGEND, NAMES = 18.0, 22.0
ROWS, DEPTHS = 48, 6
"""Of the map: its rows, and its depths of colour: the deepest a tenth of the values and more, each
other a decade less."""

STEPS = (1, 2, 5)


Line = Sequence[tuple[float, float]]
"""Points of a curve: how many nines the share below has (2 of 99 %), and the value."""

Column = Sequence[tuple[float, float]]
"""Values of a histogram, ascending, each with the share of all that it stands for."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A side: its name, the curve of all its values, and that of each boot (or run, where boots
    are unknown)."""

    label: str
    whole: Line
    boots: Sequence[Line]


def curves(sides: Sequence[Curve], *, unit: str) -> str:
    """The SVG: the value over log 1/(1 − q), as HdrHistogram plots it; thin lines are boots."""
    drawn = [[side.whole, *side.boots] for side in sides]
    ends = [at for lines in drawn for line in lines for at in line]
    x = Scale(0.0, max(nines for nines, _ in ends) or 1.0, MARGINS.left, WIDTH - MARGINS.right)
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


def _shares(x: Scale, y: Scale) -> Iterator[str]:
    for nines in range(floor(x.high) + 1):
        text = f"{100 * (1 - 10.0**-nines):.{max(nines - 2, 0)}f} %"
        at = x(nines)
        yield svg.element("line", x1=at, x2=at, y1=y.start, y2=y.end, class_="grid")
        yield svg.label(text, x=at, y=y.start + 16, class_="tick middle")
    yield svg.label("of all values below", x=x.end, y=y.start + 34, class_="tick end")


def _legend(at: int, side: Curve) -> str:
    up = MARGINS.top + LEGEND * at - 8
    key = svg.element("line", x1=80.0, x2=104.0, y1=up, y2=up, class_="side")
    text = svg.label(side.label, x=110.0, y=up + 4, class_="tick")
    return svg.element("g", key, text, class_=f"series-{at % PALETTE_SIZE}")


def over_revisions(columns: Sequence[tuple[str, Column]], *, unit: str) -> str:
    """The SVG: a column a revision, the deeper the more of its values lie there."""
    logs = _decades([value for _, column in columns for value, _ in (column[0], column[-1])])
    height = HEIGHT + NAMES
    y = Scale(*logs, height - MARGINS.bottom, MARGINS.top)
    x = Scale(0, len(columns), MARGINS.left, WIDTH - MARGINS.right)
    depths: list[list[str]] = [[] for _ in range(DEPTHS)]
    for at, (_, column) in enumerate(columns):
        for row, share in enumerate(_rows(column, y)):
            if share:
                depths[_depth(share)].append(_cell(x, y, at, row))
    cells = [
        svg.element("path", d="".join(found), class_=f"depth-{depth}")
        for depth, found in enumerate(depths)
        if found
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


def _rows(column: Column, y: Scale) -> list[float]:
    """The share of the values in each row, from below."""
    found = [0.0] * ROWS
    for value, share in column:
        row = floor((log10(value) - y.low) / (y.high - y.low) * ROWS) if value else 0
        found[min(max(row, 0), ROWS - 1)] += share
    return found


def _depth(share: float) -> int:
    return max(DEPTHS - 1 + min(floor(log10(share)) + 1, 0), 0)


def _cell(x: Scale, y: Scale, at: int, row: int) -> str:
    tall = (y.start - y.end) / ROWS
    return f"M{x(at):.1f} {y.start - tall * row:.1f}h{x.slope:.1f}v{-tall:.1f}h{-x.slope:.1f}z"
