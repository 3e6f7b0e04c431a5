"""The samples of several sets side by side, one dot each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, ticks, y_range
from webapp.charts.text import number

WIDTH = 720.0
ROW = 26.0
AXIS = 24.0
LABEL_ROOM = 150.0
RIGHT = 18.0
RADIUS = 3.0
LABEL_LENGTH = 22
LABEL_HEAD = 8
"""Characters of a longer label that stand before the cut: a revision."""

LANES = (0.0, -6.0, 6.0)
"""Where dots that would cover one another go, in user units from the middle of their row."""

MOST_DOTS = 400
"""Of a larger set every k-th sample in order of size is drawn; extremes stay."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One set: its label, its samples and the ends of the 95 % interval of its mean, if known."""

    label: str
    samples: Sequence[float]
    mean: float
    interval: tuple[float, float] | None


def draw(strips: Sequence[Strip], *, unit: str) -> str:
    """The SVG: a row of dots for each set, a bar for the interval of its mean, one common axis."""
    height = ROW * len(strips) + AXIS
    x = Scale(*y_range([value for strip in strips for value in strip.samples]), *_room())
    rows = [_row(strip, index, x) for index, strip in enumerate(strips)]
    return svg.document(
        *_axis(x, height - AXIS, unit),
        *rows,
        width=WIDTH,
        height=height,
        described="Samples of " + ", ".join(strip.label for strip in strips),
        class_="strip",
    )


def _room() -> tuple[float, float]:
    return LABEL_ROOM, WIDTH - RIGHT


def _axis(x: Scale, base: float, unit: str) -> list[str]:
    parts = []
    for value in ticks(x.low, x.high):
        parts.append(svg.element("line", x1=x(value), x2=x(value), y1=0, y2=base, class_="grid"))
        parts.append(svg.label(number(value), x=x(value), y=base + 15, class_="tick middle"))
    parts.append(svg.label(unit, x=4.0, y=base + 15, class_="tick"))
    return parts


def _row(strip: Strip, index: int, x: Scale) -> str:
    middle = ROW * (index + 0.5)
    text = svg.label(_short(strip.label), x=LABEL_ROOM - 10, y=middle + 4, class_="name end")
    return svg.element("g", text, *_interval(strip, middle, x), *_dots(strip, middle, x))


def _interval(strip: Strip, middle: float, x: Scale) -> list[str]:
    mean = x.clamped(strip.mean)
    tick = svg.element("line", x1=mean, x2=mean, y1=middle - 9, y2=middle + 9, class_="mean")
    if strip.interval is None:
        return [tick]
    low, high = (x.clamped(end) for end in strip.interval)
    bar = svg.element(
        "rect", x=low, y=middle - 9, width=max(high - low, 0.5), height=18, class_="interval"
    )
    return [bar, tick]


def _dots(strip: Strip, middle: float, x: Scale) -> list[str]:
    dots = []
    free_from = dict.fromkeys(LANES, float("-inf"))
    for value in _thinned(sorted(strip.samples)):
        at = x(value)
        lane = next((lane for lane in LANES if free_from[lane] <= at), LANES[0])
        free_from[lane] = at + 2 * RADIUS
        dots.append(svg.element("circle", cx=at, cy=middle + lane, r=RADIUS, class_="sample"))
    return dots


def _thinned(ordered: list[float]) -> list[float]:
    step = -(-len(ordered) // MOST_DOTS)
    return ordered if step <= 1 else [*ordered[:-1:step], ordered[-1]]


def _short(text: str) -> str:
    """Cut in the middle: sets of one comparison begin alike and differ at the end (``+VIMAGE``)."""
    if len(text) <= LABEL_LENGTH:
        return text
    return f"{text[:LABEL_HEAD]}…{text[LABEL_HEAD + 1 - LABEL_LENGTH :]}"
