"""How each kind of finding is drawn on the trend chart: the table of marks, and what they are drawn
with (lines, symbols and wishes for labels, in the units of the axes). Pure.

A new kind is a function here, an entry in `MARKS`, and `Found.kind`; `webapp.charts.trend.legend`
explains the kind.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from webapp.charts.scale import Scale
from webapp.charts.trend import labels
from webapp.charts.trend.series import Found, Marker
from webapp.charts.trend.trend import Trend, x_value

PAPER = "var(--paper)"

RISER_STEP = 8.0
"""Pixels between risers of several series at one revision."""

TIP = 4.8
"""From the middle of a triangle to its tip, in pixels: half the size that Plotly gives it."""

RING = 15.0
"""The size of the diamond around an excursion."""

CALM, WILD, BAR_APART = 4.0, 11.0, 5.0
"""Half the height of the bars of a change of noise (the smaller and the larger noise), and how far
they stand from the change."""

MODE_APART, MODE = 6.0, 6.0
"""From the level to either mode, and the size of each."""

ABOVE = 12.0
"""So far a text stands above a line that would strike it through."""


def mark_colour(verdict: str) -> str:
    """The colour of what is drawn for a verdict."""
    return f"var(--{verdict}-mark)" if verdict in {"worse", "better"} else "var(--muted)"


def text_colour(verdict: str) -> str:
    """The colour of what is written for a verdict."""
    return f"var(--{verdict})" if verdict in {"worse", "better"} else "var(--ink)"


class Stroke(NamedTuple):
    """How a line is drawn: one trace for all lines that are drawn alike."""

    colour: str
    width: float
    dash: str = "solid"
    opacity: float = 1.0


class Symbol(NamedTuple):
    """A symbol of Plotly's at (x, y), ``size`` pixels high, in two colours, with what it means."""

    x: float
    y: float
    shape: str
    size: float
    fill: str
    line: str
    title: str = ""


class Wish(NamedTuple):
    """A label that wants to stand ``aside`` of (x, y), in pixels."""

    text: str
    x: float
    y: float
    colour: str
    aside: float = 8.0


@dataclass
class Sketch:
    """The findings of one lane."""

    frame: labels.Frame
    strokes: dict[Stroke, list[tuple[float, float, float, float]]] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)
    wishes: list[Wish] = field(default_factory=list)

    def line(self, stroke: Stroke, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a line from (x, y) to its end."""
        self.strokes.setdefault(stroke, []).append((x, y, end_x, end_y))

    def symbol(
        self, found: Found, shape: str, at: tuple[float, float], size: float, fill: str = ""
    ) -> None:
        """Draw a symbol in the colour of the verdict; ``fill`` is another one inside."""
        colour = mark_colour(found.verdict)
        self.symbols.append(Symbol(*at, shape, size, fill or colour, colour, found.title))

    def wish(self, found: Found, at: tuple[float, float], aside: float = 8.0) -> None:
        """Ask for the size of ``found`` beside ``at``, where it has one and there is room."""
        if found.has_size and not self.frame.is_crowded:
            across, down = self.frame.x(at[0]), self.frame.y(at[1])
            self.wishes.append(Wish(found.size, across, down, text_colour(found.verdict), aside))

    @property
    def traces(self) -> list[labels.Json]:
        """A trace for all lines that are drawn alike, and one for all symbols."""
        drawn = [self._lines(stroke, lines) for stroke, lines in self.strokes.items()]
        return [*drawn, *([self._symbols()] if self.symbols else [])]

    def _lines(
        self, stroke: Stroke, lines: list[tuple[float, float, float, float]]
    ) -> dict[str, Any]:
        return trace(
            self.frame,
            mode="lines",
            x=[end for x, _, end_x, _ in lines for end in (x, end_x, None)],
            y=[end for _, y, _, end_y in lines for end in (y, end_y, None)],
            line={"color": stroke.colour, "width": stroke.width, "dash": stroke.dash},
            opacity=stroke.opacity,
        )

    def _symbols(self) -> dict[str, Any]:
        return trace(
            self.frame,
            mode="markers",
            name="findings",
            x=[one.x for one in self.symbols],
            y=[one.y for one in self.symbols],
            text=[labels.plain(one.title) for one in self.symbols],
            marker={
                "symbol": [one.shape for one in self.symbols],
                "size": [one.size for one in self.symbols],
                "color": [one.fill for one in self.symbols],
                "line": {"color": [one.line for one in self.symbols], "width": 1.4},
                "opacity": 1,
            },
            cliponaxis=False,
        )


def trace(frame: labels.Frame, **attributes: Any) -> labels.Json:
    """A scatter trace in the lane of ``frame``; its meaning is in the tooltip alone."""
    fixed = {"type": "scatter", "xaxis": "x", "yaxis": frame.axis, "hoverinfo": "skip"}
    return fixed | {"showlegend": False} | attributes


class Span(NamedTuple):
    """Where a finding stands across: ``edge`` before its revision, ``point`` at it; what was before
    is carried on ``until`` there, and it goes on from ``since``. ``colour`` is that of its series.
    """

    edge: float
    point: float
    until: float
    since: float
    colour: str


def riser(sketch: Sketch, found: Found, span: Span) -> None:
    """A change of level: a riser with triangle and percent, dashes where the old level would be."""
    colour, ends = mark_colour(found.verdict), (found.before, found.since)
    stroke = Stroke(colour, 2.6) if found.is_confirmed else Stroke(colour, 1.4, "3px,3px")
    sketch.line(stroke, span.edge, ends[0], span.edge, ends[1])
    _triangle(sketch, found, span.edge)
    if found.is_confirmed:
        middle = (ends[0] + ends[1]) / 2
        sketch.wish(found, (span.edge, middle), aside=9.0)
        if not sketch.frame.is_crowded:
            was = Stroke(span.colour, 1.0, "4px,3px", 0.6)
            sketch.line(was, span.edge, ends[0], span.until, ends[0])


def excursion(sketch: Sketch, found: Found, span: Span) -> None:
    """One revision far off: a diamond around it, and a stem to the level it left."""
    stem = Stroke(span.colour, 1.0, "1px,3px")
    sketch.line(stem, span.point, found.before, span.point, found.since)
    size = RING / 1.3  # Plotly's diamonds are that much wider than their size.
    sketch.symbol(found, "diamond-open", (span.point, found.since), size)
    sketch.wish(found, (span.point, found.since), aside=11.0)


def slow(sketch: Sketch, found: Found, span: Span) -> None:
    """A slope from where it begins, with a triangle at its end and its size at the middle."""
    stroke = Stroke(mark_colour(found.verdict), 2.0, "7px,3px")
    sketch.line(stroke, span.since, found.before, span.point, found.since)
    _triangle(sketch, found, span.point)
    x = sketch.frame.x
    middle = (max(span.since, x.low) + min(span.point, x.high)) / 2
    share = (middle - span.since) / ((span.point - span.since) or 1.0)
    height = found.before + share * (found.since - found.before)
    sketch.wish(found, (middle, height + sketch.frame.up(ABOVE)), aside=0.0)


def noise(sketch: Sketch, found: Found, span: Span) -> None:
    """Another scatter: a bar for the noise before and one for that after, short and long."""
    stroke, frame = Stroke(mark_colour(found.verdict), 1.6), sketch.frame
    grows = found.ratio is None or found.ratio > 1
    for aside, half in (
        (-BAR_APART, CALM if grows else WILD),
        (BAR_APART, WILD if grows else CALM),
    ):
        at, reach = span.edge + frame.along(aside), frame.up(half)
        sketch.line(stroke, at, found.since - reach, at, found.since + reach)
        for end in (-reach, reach):
            cap = frame.along(3.0)
            sketch.line(stroke, at - cap, found.since + end, at + cap, found.since + end)
    sketch.wish(found, (span.edge, found.since + frame.up(WILD + 4)), aside=BAR_APART + 8)


def modes(sketch: Sketch, found: Found, span: Span) -> None:
    """Other shares of two modes: a disc for each, full where more runs are now."""
    frame = sketch.frame
    sinks = found.shares is None or found.shares[1] > found.shares[0]
    away = frame.up(MODE_APART if sinks else -MODE_APART)
    sketch.symbol(found, "circle", (span.edge, found.since - away), MODE)
    sketch.symbol(found, "circle", (span.edge, found.since + away), MODE, PAPER)
    sketch.wish(found, (span.edge, found.since + frame.up(MODE_APART + ABOVE)), aside=MODE)


def _triangle(sketch: Sketch, found: Found, at: float) -> None:
    """On its tip at the level since, pointing away from the level before."""
    sinks = found.since < found.before
    shape, away = ("triangle-down", TIP) if sinks else ("triangle-up", -TIP)
    place = (at, found.since + sketch.frame.up(away))
    sketch.symbol(found, shape, place, 2 * TIP, "" if found.is_confirmed else PAPER)


MARKS: Mapping[str, Callable[[Sketch, Found, Span], None]] = {
    "level": riser,
    "excursion": excursion,
    "slow": slow,
    "noise": noise,
    "modes": modes,
}
"""By `Found.kind`."""


INK, MUTED = "var(--ink)", "var(--muted)"
SIGNS = {
    "event": ("diamond", PAPER, MUTED),
    "epoch": ("diamond", INK, INK),
    "note": ("square", PAPER, MUTED),
}
"""Symbol, fill and line of what happened in a lab; a release has none."""

SIGN = 7.0
BADGE, DIGIT = 16.0, 6.5
"""The height of the square with the number of an alert, and the width of a digit there."""


def in_view(trend: Trend, x: Scale) -> list[tuple[Marker, float]]:
    """The markers in view that have a line of their own, along the tree, each with its place."""
    placed = [(one, trend.marker_x(one)) for one in trend.beside]
    shown = [(one, at) for one, at in placed if at is not None and x.low <= at <= x.high]
    return sorted(shown, key=lambda each: each[1])


def marker_lines(trend: Trend, x: Scale) -> Iterator[labels.Json]:
    """A line for each event, note and release in view, through all lanes, as shapes."""
    for one, at in in_view(trend, x):
        dash = "solid" if one.kind == "release" else "3px,3px"
        line = {"color": MUTED, "width": 1, "dash": dash}
        where = {"xref": "x", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1}
        yield {"type": "line", "line": line, "opacity": 0.6, "layer": "below", **where}


def signs(trend: Trend, frame: labels.Frame) -> list[Symbol]:
    """The sign of each event and note, at the foot of its line."""
    return [
        Symbol(at, frame.y.low, shape, SIGN, fill, line, one.title)
        for one, at in in_view(trend, frame.x)
        if one.kind in SIGNS
        for shape, fill, line in (SIGNS[one.kind],)
    ]


def marker_texts(
    trend: Trend, x: Scale, *, is_narrow: bool, title: labels.Box
) -> Iterator[labels.Json]:
    """Their texts above the chart, as far as they cover neither one another nor the ``title`` of
    the first lane, linked. Each stands at the right of its line, at its left where the frame is
    near.
    """
    rows = labels.Rows()
    for _ in range(2):  # It stands between the two.
        rows.take(title.left, title.right)
    for one, at in in_view(trend, x):
        across, text = x(at), one.short if is_narrow else one.label
        width = labels.width_of(text) + 8
        is_left = across + width > x.end
        row = rows.take(
            across - width if is_left else across, across if is_left else across + width
        )
        if row is None:
            continue
        yield labels.annotation(
            labels.linked(text, one.href),
            colour=INK if one.kind == "epoch" else MUTED,
            x=at,
            y=1,
            xref="x",
            yref="paper",
            xanchor="right" if is_left else "left",
            xshift=-4 if is_left else 4,
            yshift=min(labels.LINE * row + labels.LINE / 2 + 1, labels.TOP - labels.LINE / 2),
            hovertext=labels.plain(one.title),
        )


def alert_badges(trend: Trend, frame: labels.Frame) -> list[tuple[labels.Json, labels.Box]]:
    """A square with its number for each alert in view, above the axis, linked, with where it
    stands; closed ones are hollow. Open ones choose their row first.
    """
    rows, badges = labels.Rows(), []
    for mark in sorted(trend.alerts, key=lambda one: (not one.is_open, one.index)):
        place = x_value(trend, mark.index)
        if place is None or not frame.x.low <= place <= frame.x.high:
            continue
        across, width = frame.x(place), DIGIT * len(str(mark.number)) + 9
        row = rows.take(across - width / 2, across + width / 2)
        if row is None:
            continue
        up = 6 + (BADGE + 2) * row + BADGE / 2
        made = labels.annotation(
            labels.linked(str(mark.number), mark.href),
            colour=PAPER if mark.is_open else INK,
            weight=600,
            x=place,
            y=0,
            xref="x",
            yref="paper",
            xanchor="center",
            yshift=up,
            bgcolor=INK if mark.is_open else PAPER,
            bordercolor=INK,
            hovertext=labels.plain(f"Alert {mark.text}"),
        )
        sized = {"width": width - 2, "height": BADGE - 2, "borderwidth": 1, "align": "center"}
        middle = frame.y.start - up
        box = labels.Box(
            across - width / 2, middle - BADGE / 2, across + width / 2, middle + BADGE / 2
        )
        badges.append((made | sized, box))
    return badges
