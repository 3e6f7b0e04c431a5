"""The intervals of a comparison as one picture: what `webapp.charts.forest` draws row by row on a
page. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from webapp.charts import svg
from webapp.charts.forest import Reach, percent_label, ticks_of
from webapp.charts.text import change_within

SCALE, NAMES, FIGURES = 380.0, 330.0, 150.0
"""What the scale takes, the names at the left of it at least, and the figures at the right."""

ROW, AXIS = 24.0, 22.0
LETTER = 6.4
"""The width of a character of a name, which is never cut."""


@dataclass(frozen=True, slots=True)
class Row:
    """One interval; ``kind`` as `webapp.charts.forest.row` has it."""

    name: str
    percent: float | None
    low: float | None
    high: float | None
    kind: str


def draw(reach: Reach, rows: Sequence[Row], *, described: str) -> str:
    """The rows on one scale, with name and figures beside each."""
    names = max([NAMES, *(LETTER * len(row.name) for row in rows)])
    width, high = names + SCALE + FIGURES, AXIS + ROW * len(rows)

    def x(percent: float) -> float:
        return names + (SCALE - 16) * reach.position(percent) / 100

    lines = "".join(f"M{x(tick):.1f} {AXIS:.0f}V{high:.0f}" for tick in ticks_of(reach) if tick)
    zero = f"M{x(0.0):.1f} {AXIS:.0f}V{high:.0f}"
    left, right = x(-reach.margin), x(reach.margin)
    area = {"x": left, "y": AXIS, "width": right - left, "height": high - AXIS}
    children = (
        svg.element("rect", **area, class_="margin"),
        svg.element("path", d=lines or "M0 0", class_="grid"),
        svg.element("path", d=zero, class_="zero"),
        *(
            svg.label(percent_label(tick), x=x(tick), y=14.0, class_="middle")
            for tick in ticks_of(reach)
        ),
        *(
            part
            for at, row in enumerate(rows)
            for part in _row(row, x, AXIS + ROW * (at + 0.5), width)
        ),
    )
    return svg.document(*children, width=width, height=high + 4, described=described)


def _row(row: Row, x: Callable[[float], float], middle: float, width: float) -> list[str]:
    css_class = row.kind if row.kind in {"worse", "better"} else "ink"
    figures = f"{change_within(row.percent, row.low, row.high)} %"
    parts = [
        svg.label(row.name, x=0.0, y=middle + 4, class_="ink"),
        svg.label(figures, x=width, y=middle + 4, class_=f"end {css_class}"),
    ]
    if row.low is not None and row.high is not None:
        start, end = x(row.low), x(row.high)
        bar = svg.element(
            "rect",
            x=start,
            y=middle - 3,
            width=max(end - start, 1.0),
            height=6.0,
            rx=2.0,
            class_=f"iv {row.kind}",
        )
        parts.append(bar)
    if row.percent is not None and isfinite(row.percent):
        at = x(row.percent)
        parts.append(svg.element("circle", cx=at, cy=middle, r=4.4, class_=f"spot {row.kind}"))
    return parts
