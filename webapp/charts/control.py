"""The control chart of a canary as an image made on the server. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, tick_texts, ticks, y_range
from webapp.charts.svg import MARGINS

WIDTH = 1080.0
HEIGHT = 280.0
LABELS = 7
RADIUS = 3.0
OUTSIDE = 6.0


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


def draw(control: Control) -> str:
    """The SVG of a canary's boots."""
    x = Scale(-0.5, max(len(control.values), 1) - 0.5, MARGINS.left, WIDTH - MARGINS.right)
    ends = control.lines or ()
    y = Scale(*y_range([*control.values, *ends]), HEIGHT - MARGINS.bottom, MARGINS.top)
    dots = [(x(at), y.clamped(value)) for at, value in enumerate(control.values)]
    return svg.document(
        *_frame(control, x, y),
        *_limits(control, x, y),
        svg.element("polyline", points=svg.points(dots)),
        *_dots(control, dots),
        width=WIDTH,
        height=HEIGHT,
        described=f"{control.title}: {len(dots)} boots in the order of time",
        class_="control",
    )


def _frame(control: Control, x: Scale, y: Scale) -> list[str]:
    base = y.start
    parts = [svg.label(control.title, x=4.0, y=MARGINS.top - 10.0, class_="axis-title")]
    values = ticks(y.low, y.high)
    for value, text in zip(values, tick_texts(values), strict=True):
        at = y(value)
        parts.append(svg.element("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid"))
        parts.append(svg.label(text, x=x.start - 6, y=at + 4, class_="tick end"))
    parts.append(svg.element("line", x1=x.start, x2=x.end, y1=base, y2=base, class_="axis"))
    parts += [
        svg.label(control.days[at], x=x(at), y=base + 18, class_="tick middle")
        for at in spread_labels(len(control.days), LABELS)
    ]
    return parts


def _limits(control: Control, x: Scale, y: Scale) -> list[str]:
    if control.lines is None:
        return []
    names = ("limit", "centre", "limit")
    return [
        svg.element("line", x1=x.start, x2=x.end, y1=y(at), y2=y(at), class_=name)
        for name, at in zip(names, control.lines, strict=True)
    ]


def _dots(control: Control, dots: Sequence[tuple[float, float]]) -> list[str]:
    """A dot each; a diamond where it lies outside, so that colour does not stand alone."""
    return [
        svg.element("polygon", points=_diamond(*dot), class_="outside")
        if side
        else svg.element("circle", cx=dot[0], cy=dot[1], r=RADIUS, class_="last")
        for dot, side in zip(dots, control.sides, strict=True)
    ]


def _diamond(x: float, y: float) -> str:
    return svg.points([(x, y - OUTSIDE), (x + OUTSIDE, y), (x, y + OUTSIDE), (x - OUTSIDE, y)])
