"""What findings are drawn with: lines, symbols and wishes for labels, in the units of the axes.
Pure.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from webapp.charts.trend.labels import Json, plain
from webapp.charts.trend.levels import Found
from webapp.charts.trend.room import Frame

PAPER = "var(--paper)"


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

    frame: Frame
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
        """Ask for the size of ``found`` to stand beside ``at``, where it has one and there is
        room.
        """
        if found.has_size and not self.frame.is_crowded:
            across, down = self.frame.x(at[0]), self.frame.y(at[1])
            self.wishes.append(Wish(found.size, across, down, text_colour(found.verdict), aside))

    @property
    def traces(self) -> list[Json]:
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
            text=[plain(one.title) for one in self.symbols],
            marker={
                "symbol": [one.shape for one in self.symbols],
                "size": [one.size for one in self.symbols],
                "color": [one.fill for one in self.symbols],
                "line": {"color": [one.line for one in self.symbols], "width": 1.4},
                "opacity": 1,
            },
            cliponaxis=False,
        )


def trace(frame: Frame, **attributes: Any) -> Json:
    """A scatter trace in the lane of ``frame``; what it means is told by the tooltip alone."""
    fixed = {"type": "scatter", "xaxis": "x", "yaxis": frame.axis, "hoverinfo": "skip"}
    return fixed | {"showlegend": False} | attributes
