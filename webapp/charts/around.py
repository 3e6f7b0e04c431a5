"""Charts of one series where it changed. The smallest, a tile, has points, levels, and a coloured
riser where a level moved; it is drawn for a box of any width, which the page stretches, and CSS
keeps the strokes as they are. The larger shows the revisions around one change: both levels with
their figures, the old one carried on in dashes, and the commits among which it began. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, level_text, y_range
from webapp.charts.trend.series import Level

SHOWN = 13
"""Revisions on either side of the change."""

LEFT = 14.0
LABELS = 72.0
"""Room at the right for the figures of the two levels."""

TOP = 18.0
FOOT = 16.0
"""Room below the axis for the names of revisions."""

TRIANGLE = 5.0
NAMED_APART = 80.0
"""Names of revisions nearer to one another than this would touch."""


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels of the picture; it scales with its box."""

    width: float
    height: float


CARD = Size(420.0, 116.0)
WIDE = Size(880.0, 150.0)


@dataclass(frozen=True, slots=True)
class Around:
    """One change. ``values`` are the points in the order of their ``names`` (revisions), ``lows``
    and ``highs`` their whiskers (None: none; empty: none at all). The change lies between the
    points ``at`` − 1 and ``at``; it began among the points ``after`` … ``last``. ``verdict`` is
    "worse" or "better", ``before`` and ``since`` are the two levels.
    """

    names: Sequence[str]
    values: Sequence[float]
    at: int
    after: int
    last: int
    before: float
    since: float
    verdict: str
    levels: Sequence[Level] = ()
    lows: Sequence[float | None] = ()
    highs: Sequence[float | None] = ()
    is_slow: bool = False


def draw(around: Around, *, described: str, size: Size = CARD) -> str:
    """The SVG of ``around``; ``described`` is its text for those who cannot see it."""
    if not around.values:
        return ""
    right, bottom = size.width - LABELS, size.height - FOOT
    x = Scale(0, max(len(around.values) - 1, 1), LEFT, right - LEFT / 2)
    centres = [*around.values, around.before, around.since]
    y = Scale(
        *y_range(centres, around.lows, around.highs, least_span=LEAST_SPAN), bottom - 10, TOP / 2
    )
    at = (x(around.at - 1) + x(around.at)) / 2 if around.at else x(0)
    drawn = around.levels or _two_levels(around)
    children = (
        svg.path(f"M6 {bottom:.1f}H{right:.1f}", "axis"),
        _suspects(around, x, bottom),
        *(_gap(around, x, y) if around.is_slow else ()),
        _whiskers(around, x, y),
        svg.path(dots(range(len(around.values)), around.values, x, y), "pt", stroke_width="4.4"),
        levels(drawn, x, y),
        *(() if around.is_slow else _riser(around, at, y, right)),
        *_figures(around, y, right + 6),
        *_names(around, at, right, size.height - 3),
    )
    return svg.document(
        *children, width=size.width, height=size.height, described=described, class_="chart"
    )


def _two_levels(around: Around) -> list[Level]:
    last = len(around.values) - 1
    return [
        Level(0, max(around.at - 1, 0), around.before, around.before),
        Level(min(around.at, last), last, around.since, around.since),
    ]


def _suspects(around: Around, x: Scale, bottom: float) -> str:
    """The bar on the axis under the commits among which the change began."""
    start, end = x(max(around.after, 0)), x(around.last)
    return svg.element(
        "rect", x=start, y=bottom - 2, width=max(end - start, 4.0), height=4.0, rx=2.0, class_="sus"
    )


def _whiskers(around: Around, x: Scale, y: Scale) -> str:
    strokes = [
        f"M{x(index):.1f} {y.clamped(low):.1f}V{y.clamped(high):.1f}"
        for index, (low, high) in enumerate(zip(around.lows, around.highs, strict=True))
        if low is not None and high is not None
    ]
    return svg.path("".join(strokes), "wh")


def _riser(around: Around, at: float, y: Scale, right: float) -> list[str]:
    start, end = y.clamped(around.before), y.clamped(around.since)
    tip = -TRIANGLE if end > start else TRIANGLE
    triangle = (
        f"M{at - TRIANGLE:.1f} {end + 1.5 * tip:.1f}h{2 * TRIANGLE:.0f}"
        f"l-{TRIANGLE:.0f} {-1.5 * tip:.1f}z"
    )
    return [
        svg.path(f"M{at:.1f} {start:.1f}H{right:.1f}", "was"),
        svg.path(f"M{at:.1f} {start:.1f}V{end:.1f}", f"riser {around.verdict}"),
        svg.path(triangle, f"tri {around.verdict}"),
    ]


def _gap(around: Around, x: Scale, y: Scale) -> list[str]:
    """What a slow change took: between the old level, in dashes, and the line to the new one."""
    start, end = x(max(around.after, 0)), x(around.last)
    old, new = y.clamped(around.before), y.clamped(around.since)
    on_line = old
    if around.levels:
        newest = around.levels[-1]
        start = max(start, x(newest.first))
        on_line = y.clamped(newest.start)
    return [
        svg.path(
            f"M{start:.1f} {old:.1f}H{end:.1f}V{new:.1f}L{start:.1f} {on_line:.1f}z",
            {"worse": "bw", "better": "bb"}.get(around.verdict, "bn"),
            fill_opacity=".14",
        ),
        svg.path(f"M{start:.1f} {old:.1f}H{end:.1f}", "was"),
        svg.path(f"M{end:.1f} {old:.1f}V{new:.1f}", f"riser {around.verdict}"),
    ]


def _figures(around: Around, y: Scale, x: float) -> list[str]:
    """Both levels in figures, apart from one another where the levels are near."""
    before, since = y.clamped(around.before) + 4, y.clamped(around.since) + 4
    gap = 13.0
    if abs(since - before) < gap:
        middle = (since + before) / 2
        sign = 1 if since >= before else -1
        before, since = middle - sign * gap / 2, middle + sign * gap / 2
    return [
        svg.label(level_text(around.before), x=x, y=before),
        svg.label(level_text(around.since), x=x, y=since, class_="ink strong"),
    ]


def _names(around: Around, at: float, right: float, y: float) -> list[str]:
    """The first and the last revision and the one where it began, where there is room."""
    middle = min(max(at, LEFT + NAMED_APART / 2), right - NAMED_APART / 2)
    named = [
        svg.label(
            around.names[min(around.at, len(around.names) - 1)],
            x=middle,
            y=y,
            class_="mono ink strong middle",
        )
    ]
    if middle - NAMED_APART > 6:
        named.append(svg.label(around.names[0], x=6.0, y=y, class_="mono"))
    if right - middle > NAMED_APART:
        named.append(svg.label(around.names[-1], x=right, y=y, class_="mono end"))
    return named


WIDTH = 200.0
HEIGHT = 40.0
INSET_X = 7.0
INSET_Y = 6.0

LEAST_SPAN = 0.06
"""A tile reaches at least this share of the level to either side: noise is no drama."""

TENTH = 0.1
"""The bar at the left is this share of the level high, in every tile."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One series. ``indices`` count revisions on the axis that all tiles of a row share, as long as
    ``length``; ``levels`` are in their order; ``moved`` has for each level after the first how it
    differs from the one before: "worse", "better", or "" where no change was found.
    """

    indices: Sequence[int]
    values: Sequence[float]
    length: int
    levels: Sequence[Level] = ()
    moved: Sequence[str] = ()


def draw_tile(tile: Tile, *, described: str = "") -> str:
    """The SVG of ``tile``; without ``described`` it is decoration beside figures that state it."""
    if not tile.values:
        return ""
    x = Scale(0, max(tile.length - 1, 1), INSET_X, WIDTH - INSET_X)
    low, high = y_range(tile.values, least_span=LEAST_SPAN)
    y = Scale(low, high, HEIGHT - INSET_Y, INSET_Y)
    newest = f"M{x(tile.indices[-1]):.1f} {y(tile.values[-1]):.1f}h0"
    children = (
        svg.path(_tenth(tile.values, y), "scale"),
        svg.path(dots(tile.indices, tile.values, x, y), "pt", stroke_width="2.2"),
        levels(tile.levels, x, y),
        *_risers(tile, x, y),
        svg.path(newest, "newest"),
    )
    roles = {"role": "img", "aria_label": described} if described else {"aria_hidden": "true"}
    return svg.element(
        "svg",
        *children,
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        preserveAspectRatio="none",
        class_="fixed-strokes",
        **roles,
    )


def dots(indices: Sequence[int], values: Sequence[float], x: Scale, y: Scale) -> str:
    """One path of round dots, a line of no length each: a tenth of the bytes of circles."""
    # Both scales are written out and one format is filled for all: a wall has thousands of dots.
    across, down = x.slope, y.slope
    left, top = x.start - across * x.low, y.start - down * y.low
    placed = [
        number
        for index, value in zip(indices, values, strict=True)
        for number in (left + across * index, top + down * value)
    ]
    return "M%.1f %.1fh0" * (len(placed) // 2) % tuple(placed)


def levels(found: Sequence[Level], x: Scale, y: Scale) -> str:
    """The levels as one path, none where there are none."""
    strokes = [
        f"M{x(one.first):.1f} {y.clamped(one.start):.1f}L{x(one.last):.1f} {y.clamped(one.end):.1f}"
        for one in found
    ]
    return svg.path("".join(strokes), "lv")


def _tenth(values: Sequence[float], y: Scale) -> str:
    """A bar at the left, a tenth of the newest value high: every tile has a scale of its own."""
    half = abs(values[-1]) * TENTH / 2
    middle = (y.low + y.high) / 2
    return f"M1.5 {y(middle + half):.1f}V{y(middle - half):.1f}"


def _risers(tile: Tile, x: Scale, y: Scale) -> list[str]:
    risers = []
    pairs = zip(tile.levels[:-1], tile.levels[1:], tile.moved, strict=False)
    for before, after, verdict in pairs:
        if verdict:
            at = (x(before.last) + x(after.first)) / 2
            start, end = y.clamped(before.end), y.clamped(after.start)
            risers += [
                svg.path(f"M{at:.1f} {start:.1f}V{end:.1f}", f"riser {verdict}"),
                svg.path(f"M{at:.1f} {end:.1f}h0", f"riser foot-of-riser {verdict}"),
            ]
    return risers
