"""The trend chart drawn on the server: the first paint of its page, all there is without scripts,
and the picture of mails, reports and wikis. Pure. The page's script draws the same in its place
(`static/js/explorer/draw.js`) with the same measures and classes.
"""

from collections.abc import Sequence

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, ticks
from webapp.charts.text import number, short_number
from webapp.charts.trend.around_svg import alert_marks, marker_lines, marker_texts
from webapp.charts.trend.series_svg import Frame, draw_series
from webapp.charts.trend.trend import Lane, Trend, TrendSeries, x_values

WIDTH = 1060.0
LEFT, RIGHT, TOP, FOOT = 76.0, 132.0, 40.0, 26.0
ONE, EACH, GAP = 400.0, 130.0, 22.0
"""The height of one chart, and of each of several lanes; what lies between two."""

LABELS = 8
LABEL_ROOM = 13.0
"""The height of a line of text beside the newest points."""

NAME_LONGEST = 12


def draw(trend: Trend) -> str:
    """The SVG of ``trend``: a lane of axes, bands, whiskers, points, levels and changes each."""
    lanes = trend.lanes or [Lane(trend.y_title, [])]
    x = Scale(*trend.extent, LEFT, WIDTH - RIGHT)
    heights = [ONE if len(lanes) - len(trend.costs) <= 1 else EACH, *[EACH] * (len(lanes) - 1)]
    bases = [TOP - GAP + sum(heights[: at + 1]) + GAP * (at + 1) for at in range(len(lanes))]
    base = bases[-1]
    children = (
        *marker_lines(trend, x, TOP, base),
        *(
            _lane(trend, lane, x, foot - high, high)
            for lane, foot, high in zip(lanes, bases, heights, strict=True)
        ),
        *_names(trend, x, base),
        *marker_texts(trend, x, TOP),
        *alert_marks(trend, x, base),
    )
    return svg.document(
        *children,
        width=WIDTH,
        height=base + FOOT,
        described=f"{trend.y_title} by revision of {trend.tree}",
        class_="trend",
        has_links=True,
    )


def _lane(trend: Trend, lane: Lane, x: Scale, top: float, high: float) -> str:
    y = Scale(*trend.y_range(lane.series), top + high, top)
    frame = Frame(trend, x, y, is_crowded=len(lane.series) > LABELS)
    return svg.element(
        "g",
        svg.label(lane.title, x=4.0, y=top - 6, class_="axis-title"),
        *_grid(x, y),
        *(draw_series(frame, one) for one in lane.series),
        *_newest(trend, lane.series, y),
        class_="lane",
    )


def _grid(x: Scale, y: Scale) -> list[str]:
    values = ticks(y.low, y.high, about=5 if y.start - y.end > EACH else 3)
    lines = "".join(f"M{x.start:.0f} {y(value):.1f}H{x.end:.0f}" for value in values)
    texts = (
        svg.label(number(value), x=x.start - 8, y=y(value) + 4, class_="tick end")
        for value in values
    )
    axis = svg.element("path", d=f"M{x.start:.0f} {y.start:.1f}H{x.end:.0f}", class_="axis")
    return [svg.element("path", d=lines or "M0 0", class_="grid"), *texts, axis]


def _names(trend: Trend, x: Scale, base: float) -> list[str]:
    """The names of some revisions in view, under the axis."""
    names = trend.revisions.names
    places = x_values(trend, range(len(names)))
    shown = [
        (x(place), name)
        for place, name in zip(places, names, strict=True)
        if place is not None and x.low <= place <= x.high
    ]
    return [
        svg.label(shown[at][1], x=shown[at][0], y=base + 18, class_="mono middle")
        for at in spread_labels(len(shown), LABELS)
    ]


def _newest(trend: Trend, series: Sequence[TrendSeries], y: Scale) -> list[str]:
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
                x=WIDTH - RIGHT + 8,
                y=place + 4,
                class_=f"label name-{one.style.slot}",
                data_series=one.id,
            )
        )
    return texts


def _cut(text: str) -> str:
    return text if len(text) <= NAME_LONGEST else f"{text[: NAME_LONGEST - 1]}…"
