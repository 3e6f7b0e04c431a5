"""The intervals of a comparison as one picture: what `webapp.charts.forest` draws row by row on a
page. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from webapp.charts import svg
from webapp.charts.forest import Reach, percent_label, ticks_of
from webapp.charts.text import change_within

WIDTH, NAMES, FIGURES = 860.0, 330.0, 150.0
"""All of it, what the names take at the left and the figures at the right."""

ROW, AXIS = 24.0, 22.0
LONGEST = 52


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
    high = AXIS + ROW * len(rows)
    lines = "".join(
        f"M{_x(reach, tick):.1f} {AXIS:.0f}V{high:.0f}" for tick in ticks_of(reach) if tick
    )
    zero = f"M{_x(reach, 0.0):.1f} {AXIS:.0f}V{high:.0f}"
    left, right = _x(reach, -reach.margin), _x(reach, reach.margin)
    area = {"x": left, "y": AXIS, "width": right - left, "height": high - AXIS}
    children = (
        svg.element("rect", **area, class_="margin"),
        svg.element("path", d=lines or "M0 0", class_="grid"),
        svg.element("path", d=zero, class_="zero"),
        *(
            svg.label(percent_label(tick), x=_x(reach, tick), y=14.0, class_="middle")
            for tick in ticks_of(reach)
        ),
        *(
            part
            for at, row in enumerate(rows)
            for part in _row(reach, row, AXIS + ROW * (at + 0.5))
        ),
    )
    return svg.document(*children, width=WIDTH, height=high + 4, described=described)


def _row(reach: Reach, row: Row, middle: float) -> list[str]:
    name = row.name if len(row.name) <= LONGEST else f"{row.name[: LONGEST - 1]}…"
    css_class = row.kind if row.kind in {"worse", "better"} else "ink"
    figures = f"{change_within(row.percent, row.low, row.high)} %"
    parts = [
        svg.label(name, x=0.0, y=middle + 4, class_="ink"),
        svg.label(figures, x=WIDTH, y=middle + 4, class_=f"end {css_class}"),
    ]
    if row.low is not None and row.high is not None:
        start, end = _x(reach, row.low), _x(reach, row.high)
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
        at = _x(reach, row.percent)
        parts.append(svg.element("circle", cx=at, cy=middle, r=4.4, class_=f"spot {row.kind}"))
    return parts


def _x(reach: Reach, percent: float) -> float:
    return NAMES + (WIDTH - NAMES - FIGURES - 16) * reach.position(percent) / 100
