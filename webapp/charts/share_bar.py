"""The interval of a share between nothing and all as a small bar. Pure."""

from webapp.charts import svg

WIDTH, HEIGHT = 220.0, 16.0
EDGE = 5.0
FEW = 5
"""Of fewer the interval is hatched, and no dot claims a share."""


def draw(share: float, low: float, high: float, *, total: int) -> str:
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
        svg.element("path", d=scale, class_="grid"),
        svg.element("rect", **bar, class_="skipped" if is_few else "bn"),
        *([] if is_few else [svg.element("circle", cx=at, cy=middle, r=4.0, class_="at")]),
        width=WIDTH,
        height=HEIGHT,
        described=described,
        class_="share",
    )
