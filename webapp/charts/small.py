"""Small charts as images made on the server: what a metric was at each value of a knob; the boots
of a canary within its limits; the samples of several sets side by side, one dot each. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, tick_texts, ticks, y_range
from webapp.charts.svg import MARGINS, SeriesStyle

CURVE_WIDTH = 720.0
CURVE_HEIGHT = 260.0
CURVE_RADIUS = 3.5
LABEL_ROOM = 44.0
"""Pixels between two labels of the values, at the least."""

FAR_APART = 50.0
"""From this ratio on the values stand on a logarithmic axis: tables of 1 K to 16 M states."""

CONTROL_WIDTH = 1080.0
CONTROL_HEIGHT = 280.0
LABELS = 7
BOOT_RADIUS = 3.0
OUTSIDE = 6.0

STRIP_WIDTH = 560.0
ROW = 44.0
LABEL = 16.0
"""Of a row, for its label: whole, above its dots, for sets differ at the end of long labels."""

AXIS = 24.0
SIDE = 12.0
SAMPLE_RADIUS = 3.2
LONGEST = 84
"""Characters of a label that fit into the width."""

UNIT_CHARACTER, HALF_A_NUMBER = 6.0, 26.0
"""Widths at the axis: a number that would cover the unit is left out."""

LANES = (0.0, -6.0, 6.0)
"""Where dots that would cover one another go, in user units from the middle of their row."""

MOST_DOTS = 400
"""Of a larger set every k-th sample in order of size is drawn; extremes stay."""


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


def draw_curve(levels: Sequence[Level], *, knob: str, unit: str, style: SeriesStyle) -> str:
    """The SVG: a dot for each value, a bar from the smallest to the largest sample."""
    values = [one.value for one in levels]
    logarithmic = is_logarithmic(values)
    x = _x_of(values, logarithmic=logarithmic)
    bars = [end for one in levels for end in (one.low, one.high)]
    y = Scale(
        *y_range([one.median for one in levels], bars, bars),
        CURVE_HEIGHT - MARGINS.bottom,
        MARGINS.top,
    )
    places = [log10(value) if logarithmic else value for value in values]
    dots = [(x(at), y(one.median)) for at, one in zip(places, levels, strict=True)]
    return svg.document(
        *_curve_frame(levels, [at for at, _ in dots], y, knob, unit),
        svg.element(
            "g",
            *(_bar(at, one, y) for (at, _), one in zip(dots, levels, strict=True)),
            svg.element("polyline", points=svg.points(dots)),
            *(
                svg.element("circle", cx=at, cy=up, r=CURVE_RADIUS, class_="last")
                for at, up in dots
            ),
            class_=style.css_class,
        ),
        width=CURVE_WIDTH,
        height=CURVE_HEIGHT,
        described=f"{unit} at {len(levels)} values of {knob}",
        class_="curve",
    )


def _x_of(values: Sequence[float], *, logarithmic: bool) -> Scale:
    places = [log10(value) if logarithmic else value for value in values]
    low, high = min(places, default=0.0), max(places, default=1.0)
    pad = (high - low) * 0.04 or abs(low) * 0.5 or 1.0
    return Scale(low - pad, high + pad, MARGINS.left, CURVE_WIDTH - MARGINS.right)


def _bar(at: float, one: Level, y: Scale) -> str:
    ends = [(at, y.clamped(one.low)), (at, y.clamped(one.high))]
    return svg.element("polyline", points=svg.points(ends), class_="whiskers")


def _curve_frame(
    levels: Sequence[Level], positions: Sequence[float], y: Scale, knob: str, unit: str
) -> list[str]:
    right, base = CURVE_WIDTH - MARGINS.right, y.start
    parts = _grid(y, right, unit)
    last = float("-inf")
    for at, one in zip(positions, levels, strict=True):
        if at - last >= LABEL_ROOM:
            parts.append(svg.label(f"{one.value:g}", x=at, y=base + 16, class_="tick middle"))
            last = at
    parts.append(svg.label(knob, x=right, y=base + 34, class_="tick end"))
    return parts


def _grid(y: Scale, right: float, title: str) -> list[str]:
    """The vertical axis with its title and its lines, which reach to ``right``, and the base."""
    left = float(MARGINS.left)
    parts = [svg.label(title, x=4.0, y=MARGINS.top - 10.0, class_="axis-title")]
    values = ticks(y.low, y.high)
    for value, text in zip(values, tick_texts(values), strict=True):
        at = y(value)
        parts.append(svg.element("line", x1=left, x2=right, y1=at, y2=at, class_="grid"))
        parts.append(svg.label(text, x=left - 6, y=at + 4, class_="tick end"))
    base = y.start
    return [*parts, svg.element("line", x1=left, x2=right, y1=base, y2=base, class_="axis")]


@dataclass(frozen=True, slots=True)
class Control:
    """What is drawn, columns of one length in the order of time: the value of each boot, on which
    ``days`` it was measured, and whether it lies above (1), below (-1) or within (0) its limits.
    ``lines`` are the low limit, the centre and the high limit; None where nothing is known yet.
    """

    values: Sequence[float]
    days: Sequence[str]
    sides: Sequence[int]
    lines: tuple[float, float, float] | None
    title: str


def draw_control(control: Control) -> str:
    """The SVG of a canary's boots."""
    x = Scale(-0.5, max(len(control.values), 1) - 0.5, MARGINS.left, CONTROL_WIDTH - MARGINS.right)
    ends = control.lines or ()
    y = Scale(*y_range([*control.values, *ends]), CONTROL_HEIGHT - MARGINS.bottom, MARGINS.top)
    dots = [(x(at), y.clamped(value)) for at, value in enumerate(control.values)]
    return svg.document(
        *_control_frame(control, x, y),
        *_limits(control, x, y),
        svg.element("polyline", points=svg.points(dots)),
        *_boots(control, dots),
        width=CONTROL_WIDTH,
        height=CONTROL_HEIGHT,
        described=f"{control.title}: {len(dots)} boots in the order of time",
        class_="control",
    )


def _control_frame(control: Control, x: Scale, y: Scale) -> list[str]:
    days = [
        svg.label(control.days[at], x=x(at), y=y.start + 18, class_="tick middle")
        for at in spread_labels(len(control.days), LABELS)
    ]
    return [*_grid(y, x.end, control.title), *days]


def _limits(control: Control, x: Scale, y: Scale) -> list[str]:
    if control.lines is None:
        return []
    names = ("limit", "centre", "limit")
    return [
        svg.element("line", x1=x.start, x2=x.end, y1=y(at), y2=y(at), class_=name)
        for name, at in zip(names, control.lines, strict=True)
    ]


def _boots(control: Control, dots: Sequence[tuple[float, float]]) -> list[str]:
    """A dot each; a diamond where it lies outside, so that colour does not stand alone."""
    return [
        svg.element("polygon", points=_diamond(*dot), class_="outside")
        if side
        else svg.element("circle", cx=dot[0], cy=dot[1], r=BOOT_RADIUS, class_="last")
        for dot, side in zip(dots, control.sides, strict=True)
    ]


def _diamond(x: float, y: float) -> str:
    return svg.points([(x, y - OUTSIDE), (x + OUTSIDE, y), (x, y + OUTSIDE), (x - OUTSIDE, y)])


@dataclass(frozen=True, slots=True)
class Strip:
    """One set: its label, its samples and the ends of the 95 % interval of its mean, if known."""

    label: str
    samples: Sequence[float]
    mean: float
    interval: tuple[float, float] | None


def draw_strips(strips: Sequence[Strip], *, unit: str) -> str:
    """The SVG: a row of dots for each set, a bar for the interval of its mean, one common axis."""
    height = ROW * len(strips) + AXIS
    x = Scale(
        *y_range([value for strip in strips for value in strip.samples]), SIDE, STRIP_WIDTH - SIDE
    )
    rows = [_row(strip, index, x) for index, strip in enumerate(strips)]
    return svg.document(
        *_axis(x, height - AXIS, unit),
        *rows,
        width=STRIP_WIDTH,
        height=height,
        described="Samples of " + ", ".join(strip.label for strip in strips),
        class_="strip-chart",
    )


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
    dots = _samples(strip, middle, x)
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


def _samples(strip: Strip, middle: float, x: Scale) -> list[str]:
    dots = []
    free_from = dict.fromkeys(LANES, float("-inf"))
    for value in _thinned(sorted(strip.samples)):
        at = x(value)
        lane = next((lane for lane in LANES if free_from[lane] <= at), LANES[0])
        free_from[lane] = at + 2 * SAMPLE_RADIUS
        dots.append(
            svg.element("circle", cx=at, cy=middle + lane, r=SAMPLE_RADIUS, class_="sample")
        )
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
