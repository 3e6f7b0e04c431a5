"""Where labels stand: on no line, on no other label, under no badge, and on few points. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import islice, takewhile
from typing import Any, NamedTuple

from webapp.charts.trend.room import BOLD, LETTER, LINE

Json = dict[str, Any]
MOST_ROWS = 3
CLEAR = 1.5
"""Pixels between a label and the middle of a line."""

APART = 4.0
"""Pixels between two labels on one line of text."""

NEARER = 0.25
"""A label covers a point rather than moving on by more than four places."""

Segment = tuple[float, float, float, float]
"""The ends of a line in pixels: x, y, x, y."""

Bar = tuple[float, float, float]
"""A point with its whiskers, in pixels: x, its upper and its lower end."""


class Box(NamedTuple):
    """A rectangle in pixels, downwards."""

    left: float
    top: float
    right: float
    foot: float

    def meets(self, other: "Box") -> bool:
        """Whether both share a point."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.foot
            and other.top < self.foot
        )

    def is_crossed(self, line: Segment) -> bool:
        """Whether a part of ``line`` lies inside (clipping by Liang and Barsky)."""
        x, y, end_x, end_y = line
        if (x < self.left and end_x < self.left) or (x > self.right and end_x > self.right):
            return False
        if (y < self.top and end_y < self.top) or (y > self.foot and end_y > self.foot):
            return False
        enter, leave = 0.0, 1.0
        for step, low, high in (
            (end_x - x, self.left - x, self.right - x),
            (end_y - y, self.top - y, self.foot - y),
        ):
            if step == 0:
                if low > 0 or high < 0:
                    return False
                continue
            ends = sorted((low / step, high / step))
            enter, leave = max(enter, ends[0]), min(leave, ends[1])
        return enter < leave


def width_of(text: str, character: float = LETTER) -> float:
    """About how wide a text is, in pixels."""
    return character * len(text)


def text_box(text: str, x: float, y: float, anchor: str, character: float = LETTER) -> Box:
    """Where a text stands with its middle line at ``y`` and its ``anchor`` at ``x``."""
    width = width_of(text, character)
    left = x - {"left": 0.0, "center": width / 2, "right": width}[anchor]
    return Box(left, y - LINE / 2, left + width, y + LINE / 2)


@dataclass
class Taken:
    """What is drawn already: boxes that nothing may cover, lines that no text may lie on, and, from
    left to right, points that a text covers only where it must.
    """

    within: Box
    boxes: list[Box] = field(default_factory=list)
    lines: list[Segment] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)

    def is_free(self, box: Box) -> bool:
        """Whether ``box`` lies within, and on nothing that it must not cover."""
        inside = box.left >= self.within.left and box.right <= self.within.right
        wider = Box(box.left - CLEAR, box.top - CLEAR, box.right + CLEAR, box.foot + CLEAR)
        return (
            inside
            and box.top >= self.within.top
            and box.foot <= self.within.foot
            and not any(box.meets(other) for other in self.boxes)
            and not any(wider.is_crossed(line) for line in self.lines)
        )

    def covered(self, box: Box) -> int:
        """How many points ``box`` covers, with their whiskers."""
        first = bisect_left(self.bars, (box.left,))
        across = takewhile(lambda bar: bar[0] < box.right, islice(self.bars, first, None))
        return sum(top < box.foot and foot > box.top for _, top, foot in across)

    def take(self, spots: Iterable[tuple[str, Box]]) -> tuple[str, Box] | None:
        """The best free one of ``spots`` (anchor and box, the nearest first), taken from now on."""
        free = [one for one in enumerate(spots) if self.is_free(one[1][1])]
        if not free:
            return None
        _, (anchor, box) = min(free, key=lambda one: self.covered(one[1][1]) + NEARER * one[0])
        self.boxes.append(Box(box.left - APART, box.top, box.right + APART, box.foot))
        return anchor, box


def around(text: str, x: float, y: float, aside: float) -> Iterator[tuple[str, Box]]:
    """Places for a bold text beside (x, y), the nearest first: right and left, then higher or
    lower.
    """
    for away in (0, -1, 1, -2, 2, -3, 3, -4, 4, -6, 6):
        for anchor, side in (("left", aside), ("right", -aside)):
            yield anchor, text_box(text, x + side, y + away * LINE * 0.75, anchor, BOLD)


class Rows:
    """What is taken of `MOST_ROWS` rows; who comes first has the row next to the chart."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, float, float]] = []

    def take(self, start: float, end: float) -> int | None:
        """The first row with nothing from ``start`` to ``end``, taken from now on; None: no room.

        ``start`` and ``end`` are pixels across.
        """
        for row in range(MOST_ROWS):
            if not any(
                one == row and low <= end and high >= start for one, low, high in self._taken
            ):
                self._taken.append((row, start, end))
                return row
        return None


def plain(text: str) -> str:
    """``text`` as Plotly shows it letter by letter: it reads a few tags and entities, and fills in
    what stands in ``%{…}``.
    """
    return escape(text, quote=False).replace("%{", "&#37;{")


def linked(text: str, href: str) -> str:
    """``text`` as a link, in Plotly's markup. ``href`` is an address of this site."""
    return f'<a href="{escape(href)}" target="_self">{plain(text)}</a>'


def annotation(text: str, *, colour: str, weight: int = 400, **where: Any) -> Json:
    """A text without an arrow, its middle line at ``y``; ``text`` is Plotly's markup already."""
    font = {"size": 11, "color": colour, "weight": weight}
    bare = {"showarrow": False, "borderpad": 0, "borderwidth": 0, "yanchor": "middle"}
    return {"text": text, "font": font, **bare, **where}
