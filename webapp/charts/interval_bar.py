"""An interval around zero as a small bar; all bars of a column share one scale. Pure.

Written as text at once, not by `svg.element`: the table of a commit has hundreds of bars.
"""

from webapp.charts.text import interval

WIDTH = 92.0
HEIGHT = 14.0
EDGE = 3.0
LEAST_WIDTH = 1.5
ARROW = 5.0

MIDDLE = f"{HEIGHT / 2:.0f}"
COLOURS = {"worse": "bw", "better": "bb"}


def draw(low: float, high: float, *, reach: float, verdict: str = "", width: float = WIDTH) -> str:
    """The SVG of ``low … high`` in percent on a scale of ± ``reach`` percent, ``width`` pixels.

    Where an end lies beyond the scale an arrow leaves it: from zero on, where both do. ``verdict``
    colours it: "worse", "better", or empty.
    """
    half = width / 2
    unit = (half - EDGE) / reach
    # Of what lies beyond the scale all there is to see is the way to its edge.
    first, last = (0.0, high) if low > reach else (low, 0.0) if high < -reach else (low, high)
    start = min(max(half + first * unit, EDGE), width - EDGE)
    end = min(max(half + last * unit, EDGE), width - EDGE)
    centre = half + (low + high) / 2 * unit
    long = max(end - start, LEAST_WIDTH)
    colour = COLOURS.get(verdict, "bn")
    mark = (
        f'<rect class="{colour}" x="{centre - 1.25:.1f}" y="2" width="2.5" height="10" rx="1"/>'
        if EDGE <= centre <= width - EDGE
        else ""
    )
    arrows = "".join(_arrow(side, width, colour) for side in _leaving(low, high, reach))
    return (
        f'<svg class="dbar" viewBox="0 0 {width:.0f} {HEIGHT:.0f}" width="{width:.0f}" '
        f'height="{HEIGHT:.0f}" role="img" aria-label="{interval(low, high)} %">'
        f'<path class="grid" d="M1 {MIDDLE}H{width - 1:.0f}"/>'
        f'<path class="zero" d="M{half:.0f} 1V{HEIGHT - 1:.0f}"/>'
        f'<rect class="{colour}" x="{start:.1f}" y="4.5" width="{long:.1f}" '
        f'height="5" rx="1.5" opacity=".45"/>{mark}{arrows}</svg>'
    )


def _leaving(low: float, high: float, reach: float) -> list[int]:
    """The sides on which the interval leaves the scale: −1, 1, both or none."""
    return [side for side, end in ((-1, low), (1, high)) if side * end > reach]


def _arrow(side: int, width: float, colour: str) -> str:
    tip = width / 2 + side * (width / 2)
    back, half = tip - side * ARROW, HEIGHT / 2
    return (
        f'<path class="{colour}" '
        f'd="M{tip:.1f} {MIDDLE}L{back:.1f} {half - 4:.0f}V{half + 4:.0f}z"/>'
    )
