"""Where labels stand: on no line, on no other label, and under no badge. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from webapp.charts.trend.room import LETTER, LINE

Json = dict[str, Any]
MOST_ROWS = 3
Segment = tuple[float, float, float, float]
"""The ends of a line in pixels: x, y, x, y."""


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


def width_of(text: str) -> float:
    """About how wide a text is, in pixels."""
    return LETTER * len(text)


def text_box(text: str, x: float, y: float, anchor: str) -> Box:
    """Where a text stands with its middle line at ``y`` and its ``anchor`` at ``x``."""
    width = width_of(text)
    left = x - {"left": 0.0, "center": width / 2, "right": width}[anchor]
    return Box(left, y - LINE / 2, left + width, y + LINE / 2)


@dataclass
class Taken:
    """What is drawn already: boxes that nothing may cover, and lines that no text may lie on."""

    within: Box
    boxes: list[Box] = field(default_factory=list)
    lines: list[Segment] = field(default_factory=list)

    def is_free(self, box: Box) -> bool:
        """Whether ``box`` lies within, and on nothing."""
        inside = box.left >= self.within.left and box.right <= self.within.right
        return (
            inside
            and box.top >= self.within.top
            and box.foot <= self.within.foot
            and not any(box.meets(other) for other in self.boxes)
            and not any(box.is_crossed(line) for line in self.lines)
        )

    def take(self, spots: Iterable[tuple[str, Box]]) -> tuple[str, Box] | None:
        """The first of ``spots`` (anchor and box) that is free, taken from now on."""
        for anchor, box in spots:
            if self.is_free(box):
                self.boxes.append(box)
                return anchor, box
        return None


def around(text: str, x: float, y: float, aside: float) -> Iterator[tuple[str, Box]]:
    """Places for a text beside (x, y), the nearest first: right and left, then higher or lower."""
    for away in (0, -1, 1, -2, 2, -3, 3, -4, 4, -6, 6):
        for anchor, side in (("left", aside), ("right", -aside)):
            yield anchor, text_box(text, x + side, y + away * LINE * 0.75, anchor)


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
