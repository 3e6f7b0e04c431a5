"""The measures of a trend chart in pixels, what turns its data into pixels, and where labels stand:
on no line, on no other label, under no badge, and on few points. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import inf
from typing import Any, NamedTuple

import numpy as np

from webapp.charts.scale import Scale, Values

TOP, FOOT, GAP = 40.0, 26.0, 22.0
"""Above the chart, below it, and between two of several lanes."""

LETTER, BOLD = 6.6, 7.2
"""The width of a character of 11 px, by itself and bold, in the widest of the usual fonts."""

LINE = 13.0
"""The height of a line of text."""

NARROW_BELOW = 640
"""Pixels, as in the site's style sheets."""

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


class Bars(NamedTuple):
    """Points with their whiskers, from left to right, in pixels: x, their upper and lower ends."""

    x: Values
    top: Values
    foot: Values


NO_BARS = Bars(*np.empty((3, 0)))


@dataclass(frozen=True, slots=True)
class Room:
    """The measures of a chart: its ``width`` in pixels with what is left free at either side, and
    the heights of ``one`` lane and of ``each`` of several. A narrow one has short figures, and no
    names beside the newest points.
    """

    width: float
    left: float
    right: float
    one: float
    each: float
    is_narrow: bool = False

    @property
    def across(self) -> float:
        """The width of the plot itself."""
        return self.width - self.left - self.right


WIDE = Room(1060.0, 76.0, 140.0, one=400.0, each=130.0)
NARROW = Room(350.0, 52.0, 12.0, one=260.0, each=110.0, is_narrow=True)
"""What a phone shows: made for its width, for a wide drawing scaled down cannot be read."""


def room_for(width: int | None) -> Room:
    """The kind of room for a picture ``width`` pixels wide; None: as wide as it likes."""
    return NARROW if width is not None and width < NARROW_BELOW else WIDE


def room_of(width: int) -> Room:
    """The room of exactly ``width`` pixels."""
    return replace(room_for(width), width=float(width))


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a lane stands: ``x`` and ``y`` map data onto pixels of the whole chart. ``is_crowded``:
    so many series that changes have no words; ``has_points``: there is room for points and whiskers
    beside the levels.
    """

    x: Scale
    y: Scale
    number: int
    is_crowded: bool = False
    has_points: bool = True

    @property
    def axis(self) -> str:
        """The name of the vertical axis, as Plotly counts."""
        return "y" if self.number == 1 else f"y{self.number}"

    def along(self, pixels: float) -> float:
        """So many pixels to the right, in units of the horizontal axis."""
        return pixels / self.x.slope

    def up(self, pixels: float) -> float:
        """So many pixels upwards, in units of the vertical axis."""
        return -pixels / self.y.slope

    def in_view(self, locations: Sequence[float | None]) -> int:
        """How many of these locations along the horizontal axis are in view."""
        known = np.array(locations, np.float64)
        return int(np.count_nonzero((self.x.low <= known) & (known <= self.x.high)))


class Box(NamedTuple):
    """A rectangle in pixels, downwards."""

    left: float
    top: float
    right: float
    foot: float

    @classmethod
    def around(cls, boxes: Iterable["Box"]) -> "Box":
        """The smallest that holds all of ``boxes``, at least one."""
        lefts, tops, rights, foots = zip(*boxes, strict=True)
        return cls(min(lefts), min(tops), max(rights), max(foots))

    def wider(self) -> "Box":
        """With what has to stay clear of lines."""
        return Box(self.left - CLEAR, self.top - CLEAR, self.right + CLEAR, self.foot + CLEAR)

    def lies_in(self, other: "Box") -> bool:
        """Whether no part lies outside of ``other``."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.foot <= other.foot
        )

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
    bars: Bars = NO_BARS

    def covered(self, box: Box) -> int:
        """How many points ``box`` covers, with their whiskers."""
        across = slice(*np.searchsorted(self.bars.x, [box.left, box.right]))
        top, foot = self.bars.top[across], self.bars.foot[across]
        return int(np.count_nonzero((top < box.foot) & (foot > box.top)))

    def take(self, spots: Iterable[tuple[str, Box]]) -> tuple[str, Box] | None:
        """The best free one of ``spots`` (anchor and box, the nearest first), taken from now on:
        it lies within, and on nothing that it must not cover.
        """
        inside = [one for one in enumerate(spots) if one[1][1].lies_in(self.within)]
        if not inside:
            return None
        hull = Box.around(box for _, (_, box) in inside)
        boxes = [one for one in self.boxes if hull.meets(one)]
        clear = hull.wider()
        lines = [one for one in self.lines if clear.is_crossed(one)]
        best, least = None, inf
        for at, (anchor, box) in inside:
            if NEARER * at >= least:
                break
            if any(map(box.meets, boxes)) or any(map(box.wider().is_crossed, lines)):
                continue
            cost = self.covered(box) + NEARER * at
            if cost < least:
                best, least = (anchor, box), cost
        if best:
            box = best[1]
            self.boxes.append(Box(box.left - APART, box.top, box.right + APART, box.foot))
        return best


def around(text: str, x: float, y: float, aside: float) -> Iterator[tuple[str, Box]]:
    """Places for a bold text beside (x, y), the nearest first: right, left, higher, lower."""
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
