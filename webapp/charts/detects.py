"""The smallest change that each of several series could prove, as dots on one log axis. Pure."""

from collections.abc import Sequence
from math import log10

from webapp.charts import svg
from webapp.charts.text import half_width

WIDTH = 150.0
HEIGHT = 30.0
TICKS = (1, 2, 5, 10, 20, 50)
LOW, HIGH = 0.8, 70.0
INSET = 8.0


def draw(percents: Sequence[float]) -> str:
    """One dot a series, further left is better; what lies beyond the axis stands at its end."""
    lines = "".join(f"M{_x(tick):.1f} 3V24" for tick in TICKS)
    dots = "".join(f"M{_x(one):.1f} 14h0" for one in percents)
    children = (
        svg.element("path", d=lines, class_="grid"),
        svg.element("path", d=f"M4 24H{WIDTH - 4:.0f}", class_="axis"),
        *([svg.element("path", d=dots, class_="detects")] if percents else []),
    )
    return svg.document(
        *children, width=WIDTH, height=HEIGHT, described=_described(percents), class_="log-axis"
    )


def axis() -> str:
    """The figures of the axis, for the head of the column."""
    return svg.element(
        "svg",
        *(svg.label(tick, x=_x(tick), y=11.0, class_="middle") for tick in TICKS),
        viewBox=f"0 0 {WIDTH:.0f} 14",
        width=WIDTH,
        height=14,
        aria_hidden="true",
    )


def _x(percent: float) -> float:
    share = (log10(min(max(percent, LOW), HIGH)) - log10(LOW)) / (log10(HIGH) - log10(LOW))
    return INSET + share * (WIDTH - 2 * INSET)


def _described(percents: Sequence[float]) -> str:
    if not percents:
        return "nothing is known yet of what its series can prove"
    return f"from {half_width(min(percents))} to {half_width(max(percents))} %"
