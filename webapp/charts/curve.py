"""What a metric was at each value of a knob, as an image made on the server. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from webapp.charts import svg
from webapp.charts.scale import Scale, tick_texts, ticks, y_range
from webapp.charts.svg import MARGINS, SeriesStyle

WIDTH = 720.0
HEIGHT = 260.0
RADIUS = 3.5
LABEL_ROOM = 44.0
"""Pixels between two labels of the values, at the least."""

FAR_APART = 50.0
"""From this ratio on the values stand on a logarithmic axis: tables of 1 K to 16 M states."""


@dataclass(frozen=True, slots=True)
class Level:
    """At the knob's ``value``: the median of the samples, the smallest and the largest."""

    value: float
    median: float
    low: float
    high: float


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether the axis of these values is logarithmic."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= FAR_APART


def draw(levels: Sequence[Level], *, knob: str, unit: str, style: SeriesStyle) -> str:
    """The SVG: a dot for each value, a bar from the smallest to the largest sample."""
    values = [one.value for one in levels]
    logarithmic = is_logarithmic(values)
    x = _x_of(values, logarithmic=logarithmic)
    bars = [end for one in levels for end in (one.low, one.high)]
    y = Scale(
        *y_range([one.median for one in levels], bars, bars),
        HEIGHT - MARGINS.bottom,
        MARGINS.top,
    )
    places = [log10(value) if logarithmic else value for value in values]
    dots = [(x(at), y(one.median)) for at, one in zip(places, levels, strict=True)]
    return svg.document(
        *_frame(levels, [at for at, _ in dots], y, knob, unit),
        svg.element(
            "g",
            *(_bar(at, one, y) for (at, _), one in zip(dots, levels, strict=True)),
            svg.element("polyline", points=svg.points(dots)),
            *(svg.element("circle", cx=at, cy=up, r=RADIUS, class_="last") for at, up in dots),
            class_=style.css_class,
        ),
        width=WIDTH,
        height=HEIGHT,
        described=f"{unit} at {len(levels)} values of {knob}",
        class_="curve",
    )


def _x_of(values: Sequence[float], *, logarithmic: bool) -> Scale:
    places = [log10(value) if logarithmic else value for value in values]
    low, high = min(places, default=0.0), max(places, default=1.0)
    pad = (high - low) * 0.04 or abs(low) * 0.5 or 1.0
    return Scale(low - pad, high + pad, MARGINS.left, WIDTH - MARGINS.right)


def _bar(at: float, one: Level, y: Scale) -> str:
    ends = [(at, y.clamped(one.low)), (at, y.clamped(one.high))]
    return svg.element("polyline", points=svg.points(ends), class_="whiskers")


def _frame(
    levels: Sequence[Level], positions: Sequence[float], y: Scale, knob: str, unit: str
) -> list[str]:
    right, base = WIDTH - MARGINS.right, y.start
    parts = [svg.label(unit, x=4.0, y=MARGINS.top - 10.0, class_="axis-title")]
    values = ticks(y.low, y.high)
    for value, text in zip(values, tick_texts(values), strict=True):
        at = y(value)
        parts.append(
            svg.element("line", x1=float(MARGINS.left), x2=right, y1=at, y2=at, class_="grid")
        )
        parts.append(svg.label(text, x=MARGINS.left - 6.0, y=at + 4, class_="tick end"))
    parts.append(
        svg.element("line", x1=float(MARGINS.left), x2=right, y1=base, y2=base, class_="axis")
    )
    last = float("-inf")
    for at, one in zip(positions, levels, strict=True):
        if at - last >= LABEL_ROOM:
            parts.append(svg.label(f"{one.value:g}", x=at, y=base + 16, class_="tick middle"))
            last = at
    parts.append(svg.label(knob, x=right, y=base + 34, class_="tick end"))
    return parts
