"""Small bars side by side (runs a day, the chances of the commits of a bisect), the smallest change
that each of several series could prove, as dots on one log axis, and an interval around zero, of
which all of a column share one scale. Pure.
"""

from collections.abc import Sequence
from math import log10

from webapp.charts import svg
from webapp.charts.text import half_width, interval

EDGE = 5.0
FEW = 5
"""Of fewer the interval is hatched, and no dot claims a share."""

WIDTH, HEIGHT = 560.0, 130.0
TOP, BASE = 18.0, 106.0
FILLED = 0.86
"""Of the width of a class is its bar."""

GAP = 0.3
"""Of the width of a bar."""
LEAST_HEIGHT = 1.5

LOG_WIDTH = 150.0
LOG_HEIGHT = 30.0
TICKS = (1, 2, 5, 10, 20, 50)
LOW, HIGH = 0.8, 70.0
INSET = 8.0


def draw(counts: Sequence[float], *, width: float, height: float, described: str) -> str:
    """The SVG of ``counts`` in their order; where one is 0 there is no bar, but a dotted line."""
    step = width / max(len(counts), 1)
    most = max(counts, default=0) or 1
    wide = step * (1 - GAP)
    bars = "".join(
        f"M{step * index:.1f} {height:.0f}h{wide:.1f}v-{_height(count, most, height):.1f}"
        f"h-{wide:.1f}z"
        for index, count in enumerate(counts)
        if count
    )
    children = [
        svg.path(f"M0 {height - 0.5:.1f}H{width:.0f}", "grid dotted"),
        svg.path(bars, "bar"),
    ]
    return svg.document(*children, width=width, height=height, described=described, class_="bars")


def _height(count: float, most: float, height: float) -> float:
    return max(count / most * height, LEAST_HEIGHT)


def draw_counts(counts: Sequence[tuple[str, int]], *, described: str) -> str:
    """The SVG of ``counts``: the name of each class, and how many; bars begin at zero."""
    step = WIDTH / max(len(counts), 1)
    unit = (BASE - TOP) / max(1, *(count for _, count in counts), 1)
    parts = [svg.path(f"M0 {BASE:.0f}H{WIDTH:.0f}", "axis")]
    for index, (name, count) in enumerate(counts):
        middle, high = step * (index + 0.5), unit * count
        box = {"x": middle - step * FILLED / 2, "y": BASE - high, "width": step * FILLED}
        if count:
            parts.append(svg.element("rect", **box, height=high, class_="bn"))
            parts.append(svg.label(count, x=middle, y=BASE - high - 5, class_="middle"))
        parts.append(svg.label(name, x=middle, y=BASE + 16, class_="tick middle"))
    return svg.document(*parts, width=WIDTH, height=HEIGHT, described=described, class_="counts")


def draw_share(share: float, low: float, high: float, *, total: int) -> str:
    """The SVG of the 95 % interval ``low`` to ``high`` on a scale from nothing to all (0 to 1), and
    a dot at the ``share`` that was counted of ``total``.
    """
    unit = WIDTH - 2 * EDGE
    start, at, end = (EDGE + unit * part for part in (low, share, high))
    middle = HEIGHT / 2
    described = f"{100 * low:.0f} to {100 * high:.0f} %"
    scale = f"M{EDGE:.0f} {middle:.0f}H{WIDTH - EDGE:.0f}" + "".join(
        f"M{EDGE + unit * part:.1f} {middle - 4:.0f}v8" for part in (0.0, 0.5, 1.0)
    )
    is_few = total < FEW
    bar = {"x": start, "y": middle - 3, "width": max(end - start, 1.5), "height": 6.0, "rx": 2.0}
    return svg.document(
        svg.path(scale, "grid"),
        svg.element("rect", **bar, class_="skipped" if is_few else "bn"),
        *([] if is_few else [svg.element("circle", cx=at, cy=middle, r=4.0, class_="at")]),
        width=WIDTH,
        height=HEIGHT,
        described=described,
        class_="share",
    )


def draw_detectable(percents: Sequence[float]) -> str:
    """One dot a series, further left is better; what lies beyond the axis stands at its end."""
    lines = "".join(f"M{_detectable_x(tick):.1f} 3V24" for tick in TICKS)
    dots = "".join(f"M{_detectable_x(one):.1f} 14h0" for one in percents)
    children = (
        svg.path(lines, "grid"),
        svg.path(f"M4 24H{LOG_WIDTH - 4:.0f}", "axis"),
        svg.path(dots, "detects"),
    )
    return svg.document(
        *children,
        width=LOG_WIDTH,
        height=LOG_HEIGHT,
        described=_described(percents),
        class_="log-axis",
    )


def detectable_axis() -> str:
    """The figures of the axis, for the head of the column."""
    return svg.element(
        "svg",
        *(svg.label(tick, x=_detectable_x(tick), y=11.0, class_="middle") for tick in TICKS),
        viewBox=f"0 0 {LOG_WIDTH:.0f} 14",
        width=LOG_WIDTH,
        height=14,
        aria_hidden="true",
    )


def _detectable_x(percent: float) -> float:
    share = (log10(min(max(percent, LOW), HIGH)) - log10(LOW)) / (log10(HIGH) - log10(LOW))
    return INSET + share * (LOG_WIDTH - 2 * INSET)


def _described(percents: Sequence[float]) -> str:
    if not percents:
        return "nothing is known yet of what its series can prove"
    return f"from {half_width(min(percents))} to {half_width(max(percents))} %"


INTERVAL_WIDTH = 92.0
INTERVAL_HEIGHT = 14.0
INTERVAL_EDGE = 3.0
LEAST_WIDTH = 1.5
ARROW = 5.0

INTERVAL_MIDDLE = f"{INTERVAL_HEIGHT / 2:.0f}"
COLOURS = {"worse": "bw", "better": "bb"}


def draw_interval(
    low: float, high: float, *, reach: float, verdict: str = "", width: float = INTERVAL_WIDTH
) -> str:
    """The SVG of ``low … high`` in percent on a scale of ± ``reach`` percent, ``width`` pixels.

    Where an end lies beyond the scale an arrow leaves it: from zero on, where both do. ``verdict``
    colours it: "worse", "better", or empty.
    """
    half = width / 2
    unit = (half - INTERVAL_EDGE) / reach
    # Of what lies beyond the scale all there is to see is the way to its edge.
    first, last = (0.0, high) if low > reach else (low, 0.0) if high < -reach else (low, high)
    start = min(max(half + first * unit, INTERVAL_EDGE), width - INTERVAL_EDGE)
    end = min(max(half + last * unit, INTERVAL_EDGE), width - INTERVAL_EDGE)
    centre = half + (low + high) / 2 * unit
    long = max(end - start, LEAST_WIDTH)
    colour = COLOURS.get(verdict, "bn")
    mark = (
        f'<rect class="{colour}" x="{centre - 1.25:.1f}" y="2" width="2.5" height="10" rx="1"/>'
        if INTERVAL_EDGE <= centre <= width - INTERVAL_EDGE
        else ""
    )
    arrows = "".join(_end_arrow(side, width, colour) for side in _leaving(low, high, reach))
    return (
        f'<svg class="dbar" viewBox="0 0 {width:.0f} {INTERVAL_HEIGHT:.0f}" width="{width:.0f}" '
        f'height="{INTERVAL_HEIGHT:.0f}" role="img" aria-label="{interval(low, high)} %">'
        f'<path class="grid" d="M1 {INTERVAL_MIDDLE}H{width - 1:.0f}"/>'
        f'<path class="zero" d="M{half:.0f} 1V{INTERVAL_HEIGHT - 1:.0f}"/>'
        f'<rect class="{colour}" x="{start:.1f}" y="4.5" width="{long:.1f}" '
        f'height="5" rx="1.5" opacity=".45"/>{mark}{arrows}</svg>'
    )


def _leaving(low: float, high: float, reach: float) -> list[int]:
    """The sides on which the interval leaves the scale: −1, 1, both or none."""
    return [side for side, end in ((-1, low), (1, high)) if side * end > reach]


def _end_arrow(side: int, width: float, colour: str) -> str:
    tip = width / 2 + side * (width / 2)
    back, half = tip - side * ARROW, INTERVAL_HEIGHT / 2
    return (
        f'<path class="{colour}" '
        f'd="M{tip:.1f} {INTERVAL_MIDDLE}L{back:.1f} {half - 4:.0f}V{half + 4:.0f}z"/>'
    )
