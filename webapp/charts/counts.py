"""How many fall into each class, as bars with their figures. Pure."""

from collections.abc import Sequence

from webapp.charts import svg

WIDTH, HEIGHT = 560.0, 130.0
TOP, BASE = 18.0, 106.0
FILLED = 0.86
"""Of the width of a class is its bar."""


def draw(counts: Sequence[tuple[str, int]], *, described: str) -> str:
    """The SVG of ``counts``: the name of each class, and how many; bars begin at zero."""
    step = WIDTH / max(len(counts), 1)
    unit = (BASE - TOP) / max(1, *(count for _, count in counts), 1)
    parts = [svg.element("path", d=f"M0 {BASE:.0f}H{WIDTH:.0f}", class_="axis")]
    for index, (name, count) in enumerate(counts):
        middle, high = step * (index + 0.5), unit * count
        box = {"x": middle - step * FILLED / 2, "y": BASE - high, "width": step * FILLED}
        if count:
            parts.append(svg.element("rect", **box, height=high, class_="bn"))
            parts.append(svg.label(count, x=middle, y=BASE - high - 5, class_="middle"))
        parts.append(svg.label(name, x=middle, y=BASE + 16, class_="tick middle"))
    return svg.document(*parts, width=WIDTH, height=HEIGHT, described=described, class_="counts")
