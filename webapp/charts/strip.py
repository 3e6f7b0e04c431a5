"""The samples of several sets side by side, one dot each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, tick_texts, ticks, y_range

WIDTH = 560.0
ROW = 44.0
LABEL = 16.0
"""Of a row, for its label: whole, above its dots, for sets differ at the end of long labels."""

AXIS = 24.0
SIDE = 12.0
RADIUS = 3.2
LONGEST = 84
"""Characters of a label that fit into the width."""

UNIT_CHARACTER, HALF_A_NUMBER = 6.0, 26.0
"""Widths at the axis: a number that would cover the unit is left out."""

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
        class_="strip-chart",
    )


def _room() -> tuple[float, float]:
    return SIDE, WIDTH - SIDE


def _axis(x: Scale, base: float, unit: str) -> list[str]:
    parts = [svg.label(unit, x=0.0, y=base + 15, class_="tick")]
    free_from = UNIT_CHARACTER * len(unit)
    values = ticks(x.low, x.high)
    for value, text in zip(values, tick_texts(values), strict=True):
        parts.append(svg.element("line", x1=x(value), x2=x(value), y1=0, y2=base, class_="grid"))
        if x(value) - HALF_A_NUMBER > free_from:
            parts.append(svg.label(text, x=x(value), y=base + 15, class_="tick middle"))
    return parts


def _row(strip: Strip, index: int, x: Scale) -> str:
    top = ROW * index
    middle = top + (ROW + LABEL) / 2
    text = svg.label(_short(strip.label), x=0.0, y=top + LABEL - 3, class_="name")
    dots = _dots(strip, middle, x)
    kind = "" if index else "first"
    return svg.element("g", text, *_interval(strip, middle, x), *dots, class_=kind)


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
    """Cut in the middle where it is longer than the picture is wide: sets of one comparison begin
    alike and differ at the end (``+VIMAGE``).
    """
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}…{text[LONGEST // 2 + 1 - LONGEST :]}"
