"""Small bars side by side: runs a day, the chances of the commits of a bisect. Pure."""

from collections.abc import Sequence

from webapp.charts import svg

GAP = 0.3
"""Of the width of a bar."""
LEAST_HEIGHT = 1.5


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
        svg.element("path", d=f"M0 {height - 0.5:.1f}H{width:.0f}", class_="grid dotted"),
        *([svg.element("path", d=bars, class_="bar")] if bars else []),
    ]
    return svg.document(*children, width=width, height=height, described=described, class_="bars")


def _height(count: float, most: float, height: float) -> float:
    return max(count / most * height, LEAST_HEIGHT)
