"""The figure of a trend chart drawn on the server: the first paint of its page, all there is
without scripts, and the picture of wikis and READMEs. Pure. It knows as much of Plotly's format as
`webapp.charts.trend.figure` uses, and puts everything where Plotly does; what leaves a lane is cut
off by the drawing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from webapp.charts import svg
from webapp.charts.scale import Scale, Values
from webapp.charts.trend.labels import LETTER, LINE, Json
from webapp.charts.trend.marks import Symbol

TICK_LEFT, TICK_DOWN, BELOW = 1.0, 4.0, 12.0
"""Where Plotly writes the figures of an axis: so far left of it, with their base line so far below
their place; the names under the lowest lane have theirs so far below it."""

BASE = 4.0
"""From the middle of a text of 11 px to its base line."""

HEAD_LINE = 16.0
LINKED = re.compile(r'<a href="([^"]*)" target="_self">(.*)</a>', re.DOTALL)
Point = tuple[float, float]


@dataclass(frozen=True)
class Plot:
    """The scales of a figure, and the names of the clip paths of its lanes."""

    layout: Json
    top: float
    height: float
    width: float
    prefix: str

    @classmethod
    def of(cls, layout: Json) -> "Plot":
        """The plot of a layout."""
        margin = layout["margin"]
        height = layout["height"] - margin["t"] - margin["b"]
        width = layout["width"] - margin["l"] - margin["r"]
        return cls(layout, margin["t"], height, width, f"lane-{layout['width']:.0f}")

    @property
    def left(self) -> float:
        """Where the plot begins."""
        return float(self.layout["margin"]["l"])

    @cached_property
    def x(self) -> Scale:
        """Across."""
        low, high = self.layout["xaxis"]["range"]
        return Scale(low, high, self.left, self.left + self.width)

    @cached_property
    def lanes(self) -> dict[str, Scale]:
        """The vertical axis of each lane, by the name that traces have for it."""
        axes = {
            f"y{key.removeprefix('yaxis')}": axis
            for key, axis in self.layout.items()
            if key.startswith("yaxis")
        }
        return {name: self._lane(axis) for name, axis in axes.items()}

    def _lane(self, axis: Json) -> Scale:
        low, high = axis["range"]
        start, end = (self.top + (1 - share) * self.height for share in axis["domain"])
        return Scale(low, high, start, end)

    def across(self, ref: str) -> Scale:
        """What a shape or an annotation counts in across: the axis, or the paper."""
        return self.x if ref == "x" else Scale(0.0, 1.0, self.left, self.left + self.width)

    def down(self, ref: str) -> Scale:
        """The same up and down: a lane's axis, its domain, or the paper."""
        if ref == "paper":
            return Scale(0.0, 1.0, self.top + self.height, self.top)
        lane = self.lanes[ref.removesuffix(" domain")]
        return Scale(0.0, 1.0, lane.start, lane.end) if ref.endswith("domain") else lane


def draw(
    figure: Json, *, described: str, head: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """The SVG of ``figure``; for a picture that stands alone with lines above (``head``, the first
    of them bold) and below it (``notes``).
    """
    layout, plot = figure["layout"], Plot.of(figure["layout"])
    wide = int((layout["width"] - 8) / LETTER)
    above = [line for text in head for line in wrap(text, wide)]
    below = [line for text in notes for line in wrap(text, wide)]
    height = layout["height"]
    parts = (
        _clips(plot),
        *_grids(plot),
        *(_shape(plot, one) for one in layout["shapes"] if one["layer"] == "below"),
        *(_trace(plot, one) for one in figure["data"]),
        *(_shape(plot, one) for one in layout["shapes"] if one["layer"] == "above"),
        *_ticks(plot),
        *(_annotation(plot, one) for one in layout["annotations"]),
    )
    lead = HEAD_LINE * len(above) + (4 if above else 0)
    body = (
        svg.element("g", *parts, transform=f"translate(0 {lead:.0f})") if lead else "".join(parts)
    )
    return svg.document(
        *(
            svg.label(
                line, x=4.0, y=HEAD_LINE * (at + 1), class_="ink" + (" strong" if not at else "")
            )
            for at, line in enumerate(above)
        ),
        body,
        *(
            svg.label(line, x=4.0, y=lead + height + LINE * at + 8, class_="ink")
            for at, line in enumerate(below)
        ),
        width=layout["width"],
        height=lead + height + LINE * len(below),
        described=described,
        class_="trend",
        has_links=True,
    )


def _clips(plot: Plot) -> str:
    made = (
        svg.element(
            "clipPath",
            svg.element("rect", x=plot.left, y=y.end, width=plot.width, height=y.start - y.end),
            id=f"{plot.prefix}-{name}",
        )
        for name, y in plot.lanes.items()
    )
    return svg.element("defs", *made)


def _grids(plot: Plot) -> Iterator[str]:
    for name, y in plot.lanes.items():
        axis = plot.layout[f"yaxis{name[1:]}"]
        right = plot.left + plot.width
        lines = "".join(
            f"M{plot.left:.1f} {y(value):.1f}H{right:.1f}" for value in axis["tickvals"]
        )
        yield svg.path(lines or "M0 0", "grid")


def _ticks(plot: Plot) -> Iterator[str]:
    for name, y in plot.lanes.items():
        axis = plot.layout[f"yaxis{name[1:]}"]
        for value, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
            yield svg.label(
                text, x=plot.left - TICK_LEFT, y=y(value) + TICK_DOWN, class_="tick end"
            )
    axis, foot = plot.layout["xaxis"], plot.top + plot.height
    for value, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
        yield svg.label(unescape(text), x=plot.x(value), y=foot + BELOW, class_="tick middle")


def _dash(dash: str) -> str:
    return "" if dash == "solid" else dash.replace("px", "").replace(",", " ")


def _shape(plot: Plot, shape: Json) -> str:
    x, y, line = plot.across(shape["xref"]), plot.down(shape["yref"]), shape["line"]
    d = f"M{x(shape['x0']):.1f} {y(shape['y0']):.1f}L{x(shape['x1']):.1f} {y(shape['y1']):.1f}"
    return svg.path(
        d,
        fill="none",
        stroke=line["color"],
        stroke_width=line["width"],
        stroke_dasharray=_dash(line["dash"]),
        opacity=shape.get("opacity"),
    )


class Pixels(NamedTuple):
    """Where zero is drawn and how far one reaches, across and down: of scales written out, for a
    chart has thousands of points.
    """

    left: float
    across: float
    top: float
    down: float

    def spots(self, trace: Json) -> list[Point | None]:
        """Where the points of ``trace`` are drawn; None where there is a gap."""
        left, across, top, down = self
        return [
            None if one is None or other is None else (left + across * one, top + down * other)
            for one, other in zip(trace["x"], trace["y"], strict=True)
        ]


def _trace(plot: Plot, trace: Json) -> str:
    x, y = plot.x, plot.lanes[trace["yaxis"]]
    pixels = Pixels(x.start - x.slope * x.low, x.slope, y.start - y.slope * y.low, y.slope)
    parts = DRAWN[trace["mode"]](trace, pixels)
    clip = f"url(#{plot.prefix}-{trace['yaxis']})" if trace.get("cliponaxis", True) else ""
    return svg.element("g", *parts, clip_path=clip, opacity=trace.get("opacity"))


def _subpaths(spots: Sequence[Point | None], joins: bool) -> Iterator[list[Point]]:
    """The points between two gaps; all of them where a line ``joins`` over gaps."""
    part: list[Point] = []
    for place in spots:
        if place is not None:
            part.append(place)
        elif part and not joins:
            yield part
            part = []
    if part:
        yield part


def _lines(trace: Json, pixels: Pixels) -> list[str]:
    d = "".join(
        "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in part)
        for part in _subpaths(pixels.spots(trace), trace.get("connectgaps", False))
    )
    line = trace["line"]
    drawn = {"stroke": line["color"], "stroke_width": line["width"]}
    return [svg.path(d, fill="none", stroke_dasharray=_dash(line["dash"]), **drawn)] if d else []


def _areas(trace: Json, pixels: Pixels) -> list[str]:
    d = "".join(
        f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in part)}z"
        for part in _subpaths(pixels.spots(trace), False)
    )
    return [svg.path(d, fill=trace["fillcolor"])] if d else []


def _markers(trace: Json, pixels: Pixels) -> list[str]:
    marker = trace["marker"]
    if "symbol" in marker:
        return _symbols(trace, pixels.spots(trace))
    across, down = (np.array(trace[axis], np.float64) for axis in ("x", "y"))  # None is NaN
    across, down = pixels.left + pixels.across * across, pixels.top + pixels.down * down
    whiskers = (
        list(_whiskers(trace["error_y"], across, down, pixels.down)) if "error_y" in trace else []
    )
    d = _path("M%.1f %.1fh0", across, down)
    dots = svg.path(
        d,
        stroke=marker["color"],
        stroke_width=marker["size"],
        stroke_linecap="round",
        opacity=marker["opacity"],
    )
    return [*whiskers, dots] if d else []


def _path(part: str, *columns: Values) -> str:
    """``part`` for each row of ``columns`` that has all its numbers."""
    rows = np.column_stack(columns)
    known = rows[~np.isnan(rows).any(axis=1)]
    return part * len(known) % tuple(known.ravel().tolist())


def _whiskers(error: Json, across: Values, down: Values, up: float) -> Iterator[str]:
    """All of a series as one path: twenty series would else be thousands of elements."""
    above, below = (np.array(error[end], np.float64) for end in ("array", "arrayminus"))
    d = _path("M%.1f %.1fV%.1f", across, down - up * below, down + up * above)
    if d:
        drawn = {"stroke": error["color"], "stroke_width": error["thickness"]}
        yield svg.path(d, fill="none", opacity=0.35, **drawn)


def _symbols(trace: Json, spots: Sequence[Point | None]) -> list[str]:
    marker = trace["marker"]
    rows = zip(
        spots,
        marker["symbol"],
        marker["size"],
        marker["color"],
        marker["line"]["color"],
        trace["text"],
        strict=True,
    )
    return [
        symbol(
            Symbol(place[0], place[1], shape, size, fill, line, unescape(title)),
            marker["line"]["width"],
        )
        for place, shape, size, fill, line, title in rows
        if place is not None
    ]


def symbol(one: Symbol, width: float) -> str:
    """One of Plotly's symbols, its place in pixels, outlined so many pixels wide."""
    is_open, half = one.shape.endswith("-open"), one.size / 2
    corners = [
        f"{one.x + half * x:.2f} {one.y + half * y:.2f}"
        for x, y in CORNERS.get(one.shape.removesuffix("-open"), ())
    ]
    title = [svg.element("title", svg.plain_text(one.title))] if one.title else []
    return svg.element(
        "path",
        *title,
        d=f"M{'L'.join(corners)}z" if corners else _circle(one.x, one.y, half),
        fill="none" if is_open else one.fill,
        stroke=one.line,
        stroke_width=width,
    )


def _circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius:.2f} {radius:.2f} 0 1 0"
    return f"M{x - radius:.2f} {y:.2f}{arc} {2 * radius:.2f} 0{arc}-{2 * radius:.2f} 0z"


WIDE = 2 / 3**0.5
CORNERS: dict[str, Sequence[Point]] = {
    "triangle-up": ((-WIDE, 0.5), (WIDE, 0.5), (0, -1)),
    "triangle-down": ((-WIDE, -0.5), (WIDE, -0.5), (0, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
}
"""Plotly's symbols, in halves of their size from the middle; a circle has none."""

DRAWN: dict[str, Callable[[Json, Pixels], list[str]]] = {
    "lines": _lines,
    "markers": _markers,
    "none": _areas,
}


def _annotation(plot: Plot, note: Json) -> str:
    """A text, in its box where it has one, linked where it is a link."""
    x = plot.across(note["xref"])(note["x"]) + note.get("xshift", 0)
    y = plot.down(note["yref"])(note["y"]) - note.get("yshift", 0)
    link = LINKED.fullmatch(note["text"])
    text = unescape(link[2] if link else note["text"])
    side = {"left": "", "center": "middle", "right": "end"}[note["xanchor"]]
    colour, weight = note["font"]["color"], note["font"]["weight"]
    label = svg.label(
        text,
        x=x,
        y=y + BASE,
        class_=f"{text_class(colour)} {side}".strip(),
        font_weight=weight if weight != 400 else None,
    )
    drawn = _box(note, x, y) + label
    title = (
        svg.element("title", svg.plain_text(unescape(note["hovertext"])))
        if "hovertext" in note
        else ""
    )
    if link:
        return svg.element("a", title, drawn, href=unescape(link[1]))
    return svg.element("g", title, drawn) if title else drawn


def _box(note: Json, x: float, y: float) -> str:
    if "bgcolor" not in note:
        return ""
    width, height = note["width"] + 1, note["height"] + 1
    return svg.element(
        "rect",
        x=x - width / 2,
        y=y - height / 2,
        width=float(width),
        height=float(height),
        fill=note["bgcolor"],
        stroke=note["bordercolor"],
    )


def text_class(colour: str) -> str:
    """The class that gives a text its colour: rules of the site would win over an attribute."""
    return f"text-{colour.removeprefix('var(--').removesuffix(')')}"
