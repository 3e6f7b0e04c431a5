"""How each kind of finding is drawn on the trend chart: the table of marks. Pure.

A new kind is a function here and an entry in `MARKS`, the same in `static/js/explorer/marks.js`,
and `Found.kind`.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.text import percent
from webapp.charts.trend.levels import Found

RISER_STEP = 8.0
"""Pixels between risers of several series at one revision."""

TRIANGLE = 5.5
TEXT_ROOM = 70.0


class Room(Protocol):
    """What a mark needs of the lane that it stands in."""

    @property
    def x(self) -> Scale:
        """Across."""

    @property
    def y(self) -> Scale:
        """Up and down."""

    @property
    def is_crowded(self) -> bool:
        """Whether there is no room for words and dashes."""


def riser(room: Room, found: Found, at: float, until: float) -> list[str]:
    """A change of level: a riser at ``at`` with triangle and percent, dashes where the old level
    would be until ``until``.
    """
    start, end = room.y.clamped(found.before), room.y.clamped(found.since)
    proven = "" if found.is_confirmed else " candidate"
    tip = -1.5 * TRIANGLE if end > start else 1.5 * TRIANGLE
    triangle = f"M{at - TRIANGLE:.1f} {end + tip:.1f}h{2 * TRIANGLE:.0f}L{at:.1f} {end:.1f}z"
    said = f"{percent(found.percent)} %, {found.state}: {found.why}"
    parts = [
        svg.element(
            "path", d=f"M{at:.1f} {start:.1f}V{end:.1f}", class_=f"riser {found.verdict}{proven}"
        ),
        svg.element(
            "path",
            svg.element("title", svg.plain_text(said)),
            d=triangle,
            class_=f"tri {found.verdict}{proven}",
        ),
    ]
    if room.is_crowded or not found.is_confirmed:
        return parts
    dashes = svg.element("path", d=f"M{at:.1f} {start:.1f}H{until:.1f}", class_="was")
    return [dashes, *parts, *_size(room, found, at, (start + end) / 2)]


def _size(room: Room, found: Found, at: float, middle: float) -> list[str]:
    if found.percent is None:
        return []
    is_left = at > room.x.end - TEXT_ROOM
    side = " end" if is_left else ""
    text = f"{percent(found.percent)}\N{NARROW NO-BREAK SPACE}%"
    across = at - 8 if is_left else at + 8
    return [svg.label(text, x=across, y=middle + 4, class_=f"strong halo {found.verdict}{side}")]


MARKS: Mapping[str, Callable[[Room, Found, float, float], list[str]]] = {"level": riser}
"""By `Found.kind`."""
