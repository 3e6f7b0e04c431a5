"""An interval around zero as a small bar; all bars of a column share one scale. Pure."""

from webapp.charts import svg
from webapp.charts.text import interval

WIDTH = 92.0
HEIGHT = 14.0
EDGE = 3.0
LEAST_WIDTH = 1.5
ARROW = 5.0


def draw(low: float, high: float, *, reach: float, verdict: str = "") -> str:
    """The SVG of ``low … high`` in percent on a scale of ± ``reach`` percent.

    Where an end lies beyond the scale an arrow leaves it. ``verdict`` colours it: "worse",
    "better", or empty.
    """
    middle = WIDTH / 2
    unit = (middle - EDGE) / reach
    start = min(max(middle + low * unit, EDGE), WIDTH - EDGE)
    end = min(max(middle + high * unit, EDGE), WIDTH - EDGE)
    colour = {"worse": "bw", "better": "bb"}.get(verdict, "bn")
    half = HEIGHT / 2
    children = [
        svg.element("path", d=f"M1 {half:.0f}H{WIDTH - 1:.0f}", class_="grid"),
        svg.element("path", d=f"M{middle:.0f} 1V{HEIGHT - 1:.0f}", class_="zero"),
        svg.element(
            "rect",
            x=start,
            y=half - 2.5,
            width=max(end - start, LEAST_WIDTH),
            height=5.0,
            rx=1.5,
            class_=colour,
            opacity=".45",
        ),
    ]
    centre = middle + (low + high) / 2 * unit
    if EDGE <= centre <= WIDTH - EDGE:
        children.append(
            svg.element(
                "rect", x=centre - 1.25, y=2.0, width=2.5, height=10.0, rx=1.0, class_=colour
            )
        )
    children += [_arrow(tip, half, colour) for tip in _leaving(low, high, reach)]
    return svg.element(
        "svg",
        *children,
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
        aria_label=f"{interval(low, high)} %",
        class_="dbar",
    )


def _leaving(low: float, high: float, reach: float) -> list[int]:
    """The sides on which the interval leaves the scale: −1, 1, both or none."""
    return [side for side, end in ((-1, low), (1, high)) if side * end > reach]


def _arrow(side: int, half: float, colour: str) -> str:
    tip = WIDTH / 2 + side * (WIDTH / 2)
    back = tip - side * ARROW
    return svg.element(
        "path", d=f"M{tip:.1f} {half:.1f}L{back:.1f} {half - 4:.1f}V{half + 4:.1f}z", class_=colour
    )
