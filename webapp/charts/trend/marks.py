"""How each kind of finding is drawn on the trend chart: the table of marks. Pure.

A new kind is a function here and an entry in `MARKS`, the same in `static/js/explorer/marks.js`,
and `Found.kind`; `webapp.charts.trend.legend` explains it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.text import percent
from webapp.charts.trend.levels import Found

RISER_STEP = 8.0
"""Pixels between risers of several series at one revision."""

TRIANGLE = 5.5
TEXT_ROOM = 70.0
RING = 7.0
"""From the middle of an excursion to the corners of its diamond."""

CALM, WILD = 4.0, 11.0
"""Half the height of the bars of a change of noise: the smaller and the larger noise."""

BAR_APART = 5.0
MODE_APART, MODE = 6.0, 3.0
"""From the level to either mode, and the radius of each."""

ABOVE = -12.0
"""So far a text stands above a line that would strike it through."""

SPACE = "\N{NARROW NO-BREAK SPACE}"


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


class Span(NamedTuple):
    """Where a finding stands across: ``edge`` before its revision, ``point`` at it; what was before
    is carried on ``until`` there, and it goes on from ``since``.
    """

    edge: float
    point: float
    until: float
    since: float


def riser(room: Room, found: Found, span: Span) -> list[str]:
    """A change of level: a riser with triangle and percent, dashes where the old level would be."""
    at = span.edge
    start, end = room.y.clamped(found.before), room.y.clamped(found.since)
    proven = "" if found.is_confirmed else " candidate"
    parts = [
        svg.element(
            "path", d=f"M{at:.1f} {start:.1f}V{end:.1f}", class_=f"riser {found.verdict}{proven}"
        ),
        _titled(found, _triangle(at, start, end), f"tri {found.verdict}{proven}"),
    ]
    if room.is_crowded or not found.is_confirmed:
        return parts
    dashes = svg.element("path", d=f"M{at:.1f} {start:.1f}H{span.until:.1f}", class_="was")
    return [dashes, *parts, *_size(room, found, at, (start + end) / 2)]


def excursion(room: Room, found: Found, span: Span) -> list[str]:
    """One revision far off: a diamond around it, and a stem to the level it left."""
    at, level, here = span.point, room.y.clamped(found.before), room.y.clamped(found.since)
    stem = svg.element("path", d=f"M{at:.1f} {level:.1f}V{here:.1f}", class_="stem")
    corner = f"l{RING:.0f} {RING:.0f}l-{RING:.0f} {RING:.0f}l-{RING:.0f}-{RING:.0f}z"
    ring = f"M{at:.1f} {here - RING:.1f}{corner}"
    return [
        stem,
        _titled(found, ring, f"finding-mark excursion {found.verdict}"),
        *_size(room, found, at, here),
    ]


def slow(room: Room, found: Found, span: Span) -> list[str]:
    """A loss or gain by and by: a slope from where it begins, with a triangle at its end."""
    start, end = room.y.clamped(found.before), room.y.clamped(found.since)
    slope = f"M{span.since:.1f} {start:.1f}L{span.point:.1f} {end:.1f}"
    middle = (span.since + span.point) / 2
    return [
        svg.element("path", d=slope, class_=f"finding-mark slope {found.verdict}"),
        _titled(found, _triangle(span.point, start, end), f"tri {found.verdict}"),
        *_size(room, found, middle, (start + end) / 2 + ABOVE),
    ]


def noise(room: Room, found: Found, span: Span) -> list[str]:
    """Another scatter: a bar for the noise before and one for that after, short and long."""
    at, level = span.edge, room.y.clamped(found.since)
    grows = found.ratio is None or found.ratio > 1
    halves = ((-BAR_APART, CALM if grows else WILD), (BAR_APART, WILD if grows else CALM))
    bars = "".join(
        f"M{at + aside:.1f} {level - half:.1f}v{2 * half:.0f}m-3 0h6m-6-{2 * half:.0f}h6"
        for aside, half in halves
    )
    return [
        _titled(found, bars, f"finding-mark noise-bars {found.verdict}"),
        *_size(room, found, at + BAR_APART, level - WILD - 4),
    ]


def modes(room: Room, found: Found, span: Span) -> list[str]:
    """Other shares of two modes: a disc for each, full where more runs are now."""
    at, level = span.edge, room.y.clamped(found.since)
    sinks = found.shares is None or found.shares[1] > found.shares[0]
    discs = [_disc(at, level + way * MODE_APART) for way in ((1, -1) if sinks else (-1, 1))]
    return [
        _titled(found, discs[0], f"finding-mark mode-disc full {found.verdict}"),
        svg.element("path", d=discs[1], class_=f"finding-mark mode-disc {found.verdict}"),
        *_size(room, found, at + MODE, level - MODE_APART + ABOVE),
    ]


def _triangle(at: float, start: float, end: float) -> str:
    """On its tip at ``end``, pointing away from ``start``."""
    tip = -1.5 * TRIANGLE if end > start else 1.5 * TRIANGLE
    return f"M{at - TRIANGLE:.1f} {end + tip:.1f}h{2 * TRIANGLE:.0f}L{at:.1f} {end:.1f}z"


def _disc(across: float, down: float) -> str:
    arc = f"a{MODE:.0f} {MODE:.0f} 0 1 0"
    return f"M{across - MODE:.1f} {down:.1f}{arc} {2 * MODE:.0f} 0{arc}-{2 * MODE:.0f} 0z"


def _titled(found: Found, drawn: str, css_class: str) -> str:
    said = svg.plain_text(f"{size_text(found)}, {found.state}: {found.why}")
    return svg.element("path", svg.element("title", said), d=drawn, class_=css_class)


def size_text(found: Found) -> str:
    """How large it is in its own terms: percent, a ratio of noise, shares of the lower mode."""
    if found.ratio is not None:
        return f"noise{SPACE}×{SPACE}{found.ratio:.1f}"
    if found.shares is not None:
        return f"lower mode {found.shares[0]:.0f} → {found.shares[1]:.0f}{SPACE}%"
    return f"{percent(found.percent)}{SPACE}%"


def _size(room: Room, found: Found, at: float, middle: float) -> list[str]:
    text = size_text(found)
    if room.is_crowded or text.startswith(percent(None)):
        return []
    is_left = at > room.x.end - TEXT_ROOM
    side = " end" if is_left else ""
    across = at - 8 if is_left else at + 8
    return [svg.label(text, x=across, y=middle + 4, class_=f"strong halo {found.verdict}{side}")]


MARKS: Mapping[str, Callable[[Room, Found, Span], list[str]]] = {
    "level": riser,
    "excursion": excursion,
    "slow": slow,
    "noise": noise,
    "modes": modes,
}
"""By `Found.kind`."""
