"""What all charts share: series colours, line styles, markers, margins. Pure.

Colours are names of CSS custom properties, not values: the page's theme (light or dark) fills them
in, so one figure serves both. The same mode has the same colour on every page because it follows
from the mode's id alone: ids count up, so modes made one after the other differ; when the palette
is used up, the dash tells them apart.
"""

from dataclasses import dataclass
from typing import Any

PALETTE_SIZE = 6
"""Okabe and Ito's set without the two colours that mean worse and better here."""

DASHES = ("solid", "dash", "dot", "dashdot")
SVG_DASHES = {"solid": "", "dash": "6 3", "dot": "1.5 2.5", "dashdot": "6 2.5 1.5 2.5"}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "pentagon", "hexagon", "star")

INK = "var(--ink)"
MUTED = "var(--muted)"
LINE = "var(--line)"
PAPER = "var(--paper)"
WORSE = "var(--worse)"
BETTER = "var(--better)"


@dataclass(frozen=True, slots=True)
class Margins:
    """Pixels around the plotting area, the same on every chart so that stacked ones align."""

    left: int = 76
    right: int = 28
    top: int = 26
    bottom: int = 44


MARGINS = Margins()


def axis() -> dict[str, Any]:
    """What every axis of a Plotly figure has."""
    return {
        "zeroline": False,
        "fixedrange": True,
        "linecolor": LINE,
        "tickcolor": LINE,
        "ticks": "outside",
        "ticklen": 4,
    }


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How one series is drawn: colour and dash follow its mode, the marker its hardware."""

    slot: int
    dash: str
    symbol: str

    @property
    def colour(self) -> str:
        """The CSS colour, which follows the theme."""
        return f"var(--series-{self.slot})"

    @property
    def css_class(self) -> str:
        """The CSS class that gives an SVG its colour."""
        return f"series-{self.slot}"

    @property
    def svg_dash(self) -> str:
        """The dashes as SVG writes them."""
        return SVG_DASHES[self.dash]


def style_of(*, mode_id: int, hardware_id: int = 0) -> SeriesStyle:
    """The style of the series of a mode on a hardware."""
    turn, slot = divmod(mode_id, PALETTE_SIZE)
    return SeriesStyle(
        slot=slot,
        dash=DASHES[turn % len(DASHES)],
        symbol=SYMBOLS[hardware_id % len(SYMBOLS)],
    )
