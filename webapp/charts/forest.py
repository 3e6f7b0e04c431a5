"""Intervals of many comparisons on one scale, a row each: a forest plot. Pure.

A row is an image of its own, as wide as its column: places are percentages of that width, so that
dots stay round and hatching even at any width. Grid, hatching and arrows are defined once a page.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite

from webapp.charts import svg
from webapp.charts.scale import ticks
from webapp.charts.text import MINUS, change_within

LEAST_REACH = 3.0
"""Percent to either side of zero that a scale reaches at least."""

COVERED = 0.9
"""The share of the rows whose intervals a scale holds whole; of the rest an arrow leaves it, lest
one comparison of a hundred make all others a dot."""

PADDING = 1.08
FIGURES = 4
"""Of an axis, about so many."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The scale: ``low`` to ``high`` percent, and the ``margin`` in which no change matters."""

    low: float
    high: float
    margin: float

    def position(self, percent: float) -> float:
        """Where a change is drawn, in percent of the width; at the nearer end if it is beyond."""
        inside = min(max(percent, self.low), self.high)
        return 100 * (inside - self.low) / (self.high - self.low)


def reach_of(intervals: Iterable[tuple[float | None, float | None]], *, margin: float) -> Reach:
    """A scale for ``intervals`` in percent: as wide as nearly all of them need, on either side."""
    known = [
        (low, high)
        for low, high in intervals
        if low is not None and high is not None and isfinite(low) and isfinite(high)
    ]
    least = max(LEAST_REACH, 1.5 * margin)
    below = _covering([max(-low, 0.0) for low, _ in known])
    above = _covering([max(high, 0.0) for _, high in known])
    return Reach(-max(below * PADDING, least), max(above * PADDING, least), margin)


def _covering(ends: list[float]) -> float:
    """What holds the share `COVERED` of the ends; of a few all of them."""
    if not ends:
        return 0.0
    ordered = sorted(ends)
    return ordered[min(int(COVERED * len(ordered)), len(ordered) - 1)]


def definitions(reach: Reach) -> str:
    """What all rows use: an image without size."""
    lines = "".join(
        f'<line class="grid" x1="{at}%" x2="{at}%" y2="100%"/>'
        for at in (_figure(reach.position(tick)) for tick in ticks_of(reach) if tick)
    )
    start, end = reach.position(-reach.margin), reach.position(reach.margin)
    zero = _figure(reach.position(0.0))
    return (
        '<svg class="defs" width="0" height="0" aria-hidden="true"><defs>'
        '<pattern id="fp-hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><path class="hatching" d="M0 0V5"/></pattern>'
        f'<g id="fp-grid"><rect class="margin" x="{_figure(start)}%" '
        f'width="{_figure(end - start)}%" height="100%"/>{lines}'
        f'<line class="zero" x1="{zero}%" x2="{zero}%" y2="100%"/></g>'
        '<path id="fp-left" class="arrow" d="M9 10L1 15l8 5z"/>'
        '<path id="fp-right" class="arrow" d="M-9 10l8 5-8 5z"/>'
        "</defs></svg>"
    )


def axis(reach: Reach, *, less: str, more: str) -> str:
    """The head of the column; ``less`` and ``more`` are the words for either side of zero, with the
    classes "worse" and "better" as ``class:word``.
    """
    texts = "".join(
        f'<text class="middle" x="{_figure(reach.position(tick))}%" y="12">'
        f"{percent_label(tick)}</text>"
        for tick in ticks_of(reach)
        if 12 < reach.position(tick) < 88
    )
    (low_class, low), (high_class, high) = (text.split(":", 1) for text in (less, more))
    left = f'<text class="{escape(low_class)}" x="2" y="12">{escape(low)}</text>'
    right = f'<text class="end {escape(high_class)}" x="100%" dx="-2" y="12">{escape(high)}</text>'
    return f'<svg class="fp axis" aria-hidden="true">{texts}{left}{right}</svg>'


def row(
    reach: Reach,
    percent: float | None,
    low: float | None,
    high: float | None,
    *,
    kind: str,
    figures: str = "",
) -> str:
    """One interval. ``kind`` is "worse", "better", "equivalent", "differ" (outlined: no more is
    known than that builds differ) or "unsure" (hatched). ``figures`` stand for those in percent.
    """
    label = escape(figures or f"{change_within(percent, low, high)} %")
    parts = [f'<svg class="fp" role="img" aria-label="{label}"><use href="#fp-grid"/>']
    if low is not None and high is not None:
        parts.append(_bar(reach, low, high, kind))
    if percent is not None and isfinite(percent):
        at = _figure(reach.position(percent))
        parts.append(f'<circle class="spot {kind}" cx="{at}%" cy="15" r="4.4"/>')
    return "".join([*parts, "</svg>"])


def _bar(reach: Reach, low: float, high: float, kind: str) -> str:
    start, end = reach.position(low), reach.position(high)
    thick = 10 if kind in {"unsure", "differ"} else 6
    bar = (
        f'<rect class="iv {kind}" x="{_figure(start)}%" y="{15 - thick // 2}" '
        f'width="{_figure(max(end - start, 0.3))}%" height="{thick}" rx="2"/>'
    )
    if low < reach.low:
        bar += '<use href="#fp-left"/>'
    if high > reach.high:
        bar += '<use href="#fp-right" x="100%"/>'
    return bar


def ticks_of(reach: Reach) -> list[float]:
    """Round figures on the scale."""
    return ticks(reach.low, reach.high, FIGURES + 2)


def percent_label(tick: float) -> str:
    """One of them as text: ``+5 %``."""
    text = f"{tick:+g} %" if tick else "0 %"
    return text.replace("-", MINUS)


def _figure(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


SCALE_WIDTH, NAMES_WIDTH, FIGURES_WIDTH = 380.0, 330.0, 150.0
"""What the scale takes, the names at the left of it at least, and the figures at the right."""

ROW, AXIS = 24.0, 22.0
LETTER = 6.4
"""The width of a character of a name, which is never cut."""


@dataclass(frozen=True, slots=True)
class Row:
    """One interval; ``kind`` and ``figures`` as `row` has them."""

    name: str
    percent: float | None
    low: float | None
    high: float | None
    kind: str
    figures: str = ""


def draw(reach: Reach, rows: Sequence[Row], *, described: str) -> str:
    """The rows on one scale, with name and figures beside each."""
    names = max([NAMES_WIDTH, *(LETTER * len(row.name) for row in rows)])
    width, high = names + SCALE_WIDTH + FIGURES_WIDTH, AXIS + ROW * len(rows)

    def x(percent: float) -> float:
        return names + (SCALE_WIDTH - 16) * reach.position(percent) / 100

    lines = "".join(f"M{x(tick):.1f} {AXIS:.0f}V{high:.0f}" for tick in ticks_of(reach) if tick)
    zero = f"M{x(0.0):.1f} {AXIS:.0f}V{high:.0f}"
    left, right = x(-reach.margin), x(reach.margin)
    area = {"x": left, "y": AXIS, "width": right - left, "height": high - AXIS}
    children = (
        svg.element("rect", **area, class_="margin"),
        svg.path(lines or "M0 0", "grid"),
        svg.path(zero, "zero"),
        *(
            svg.label(percent_label(tick), x=x(tick), y=14.0, class_="middle")
            for tick in ticks_of(reach)
        ),
        *(
            part
            for at, row in enumerate(rows)
            for part in _row(row, x, AXIS + ROW * (at + 0.5), width)
        ),
    )
    return svg.document(*children, width=width, height=high + 4, described=described)


def _row(row: Row, x: Callable[[float], float], middle: float, width: float) -> list[str]:
    css_class = row.kind if row.kind in {"worse", "better"} else "ink"
    figures = row.figures or f"{change_within(row.percent, row.low, row.high)} %"
    parts = [
        svg.label(row.name, x=0.0, y=middle + 4, class_="ink"),
        svg.label(figures, x=width, y=middle + 4, class_=f"end {css_class}"),
    ]
    if row.low is not None and row.high is not None:
        start, end = x(row.low), x(row.high)
        bar = svg.element(
            "rect",
            x=start,
            y=middle - 3,
            width=max(end - start, 1.0),
            height=6.0,
            rx=2.0,
            class_=f"iv {row.kind}",
        )
        parts.append(bar)
    if row.percent is not None and isfinite(row.percent):
        at = x(row.percent)
        parts.append(svg.element("circle", cx=at, cy=middle, r=4.4, class_=f"spot {row.kind}"))
    return parts
