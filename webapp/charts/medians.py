"""Medians side by side, with whiskers from the least to the largest sample. Pure.

Bars begin at zero: they say how much is left, as the intervals beside them say how sure that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from webapp.charts import svg
from webapp.charts.scale import Scale, ticks
from webapp.charts.text import short_number
from webapp.charts.theme import PALETTE_SIZE

WIDTH, HEIGHT = 720.0, 380.0
LEFT, RIGHT, FOOT = 64.0, 8.0, 26.0
LEGEND_ROW = 17.0
TITLE, UNIT = 22.0, 20.0
"""Heights of the lines above and below the legend."""

GAP = 0.25
"""Of the width of a group, between it and the next."""
CAP = 4.0
"""Half the width of the ends of a whisker."""
HEADROOM = 1.05
CHARACTER = 6.4
"""Width of a letter of 11 px, about: labels are cut to what their group has room for."""
LONGEST_TITLE = 108


@dataclass(frozen=True, slots=True)
class Bar:
    """One set: its median, its least and its largest sample."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """What stands side by side: the sets of one cell, in the order of the sides."""

    label: str
    bars: Sequence[Bar]


def draw(groups: Sequence[Group], *, sides: Sequence[str], unit: str, title: str) -> str:
    """The SVG: a group of bars for each cell, one colour for each of ``sides``."""
    top = TITLE + LEGEND_ROW * len(sides) + UNIT
    values = [end for group in groups for bar in group.bars for end in (bar.low, bar.high)]
    finite = [value for value in values if isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite]) or 1.0
    y = Scale(low * HEADROOM, high * HEADROOM, HEIGHT - FOOT, top)
    return svg.document(
        svg.label(_short(title, LONGEST_TITLE), x=LEFT, y=14.0, class_="label"),
        *_legend(sides),
        *_axis(y, unit, top),
        *(part for index, group in enumerate(groups) for part in _group(group, index, groups, y)),
        width=WIDTH,
        height=HEIGHT,
        described=title,
        class_="medians",
    )


def _legend(sides: Sequence[str]) -> list[str]:
    parts = []
    for index, side in enumerate(sides):
        at = TITLE + LEGEND_ROW * index
        box = svg.element(
            "rect",
            x=LEFT,
            y=at,
            width=12.0,
            height=10.0,
            fill="currentColor",
            class_=_colour(index),
        )
        parts += [box, svg.label(_short(side, LONGEST_TITLE), x=LEFT + 18, y=at + 9)]
    return parts


def _axis(y: Scale, unit: str, top: float) -> list[str]:
    parts = [svg.label(unit, x=2.0, y=top - 5)]
    for value in ticks(y.low, y.high):
        at = y(value)
        parts += [
            svg.element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"),
            svg.label(short_number(value) if value else "0", x=LEFT - 6, y=at + 4, class_="end"),
        ]
    return parts


def _group(group: Group, index: int, groups: Sequence[Group], y: Scale) -> list[str]:
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    start = LEFT + room * (index + GAP / 2)
    wide = room * (1 - GAP) / max(len(group.bars), 1)
    text = _short(group.label, max(int(room / CHARACTER), 2))
    parts = [svg.label(text, x=LEFT + room * (index + 0.5), y=HEIGHT - 8, class_="middle")]
    for order, bar in enumerate(group.bars):
        parts += _bar(bar, start + wide * order, wide, y, _colour(order))
    return parts


def _bar(bar: Bar, x: float, wide: float, y: Scale, colour: str) -> list[str]:
    ends = y(0.0), y(bar.median)
    middle, cap = x + wide / 2, min(CAP, wide / 3)
    top, foot = y(bar.high), y(bar.low)
    whisker = (
        f"M{middle:.1f} {top:.1f}V{foot:.1f}"
        f"M{middle - cap:.1f} {top:.1f}h{2 * cap:.1f}M{middle - cap:.1f} {foot:.1f}h{2 * cap:.1f}"
    )
    return [
        svg.element(
            "rect",
            x=x,
            y=min(ends),
            width=wide * 0.94,
            height=max(abs(ends[1] - ends[0]), 0.5),
            fill="currentColor",
            fill_opacity="0.75",
            class_=colour,
        ),
        svg.element("path", d=whisker, class_="median-range"),
    ]


def _colour(index: int) -> str:
    return f"series-{index % PALETTE_SIZE}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
