"""What a bisect has still to learn, boot by boot, as an image made on the server. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from webapp.charts import svg
from webapp.charts.scale import Scale

WIDTH, HEIGHT = 300.0, 132.0
LEFT, RIGHT, TOP, BASE = 26.0, 290.0, 12.0, 112.0
LINES = 3
"""Lines of the grid above zero."""
LABEL = 74.0
"""Pixels that the words at the end of the line take, with their distance from it."""


def draw(steps: Sequence[tuple[int, float]], left: tuple[float, float] | None = None) -> str:
    """The SVG of (boots, bits) in their order, at least one; 0 bits is certain.

    ``left``: within how many more boots half of such searches end, and nine in ten.
    """
    to_come = left[1] if left else 0.0
    x = Scale(0.0, max(steps[-1][0] + to_come, 1.0), LEFT, RIGHT)
    gap = max(ceil(max(bits for _, bits in steps) / LINES), 1)
    y = Scale(0.0, float(LINES * gap), BASE, TOP)
    along = [(x(float(boots)), y(bits)) for boots, bits in steps]
    last_boots, last_bits = steps[-1]
    at, up = along[-1]
    return svg.document(
        *(part for line in range(LINES + 1) for part in _line(y, line * gap)),
        *(_boots(x, boots) for boots in (steps[0][0], last_boots)),
        *(_forecast(x, y, steps[-1], left) if left else ()),
        svg.element("path", class_="lv", d="M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in along)),
        svg.element("circle", cx=at, cy=up, r=3.5, class_="at"),
        _bits_left(last_bits, along, is_going_on=left is not None),
        width=WIDTH,
        height=HEIGHT,
        described=f"{last_bits:.1f} bits left after {last_boots} boots",
        class_="bits",
    )


def _bits_left(bits: float, along: Sequence[tuple[float, float]], *, is_going_on: bool) -> str:
    """What is left, beside the end of the line: behind it where the forecast leaves room."""
    at, up = along[-1]
    text = f"{bits:.1f} bits left"
    if is_going_on and at + LABEL <= RIGHT:
        return svg.label(text, x=at + 8, y=max(up - 6, TOP), class_="tick")
    return svg.label(text, x=at - 8, y=_free(along), class_="tick end")


def _free(along: Sequence[tuple[float, float]]) -> float:
    """The baseline of the label at the end of the line: above what runs where it stands, or below
    where there is no room above."""
    start = along[-1][0] - LABEL
    over = [up for at, up in along if at >= start]
    over += [
        up + (start - at) / (after - at) * (down - up)
        for (at, up), (after, down) in pairwise(along)
        if at < start < after
    ]
    above = min(over) - 8
    return above if above >= TOP else max(over) + 16


def _forecast(x: Scale, y: Scale, now: tuple[int, float], left: tuple[float, float]) -> list[str]:
    """The way to certainty: dashed to where half of such searches end, a band to nine in ten."""
    boots, bits = now
    begin, base = f"M{x(float(boots)):.1f} {y(bits):.1f}", f"{y(0.0):.1f}"
    half, most = (f"L{x(boots + more):.1f} {base}" for more in left)
    return [
        svg.element("path", d=f"{begin}{half}{most}Z", class_="next"),
        svg.element("path", d=f"{begin}{half}", class_="was"),
        _boots(x, round(boots + left[1])),
    ]


def _line(y: Scale, bits: int) -> list[str]:
    at = y(float(bits))
    line = svg.element("path", d=f"M{LEFT:.0f} {at:.1f}H{RIGHT:.0f}", class_="grid")
    return [line, svg.label(bits, x=LEFT - 6, y=at + 4, class_="tick end")]


def _boots(x: Scale, boots: int) -> str:
    return svg.label(boots, x=x(float(boots)), y=BASE + 16, class_="tick middle")
