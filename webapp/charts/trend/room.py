"""The measures of a trend chart in pixels, and what turns its data into pixels. Pure."""

from dataclasses import dataclass, replace

from webapp.charts.scale import Scale

TOP, FOOT, GAP = 40.0, 26.0, 22.0
"""Above the chart, below it, and between two of several lanes."""

LETTER, BOLD = 6.6, 7.2
"""The width of a character of 11 px, by itself and bold, in the widest of the usual fonts."""

LINE = 13.0
"""The height of a line of text."""

NARROW_BELOW = 640
"""Pixels, as in the site's style sheets."""


@dataclass(frozen=True, slots=True)
class Room:
    """The measures of a chart: its ``width`` in pixels with what is left free at either side, and
    the heights of ``one`` lane and of ``each`` of several. A narrow one has short figures, and no
    names beside the newest points.
    """

    width: float
    left: float
    right: float
    one: float
    each: float
    is_narrow: bool = False

    @property
    def across(self) -> float:
        """The width of the plot itself."""
        return self.width - self.left - self.right


WIDE = Room(1060.0, 76.0, 140.0, one=400.0, each=130.0)
NARROW = Room(350.0, 52.0, 12.0, one=260.0, each=110.0, is_narrow=True)
"""What a phone shows: made for its width, for a wide drawing scaled down cannot be read."""


def room_for(width: int | None) -> Room:
    """The kind of room for a picture ``width`` pixels wide; None: as wide as it likes."""
    return NARROW if width is not None and width < NARROW_BELOW else WIDE


def room_of(width: int) -> Room:
    """The room of exactly ``width`` pixels."""
    return replace(room_for(width), width=float(width))


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a lane stands: ``x`` and ``y`` map data onto pixels of the whole chart. ``is_crowded``:
    so many series that changes have no words; ``has_points``: there is room for points and whiskers
    beside the levels.
    """

    x: Scale
    y: Scale
    number: int
    is_crowded: bool = False
    has_points: bool = True

    @property
    def axis(self) -> str:
        """The name of the vertical axis, as Plotly counts."""
        return "y" if self.number == 1 else f"y{self.number}"

    def along(self, pixels: float) -> float:
        """So many pixels to the right, in units of the horizontal axis."""
        return pixels / self.x.slope

    def up(self, pixels: float) -> float:
        """So many pixels upwards, in units of the vertical axis."""
        return -pixels / self.y.slope
