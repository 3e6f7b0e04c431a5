"""The smallest chart of one series: points, levels, and a coloured riser where a level moved. Pure.

Drawn for a box of any width: the page stretches it, and CSS keeps the strokes as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, y_range
from webapp.charts.trend.series import Level

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
    ``length``; ``levels`` are in their order; ``moved`` says for each level after the first how it
    differs from the one before: "worse", "better", or "" where no change was found.
    """

    indices: Sequence[int]
    values: Sequence[float]
    length: int
    levels: Sequence[Level] = ()
    moved: Sequence[str] = ()


def draw(tile: Tile, *, described: str = "") -> str:
    """The SVG of ``tile``; without ``described`` it is decoration beside figures that say it."""
    if not tile.values:
        return ""
    x = Scale(0, max(tile.length - 1, 1), INSET_X, WIDTH - INSET_X)
    low, high = y_range(tile.values, least_span=LEAST_SPAN)
    y = Scale(low, high, HEIGHT - INSET_Y, INSET_Y)
    newest = f"M{x(tile.indices[-1]):.1f} {y(tile.values[-1]):.1f}h0"
    children = (
        svg.element("path", d=_tenth(tile.values, y), class_="scale"),
        svg.element(
            "path", d=dots(tile.indices, tile.values, x, y), class_="pt", stroke_width="2.2"
        ),
        *levels(tile.levels, x, y),
        *_risers(tile, x, y),
        svg.element("path", d=newest, class_="newest"),
    )
    said = {"role": "img", "aria_label": described} if described else {"aria_hidden": "true"}
    return svg.element(
        "svg",
        *children,
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        preserveAspectRatio="none",
        class_="fixed-strokes",
        **said,
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


def levels(found: Sequence[Level], x: Scale, y: Scale) -> list[str]:
    """The levels as one path, none where there are none."""
    strokes = [
        f"M{x(one.first):.1f} {y.clamped(one.start):.1f}L{x(one.last):.1f} {y.clamped(one.end):.1f}"
        for one in found
    ]
    return [svg.element("path", d="".join(strokes), class_="lv")] if strokes else []


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
                svg.element(
                    "path", d=f"M{at:.1f} {start:.1f}V{end:.1f}", class_=f"riser {verdict}"
                ),
                svg.element(
                    "path",
                    d=f"M{at:.1f} {end:.1f}h0",
                    class_=f"riser foot-of-riser {verdict}",
                ),
            ]
    return risers
