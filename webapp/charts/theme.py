"""What all charts share: series colours, line styles, margins; and the colour of a cell of the
hardware × mode table. Pure.

Colours are names of CSS custom properties, not values: the page's theme (light or dark) fills them
in, so one figure serves both. The same mode has the same colour on every page because it follows
from the mode's id alone: ids count up, so modes made one after the other differ; when the palette
is used up, the dash tells them apart.
"""

from dataclasses import dataclass
from math import isfinite

PALETTE_SIZE = 6
"""Okabe and Ito's set without the two colours that mean worse and better here."""

DASHES = ("solid", "dash", "dot", "dashdot")
SVG_DASHES = {"solid": "", "dash": "6 3", "dot": "1.5 2.5", "dashdot": "6 2.5 1.5 2.5"}

STEPS_PERCENT = (2.0, 5.0, 15.0)
"""A proven change below 2 % is pale; 2, 5 and 15 % deepen the colour."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Pixels around the plotting area of a chart made on the server."""

    left: int = 76
    right: int = 28
    top: int = 26
    bottom: int = 44


MARGINS = Margins()


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How one series is drawn: its colour follows its mode, its dash mode and machine."""

    slot: int
    dash: str

    @property
    def css_class(self) -> str:
        """The CSS class that gives an SVG its colour."""
        return f"series-{self.slot}"

    @property
    def svg_dash(self) -> str:
        """The dashes as SVG writes them."""
        return SVG_DASHES[self.dash]


def style_of(*, mode_id: int, machine: int = 0) -> SeriesStyle:
    """The style of the series of a mode; ``machine`` counts those of one chart, from 0."""
    turn, slot = divmod(mode_id, PALETTE_SIZE)
    return SeriesStyle(slot=slot, dash=DASHES[(turn + machine) % len(DASHES)])


def cell_class(verdict: str, percent: float | None) -> str:
    """The CSS class of a cell: ``worse-2``, ``better-0``, ``equivalent``, ``cannot-tell``,
    ``builds-differ``, ``lab``.

    The number says how many of `STEPS_PERCENT` the size reaches; 0 where it is not known.
    """
    if verdict not in {"worse", "better"}:
        return verdict.rstrip("?").replace(" ", "-")
    size = 0.0 if percent is None or not isfinite(percent) else abs(percent)
    return f"{verdict}-{sum(size >= step for step in STEPS_PERCENT)}"
