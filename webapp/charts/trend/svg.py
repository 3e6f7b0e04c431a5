"""The trend chart drawn on the server: the first paint of its page, all there is without scripts,
and the picture of mails, reports and wikis. Pure. The page's script draws the same in its place
(`static/js/explorer/draw.js`) with the same measures and classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, ticks
from webapp.charts.text import number, short_number
from webapp.charts.trend.around_svg import alert_marks, marker_lines, marker_texts
from webapp.charts.trend.series_svg import Frame, draw_series
from webapp.charts.trend.trend import Lane, Trend, TrendSeries, x_values

TOP, FOOT, GAP = 40.0, 26.0, 22.0
"""Above the chart, below it, and between two of several lanes."""

LABEL_ROOM = 13.0
"""The height of a line of text beside the newest points, and of one below the chart."""

LETTER = 6.2
"""The width of a character."""

NAME_LONGEST = 12
CROWD = 8
"""Series of one lane that there is room for in full."""

HALF_A_NAME = 22.0


@dataclass(frozen=True, slots=True)
class Room:
    """The measures of a drawing: its ``width`` in pixels with what is left free at either side, the
    heights of ``one`` chart and of ``each`` of several lanes, and about how many revisions are
    named. A narrow one has short figures, and no names beside the newest points.
    """

    width: float
    left: float
    right: float
    one: float
    each: float
    names: int
    is_narrow: bool = False


WIDE = Room(1060.0, 76.0, 132.0, one=400.0, each=130.0, names=8)
NARROW = Room(350.0, 52.0, 12.0, one=260.0, each=110.0, names=3, is_narrow=True)
"""What a phone shows: made for its width, for a wide drawing scaled down cannot be read."""


def room_for(width: int | None) -> Room:
    """The measures for a picture ``width`` pixels wide; None: as wide as it likes."""
    return NARROW if width is not None and width < NARROW_BELOW else WIDE


NARROW_BELOW = 640
"""Pixels, as for the page's script."""


def draw(trend: Trend, room: Room = WIDE, *, notes: Sequence[str] = ()) -> str:
    """The SVG of ``trend``: a lane of axes, bands, whiskers, points, levels and changes each; below
    it ``notes``, for a picture that stands alone.
    """
    lanes = trend.lanes or [Lane(trend.y_title, [])]
    x = Scale(*trend.extent, room.left, room.width - room.right)
    first = room.one if len(lanes) - len(trend.costs) <= 1 else room.each
    heights = [first, *[room.each] * (len(lanes) - 1)]
    bases = [TOP - GAP + sum(heights[: at + 1]) + GAP * (at + 1) for at in range(len(lanes))]
    base = bases[-1]
    lines = [line for note in notes for line in wrap(note, int((room.width - 8) / LETTER))]
    children = (
        *marker_lines(trend, x, TOP, base),
        *(
            _lane(trend, lane, x, Scale(*trend.y_range(lane.series), foot, foot - high), room)
            for lane, foot, high in zip(lanes, bases, heights, strict=True)
        ),
        *_names(trend, x, base, room),
        *marker_texts(trend, x, TOP, is_narrow=room.is_narrow),
        *alert_marks(trend, x, base),
        *(
            svg.label(line, x=4.0, y=base + FOOT + LABEL_ROOM * at + 8, class_="ink")
            for at, line in enumerate(lines)
        ),
    )
    return svg.document(
        *children,
        width=room.width,
        height=base + FOOT + LABEL_ROOM * len(lines),
        described=f"{trend.y_title} by revision of {trend.tree}",
        class_="trend",
        has_links=True,
    )


def _lane(trend: Trend, lane: Lane, x: Scale, y: Scale, room: Room) -> str:
    frame = Frame(
        trend,
        x,
        y,
        is_crowded=len(lane.series) > CROWD,
        has_points=not room.is_narrow or len(lane.series) <= CROWD,
    )
    return svg.element(
        "g",
        svg.label(lane.title, x=4.0, y=y.end - 6, class_="axis-title"),
        *_grid(x, y, room),
        *(draw_series(frame, one) for one in lane.series),
        *(() if room.is_narrow else _newest(trend, lane.series, x, y)),
        class_="lane",
    )


def _grid(x: Scale, y: Scale, room: Room) -> list[str]:
    values = ticks(y.low, y.high, about=5 if y.start - y.end > room.each else 3)
    written = short_number if room.is_narrow else number
    lines = "".join(f"M{x.start:.0f} {y(value):.1f}H{x.end:.0f}" for value in values)
    texts = (
        svg.label(written(value), x=x.start - 8, y=y(value) + 4, class_="tick end")
        for value in values
    )
    axis = svg.element("path", d=f"M{x.start:.0f} {y.start:.1f}H{x.end:.0f}", class_="axis")
    return [svg.element("path", d=lines or "M0 0", class_="grid"), *texts, axis]


def _names(trend: Trend, x: Scale, base: float, room: Room) -> list[str]:
    """The names of some revisions in view, under the axis. Without room at its right a name ends at
    its place.
    """
    names = trend.revisions.names
    places = x_values(trend, range(len(names)))
    shown = [
        (x(place), name)
        for place, name in zip(places, names, strict=True)
        if place is not None and x.low <= place <= x.high
    ]
    texts = []
    for at in spread_labels(len(shown), room.names):
        across, name = shown[at]
        side = "end" if room.is_narrow and x.end - across < HALF_A_NAME else "middle"
        texts.append(svg.label(name, x=across, y=base + 18, class_=f"mono {side}"))
    return texts


def _newest(trend: Trend, series: Sequence[TrendSeries], x: Scale, y: Scale) -> list[str]:
    """Name and newest level of each series, right of the axis, as far as there is room."""
    wanted = sorted(
        (y.clamped(one.centres[-1] if one.level is None else one.level), at)
        for at, one in enumerate(series)
        if one.centres
    )
    room = int((y.start - y.end) // LABEL_ROOM)
    texts = []
    free_from = y.end
    for left, (wish, at) in enumerate(wanted[:room]):
        one = series[at]
        last = y.start - LABEL_ROOM * (min(len(wanted), room) - left - 1)
        place = min(max(wish, free_from), last)
        free_from = place + LABEL_ROOM
        value = short_number(one.centres[-1] if one.level is None else one.level)
        text = f"{_cut(trend.short_name(one) if not one.is_cost else one.mode)} {value}"
        texts.append(
            svg.label(
                text,
                x=x.end + 8,
                y=place + 4,
                class_=f"label name-{one.style.slot}",
                data_series=one.id,
            )
        )
    return texts


def _cut(text: str) -> str:
    return text if len(text) <= NAME_LONGEST else f"{text[: NAME_LONGEST - 1]}…"
