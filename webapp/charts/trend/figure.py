"""The trend chart as a figure of Plotly: the one place where its geometry is computed. Pure.

A figure is a plain dict, ``{"data": […], "layout": {…}}``: the page's script gives it to Plotly,
`webapp.charts.trend.svg` draws it on the server, and `plotly.io.from_json` opens it in a notebook.
Ranges, ticks, margins and the places of labels are explicit. Colours are custom properties of the
site (``var(--ink)``) until `coloured` fills in those of a theme.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, takewhile
from typing import Any

import numpy as np

from webapp.charts.scale import NARROW_TICK_ROOM, TICK_ROOM, Scale, tick_texts, ticks
from webapp.charts.svg import cut
from webapp.charts.text import short_number
from webapp.charts.trend import labels, marks
from webapp.charts.trend.series import Revisions, TrendSeries
from webapp.charts.trend.traces import joints, level_ends, series_traces, sketch_findings
from webapp.charts.trend.trend import Lane, Trend, Values, x_values

CROWD = 8
"""Series of one lane that there is room for in full."""

NAME_LONGEST = 11
"""Characters of a name beside the newest points."""

NAMES_APART = 24.0
"""Pixels between the names of revisions under the axis."""

MARGIN, ABOVE = 4.0, labels.LINE + 1.5
"""Pixels left of the title of a lane, and from its middle down to the lane: clear of a tick at its
upper end.
"""

MUTED = "var(--muted)"
CLEAR = "rgba(0,0,0,0)"
VARIABLE = re.compile(r"var\((--[\w-]+)\)")
COLOURS = ("color", "fillcolor", "bgcolor", "bordercolor", "gridcolor", "linecolor")
"""The keys of a figure that hold colours: nothing that comes from outside stands there."""


def figure(trend: Trend, room: labels.Room = labels.WIDE) -> labels.Json:
    """The figure of ``trend``, in pixels of ``room``."""
    lanes = trend.lanes or [Lane(trend.y_title, [])]
    frames = _frames(trend, lanes, room)
    titles = [
        labels.text_box(_title(lane, room), MARGIN, frame.y.end - ABOVE, "left")
        for lane, frame in zip(lanes, frames, strict=True)
    ]
    data: list[labels.Json] = []
    shapes = list(marks.marker_lines(trend, frames[0].x))
    notes = list(marks.marker_texts(trend, frames[0].x, is_narrow=room.is_narrow, title=titles[0]))
    badges = marks.alert_badges(trend, frames[-1])
    for lane, frame, title in zip(lanes, frames, titles, strict=True):
        sketch = marks.Sketch(frame)
        for one in lane.series:
            data += series_traces(trend, frame, one)
            shapes += sketch_findings(trend, sketch, one)
        if frame is frames[-1]:
            sketch.symbols += marks.signs(trend, frame)
        data += sketch.traces
        shapes.append(_base_line(frame))
        notes += _lane_texts(trend, lane, sketch, room, [title, *(box for _, box in badges)])
    notes += [one for one, _ in badges]
    layout = _layout(trend, frames, room) | {"shapes": shapes, "annotations": notes}
    return {"data": data, "layout": layout | {"meta": meta(trend)}}


def coloured(part: Any, colours: Mapping[str, str]) -> Any:
    """``part`` of a figure with the colours of a theme, by the names of their custom properties."""
    if isinstance(part, dict):
        return {
            key: _filled(value, colours) if key in COLOURS else coloured(value, colours)
            for key, value in part.items()
        }
    if isinstance(part, list) and part and isinstance(part[0], dict):
        return [coloured(one, colours) for one in part]
    return part


def _filled(value: Any, colours: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(one, colours) for one in value]
    return VARIABLE.sub(lambda found: colours[found[1]], value)


def _frames(trend: Trend, lanes: Sequence[Lane], room: labels.Room) -> list[labels.Frame]:
    """Each lane's place, from the top."""
    x = Scale(*trend.extent, room.left, room.width - room.right)
    first = room.one if len(lanes) - len(trend.costs) <= 1 else room.each
    heights = [first, *[room.each] * (len(lanes) - 1)]
    frames = []
    for at, (lane, height) in enumerate(zip(lanes, heights, strict=True)):
        top = labels.TOP + sum(heights[:at]) + labels.GAP * at
        ends = trend.heights.get(at + 1) or trend.y_range(lane.series)
        frames.append(
            labels.Frame(
                x,
                Scale(*ends, top + height, top),
                number=at + 1,
                is_crowded=len(lane.series) > CROWD,
                has_points=not room.is_narrow or len(lane.series) <= CROWD,
            )
        )
    return frames


def _layout(trend: Trend, frames: Sequence[labels.Frame], room: labels.Room) -> labels.Json:
    foot, top = frames[-1].y.start, frames[0].y.end
    axes = {
        f"yaxis{one.number if one.number > 1 else ''}": _y_axis(one, room, foot, foot - top)
        for one in frames
    }
    return {
        "width": room.width,
        "height": foot + labels.FOOT,
        "margin": {
            "l": room.left,
            "r": room.right,
            "t": labels.TOP,
            "b": labels.FOOT,
            "autoexpand": False,
        },
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"size": 11, "color": MUTED},
        "showlegend": False,
        "hovermode": "x",
        "dragmode": "zoom",
        "xaxis": _x_axis(trend, frames[-1], room),
        **axes,
    }


def _x_axis(trend: Trend, frame: labels.Frame, room: labels.Room) -> labels.Json:
    """The names of some revisions in view under it: as many as have room, from the newest on."""
    names = trend.revisions.names
    placed = [
        (frame.x(place), place, name)
        for place, name in zip(x_values(trend, range(len(names))), names, strict=True)
        if place is not None and frame.x.low <= place <= frame.x.high
    ]
    widest = max((labels.width_of(name) for name in names), default=0.0)
    shown: list[tuple[float, float, str]] = []
    for one in reversed(placed):
        # Plotly leaves a name out that would leave the chart.
        is_inside = one[0] + widest / 2 + 4 <= room.width
        if is_inside and (not shown or shown[-1][0] - one[0] >= widest + NAMES_APART):
            shown.append(one)
    return {
        "type": "linear",
        "range": [frame.x.low, frame.x.high],
        "tickvals": [place for _, place, _ in reversed(shown)],
        "ticktext": [labels.plain(name) for _, _, name in reversed(shown)],
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
        "anchor": frame.axis,
    }


def _y_axis(frame: labels.Frame, room: labels.Room, foot: float, height: float) -> labels.Json:
    y = frame.y
    values = ticks(y.low, y.high, about=5 if y.start - y.end > room.each else 3)
    space = NARROW_TICK_ROOM if room.is_narrow else TICK_ROOM
    return {
        "type": "linear",
        "range": [y.low, y.high],
        "domain": [(foot - y.start) / height, (foot - y.end) / height],
        "tickvals": values,
        "ticktext": tick_texts(values, room=space),
        "gridcolor": "var(--line)",
        "gridwidth": 1,
        "zeroline": False,
        "anchor": "x",
    }


def _base_line(frame: labels.Frame) -> labels.Json:
    line = {"color": MUTED, "width": 0.7, "dash": "solid"}
    where = {"xref": "paper", "x0": 0, "x1": 1, "yref": f"{frame.axis} domain", "y0": 0, "y1": 0}
    return {"type": "line", "line": line, "layer": "below", **where}


def _lane_texts(
    trend: Trend, lane: Lane, sketch: marks.Sketch, room: labels.Room, there: list[labels.Box]
) -> list[labels.Json]:
    """The title of a lane, the names at its right, and the sizes of findings that have room."""
    frame = sketch.frame
    title = labels.annotation(
        labels.plain(_title(lane, room)),
        colour=MUTED,
        weight=500,
        x=0,
        y=1,
        xref="paper",
        yref=f"{frame.axis} domain",
        xanchor="left",
        xshift=MARGIN - room.left,
        yshift=ABOVE,
    )
    newest = [] if room.is_narrow else _newest(trend, lane.series, frame)
    return [title, *newest, *_sizes(trend, lane, sketch, there)]


def _title(lane: Lane, room: labels.Room) -> str:
    return cut(lane.title, int((room.width - 2 * MARGIN) / labels.LETTER))


def _sizes(
    trend: Trend, lane: Lane, sketch: marks.Sketch, there: list[labels.Box]
) -> list[labels.Json]:
    """The wishes of a lane that have room: on no line, no symbol, no other label, and nothing that
    is ``there`` already.
    """
    frame = sketch.frame
    if not sketch.wishes:
        return []
    within = labels.Box(frame.x.start, frame.y.end - labels.LINE, frame.x.end, frame.y.start - 4)
    taken = labels.Taken(
        within, list(there), _segments(trend, lane, sketch), _bars(trend, lane, frame)
    )
    for one in sketch.symbols:
        half = one.size / 2 + 1
        across, down = frame.x(one.x), frame.y(one.y)
        taken.boxes.append(labels.Box(across - half, down - half, across + half, down + half))
    texts = []
    for wish in sketch.wishes:
        found = taken.take(labels.around(wish.text, wish.x, wish.y, wish.aside))
        if found is None:
            continue
        anchor, box = found
        across = box.left if anchor == "left" else box.right
        texts.append(
            labels.annotation(
                wish.text,
                colour=wish.colour,
                weight=600,
                x=_back(frame.x, across),
                y=_back(frame.y, (box.top + box.foot) / 2),
                xref="x",
                yref=frame.axis,
                xanchor=anchor,
            )
        )
    return texts


def _back(scale: Scale, pixel: float) -> float:
    return scale.low + (pixel - scale.start) / scale.slope


def _segments(trend: Trend, lane: Lane, sketch: marks.Sketch) -> list[labels.Segment]:
    """The lines of a lane, in pixels: levels, what joins points that have none, findings, and those
    of events and releases through it.
    """
    x, y = sketch.frame.x, sketch.frame.y
    lines = [line for lines in sketch.strokes.values() for line in lines]
    for series in lane.series:
        lines += [
            (start, one.start, end, one.end) for one, start, end in level_ends(trend, series.levels)
        ]
        lines += [(*one, *other) for one, other in joints(trend, series)]
    lines += [(at, y.low, at, y.high) for _, at in marks.in_view(trend, x)]
    return [(x(a), y(b), x(c), y(d)) for a, b, c, d in lines]


def _bars(trend: Trend, lane: Lane, frame: labels.Frame) -> labels.Bars:
    """The points of a lane with their whiskers."""
    x, y, series = frame.x, frame.y, lane.series
    columns = (
        [x_values(trend, one.indices) for one in series],
        *([getattr(one, name) for one in series] for name in ("centres", "highs", "lows")),
    )
    places, centres, highs, lows = (np.array([*chain(*one)], np.float64) for one in columns)
    order = np.argsort(places, kind="stable")
    order = order[(x.low <= places[order]) & (places[order] <= x.high)]
    ends = (np.where(np.isnan(end), centres, end)[order] for end in (highs, lows))
    return labels.Bars(x.all(places[order]), *map(y.all, ends))


def _newest(trend: Trend, series: Sequence[TrendSeries], frame: labels.Frame) -> list[labels.Json]:
    """Name and newest level of each series, right of the axis, where there is room."""
    y, foot = frame.y, frame.y.start - labels.LINE / 2
    values = {one.id: one.level if one.level is not None else one.newest for one in series}
    wanted = sorted(
        (y.clamped(value), one.id, one) for one in series if (value := values[one.id]) is not None
    )
    most = int((foot - y.end) // labels.LINE)
    names = {one.id: one.mode if one.is_cost else trend.short_name(one, series) for one in series}
    shared = _shared(list(names.values()))
    texts, free_from = [], y.end
    for left, (wish, _, one) in enumerate(wanted[:most]):
        last = foot - labels.LINE * (min(len(wanted), most) - left - 0.5)
        place = min(max(wish, free_from), last)
        free_from = place + labels.LINE
        name = names[one.id][shared:]
        texts.append(
            labels.annotation(
                labels.plain(f"{cut(name, NAME_LONGEST)} {short_number(values[one.id])}"),
                colour=f"var(--label-{one.style.slot})",
                x=1,
                y=(y.start - place) / (y.start - y.end),
                xref="paper",
                yref=f"{frame.axis} domain",
                xanchor="left",
                xshift=8,
                hovertext=labels.plain(one.label),
            )
        )
    return texts


def _shared(names: Sequence[str]) -> int:
    """How many characters all of several names begin with, whole words of them."""
    first, last = min(names, default=""), max(names, default="")
    same = sum(
        1 for _ in takewhile(lambda both: both[0] == both[1], zip(first, last, strict=False))
    )
    return max(first.rfind(end, 0, same) + 1 for end in "_/ ") if len(names) > 1 else 0


def meta(trend: Trend) -> labels.Json:
    """Revisions with their order along the axis, and of each series what no trace holds."""
    return {
        "window": trend.window,
        "whole": list(trend.whole_extent),
        "revisions": _revisions(trend),
        "series": [_series(trend, one) for one in trend.series],
    }


def _revisions(trend: Trend) -> labels.Json:
    of: Revisions = trend.revisions
    places = x_values(trend, range(len(of.names)))
    placed = [(place, at) for at, place in enumerate(places) if place is not None]
    return {
        "name": of.names,
        "subject": of.subjects,
        "author": of.authors,
        "time": of.times,
        "place": places,
        "order": [at for _, at in sorted(placed)],
    }


def _series(trend: Trend, series: TrendSeries) -> labels.Json:
    return {
        "id": series.id,
        "name": trend.short_name(series),
        "hardware": series.hardware,
        "mode": series.mode,
        "slot": series.style.slot,
        "revision": series.indices,
        "n": series.counts,
        "found": [
            {"at": one.index, "verdict": one.verdict, "size": one.whole_size, "state": one.state}
            for one in (*series.found, *series.marks)
        ],
        "apart": [series.indices[one.at] for one in series.apart],
        "factor": series.factor if trend.values == Values.INDEXED else 1,
    }
