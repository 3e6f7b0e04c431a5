"""What a bisect has still to learn, boot by boot, as an image made on the server. Pure."""

from collections.abc import Sequence
from math import ceil

from webapp.charts import svg
from webapp.charts.scale import Scale

WIDTH, HEIGHT = 300.0, 132.0
LEFT, RIGHT, TOP, BASE = 26.0, 290.0, 12.0, 112.0
LINES = 3
"""Lines of the grid above zero."""


def draw(steps: Sequence[tuple[int, float]]) -> str:
    """The SVG of (boots, bits) in their order, at least one; 0 bits is certain."""
    x = Scale(0.0, float(max(steps[-1][0], 1)), LEFT, RIGHT)
    gap = max(ceil(max(bits for _, bits in steps) / LINES), 1)
    y = Scale(0.0, float(LINES * gap), BASE, TOP)
    along = [(x(float(boots)), y(bits)) for boots, bits in steps]
    last_boots, last_bits = steps[-1]
    at, up = along[-1]
    return svg.document(
        *(part for line in range(LINES + 1) for part in _line(y, line * gap)),
        *(_boots(x, boots) for boots in (steps[0][0], last_boots)),
        svg.element("path", class_="lv", d="M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in along)),
        svg.element("circle", cx=at, cy=up, r=3.5, class_="at"),
        svg.label(f"{last_bits:.1f} bits left", x=at - 8, y=max(up - 8, TOP), class_="tick end"),
        width=WIDTH,
        height=HEIGHT,
        described=f"{last_bits:.1f} bits left after {last_boots} boots",
        class_="bits",
    )


def _line(y: Scale, bits: int) -> list[str]:
    at = y(float(bits))
    line = svg.element("path", d=f"M{LEFT:.0f} {at:.1f}H{RIGHT:.0f}", class_="grid")
    return [line, svg.label(bits, x=LEFT - 6, y=at + 4, class_="tick end")]


def _boots(x: Scale, boots: int) -> str:
    return svg.label(boots, x=x(float(boots)), y=BASE + 16, class_="tick middle")
