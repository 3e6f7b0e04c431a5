"""What was tested along one tree, commit by commit: proven changes as bars, the rest as dots. Pure.

Heights go with the root of the size, so that a loss of 2 % shows beside a gain of 80 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, sqrt

import numpy as np
import numpy.typing as npt

from webapp.charts import svg
from webapp.charts.text import MARKS, percent

HEIGHT = 118.0
MIDDLE = 56.0
REACH = 30.0
"""Pixels that the largest change is high."""

FOOT = 112.0
TOP = 14.0
LEFT = 8.0
BAR = 10.0
LABEL = 66.0
"""Pixels that a label needs beside the next."""

APART = 4
"""Pixels between dots of one column."""

LEAST_REACH_PCT = 9.0
"""Percent that fill the height at least: noise alone is no drama."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A proven change at the column ``at``, in percent: better above the line, worse below."""

    at: int
    percent: float
    verdict: str
    name: str
    href: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A release ``name`` at the column ``at``, or after the column before it; ``href`` its page."""

    at: int
    name: str
    href: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Tested revisions in their order. ``dots`` are, for each series, its columns and its
    change in percent against the revision tested before, more than 0 is better. ``first`` and
    ``last`` name the ends.
    """

    columns: int
    dots: Sequence[tuple[npt.NDArray[np.int_], npt.NDArray[np.float64]]]
    bars: Sequence[Bar]
    first: str
    last: str
    releases: Sequence[Mark] = ()


def draw(timeline: Timeline, *, width: float, described: str) -> str:
    """The SVG of ``timeline``; ``described`` is its text."""
    step = (width - 2 * LEFT) / max(timeline.columns, 1)
    sizes = [abs(one.percent) for one in timeline.bars]
    scale = REACH / sqrt(max([LEAST_REACH_PCT, *sizes]))
    children = (
        svg.path(f"M{LEFT:.0f} {MIDDLE:.0f}H{width - LEFT:.0f}", "axis"),
        svg.path(_dots(timeline.dots, step, scale), "pt tested", stroke_width="3"),
        *_releases(timeline.releases, step, width),
        *(_bar(one, step, scale) for one in timeline.bars),
        *_labels(timeline.bars, step, scale, width),
        svg.label(timeline.first, x=LEFT, y=FOOT, class_="mono"),
        svg.label(timeline.last, x=width - LEFT, y=FOOT, class_="mono end")
        if timeline.columns > 1
        else "",
    )
    return svg.document(
        *children, width=width, height=HEIGHT, described=described, class_="chart", has_links=True
    )


def _x(at: int, step: float) -> float:
    return LEFT + (at + 0.5) * step


def _y(change: float, scale: float) -> float:
    height = min(sqrt(abs(change)) * scale, REACH)
    return MIDDLE - copysign(height, change)


def _end(one: Bar, scale: float) -> float:
    return _y(abs(one.percent) if one.verdict == "better" else -abs(one.percent), scale)


def _dots(
    dots: Sequence[tuple[npt.NDArray[np.int_], npt.NDArray[np.float64]]], step: float, scale: float
) -> str:
    """Dots that would lie on one another are drawn once: hundreds of series share a column."""
    if not dots:
        return ""
    columns = np.concatenate([column for column, _ in dots])
    change = np.concatenate([percent for _, percent in dots])
    height = np.minimum(np.sqrt(np.abs(change)) * scale, REACH)
    up = np.rint(np.copysign(height, change) / APART).astype(int) * APART
    places = np.unique(np.stack([columns, up], axis=1), axis=0)
    across = LEFT + (places[:, 0] + 0.5) * step
    drawn = np.stack([across, MIDDLE - places[:, 1]], axis=1).ravel().tolist()
    return "M%.1f %.0fh0" * len(places) % tuple(drawn)


def _bar(one: Bar, step: float, scale: float) -> str:
    y, x = _end(one, scale), _x(one.at, step) - BAR / 2
    colour = "bw" if one.verdict == "worse" else "bb"
    text = f"{percent(one.percent)} % at {one.name}"
    rect = svg.element(
        "rect",
        svg.element("title", svg.plain_text(text)),
        x=x,
        y=min(y, MIDDLE),
        width=BAR,
        height=max(abs(y - MIDDLE), 1.5),
        rx=1.0,
        class_=colour,
    )
    return svg.element("a", rect, href=one.href, aria_label=text)


def _releases(marks: Sequence[Mark], step: float, width: float) -> list[str]:
    """A line before the first commit that holds a release, and its name where there is room."""
    found, free = [], LABEL
    for one in marks:
        x = _x(one.at, step) - step / 2
        found.append(svg.path(f"M{x:.1f} {TOP:.0f}V{FOOT - 12:.0f}", "marker-line"))
        at = min(max(x, LABEL / 2), width - LABEL / 2)
        if at >= free and at <= width - LABEL:
            found.append(_release_name(one, at))
            free = at + LABEL
    return found


def _release_name(one: Mark, x: float) -> str:
    name = svg.label(one.name, x=x, y=FOOT, class_="middle")
    return svg.element("a", name, href=one.href, aria_label=f"release {one.name}")


def _labels(bars: Sequence[Bar], step: float, scale: float, width: float) -> list[str]:
    """Size and revision of the largest changes, as far as they do not touch one another."""
    taken: list[tuple[float, bool]] = []
    found = []
    for one in sorted(bars, key=lambda bar: -abs(bar.percent)):
        x, up = _x(one.at, step), one.verdict == "better"
        if any(abs(x - other) < LABEL and up == side for other, side in taken):
            continue
        taken.append((x, up))
        found += _label(one, min(max(x, LABEL / 2), width - LABEL / 2), _end(one, scale))
    return found


def _label(one: Bar, x: float, y: float) -> list[str]:
    text = f"{MARKS[one.verdict]} {percent(one.percent)} %"
    if one.verdict == "better":
        return [svg.label(text, x=x, y=y - 5, class_=f"middle strong {one.verdict}")]
    return [
        svg.label(text, x=x, y=min(y + 13, FOOT - 13), class_=f"middle strong {one.verdict}"),
        svg.label(one.name, x=x, y=min(y + 25, FOOT - 1), class_="mono ink middle"),
    ]
