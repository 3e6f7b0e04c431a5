"""One series of the trend chart as traces of Plotly: band, whiskers, points, levels, findings.
Pure. Coordinates are those of the axes; what lies outside of the view is cut off by the drawing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from math import isfinite

from webapp.charts.trend import marks
from webapp.charts.trend.labels import Frame, Json, plain
from webapp.charts.trend.series import Found, Level, TrendSeries
from webapp.charts.trend.trend import Trend, Whiskers, x_value, x_values

FEW = 120
"""With more points in view than that they are drawn smaller."""

DASH = 4.5
"""Half of the dash of a run that disagrees, and the radius of its point, in pixels."""

Number = float | None


def colour_of(series: TrendSeries) -> str:
    """The colour of its lines and points."""
    return f"var(--series-{series.style.slot})"


def series_traces(trend: Trend, frame: Frame, series: TrendSeries) -> list[Json]:
    """Band, what joins the points, points with whiskers, and levels, under the id of the series."""
    ends = list(level_ends(trend, series.levels))
    drawn = [
        _band(frame, series, ends),
        _line(trend, frame, series) if not series.levels else None,
        _points(trend, frame, series),
        _levels(frame, series, ends),
    ]
    return [one for one in drawn if one is not None]


def _points(trend: Trend, frame: Frame, series: TrendSeries) -> Json:
    places = x_values(trend, series.indices)
    # Among few no more can be in view.
    shown = len(places) > FEW and frame.in_view(places)
    whiskers = _whiskers(series) if trend.whiskers != Whiskers.NONE and frame.has_points else {}
    return marks.trace(
        frame,
        mode="markers",
        name=plain(trend.short_name(series)),
        x=places,
        y=series.heights,
        marker={
            "color": colour_of(series),
            "size": 4.4 if shown <= FEW else 3,
            "line": {"width": 0},
            "opacity": 0.7 if frame.has_points else 0.25,
        },
        hoverinfo="none",
        meta=series.id,
        **whiskers,
    )


def _whiskers(series: TrendSeries) -> Json:
    up, down = series.reaches
    drawn = {"color": colour_of(series), "thickness": 0.8, "width": 0}
    ends = {"array": up, "arrayminus": down}
    return {"error_y": {"type": "data", "symmetric": False, **ends, **drawn}}


def _line(trend: Trend, frame: Frame, series: TrendSeries) -> Json:
    """What joins the points of a series that has no levels yet."""
    return marks.trace(
        frame,
        mode="lines",
        x=x_values(trend, series.indices),
        y=series.heights,
        line={"color": colour_of(series), "width": 1, "dash": "solid"},
        connectgaps=True,
        opacity=0.6,
        meta=series.id,
    )


def joints(trend: Trend, series: TrendSeries) -> Iterator[tuple[tuple[float, float], ...]]:
    """The ends of each line that joins two neighbouring points of a series without levels."""
    places = zip(x_values(trend, series.indices), series.centres, strict=True)
    known = [(x, y) for x, y in places if x is not None and isfinite(y)]
    return iter(()) if series.levels else pairwise(known)


def level_ends(trend: Trend, levels: Sequence[Level]) -> Iterator[tuple[Level, float, float]]:
    """Each level with where it begins and ends: neighbours meet halfway, where the riser stands."""
    placed = [(one, x_value(trend, one.first), x_value(trend, one.last)) for one in levels]
    known = [(one, a, b) for one, a, b in placed if a is not None and b is not None]
    starts = [known[0][1]] if known else []
    starts += [(before[2] + after[1]) / 2 for before, after in pairwise(known)]
    for at, (one, _, last) in enumerate(known):
        end = starts[at + 1] if at + 1 < len(starts) else last
        if end > starts[at]:
            yield one, starts[at], end


def _levels(
    frame: Frame, series: TrendSeries, ends: Iterable[tuple[Level, float, float]]
) -> Json | None:
    xs = [place for _, start, end in ends for place in (start, end, None)]
    ys = [height for one, _, _ in ends for height in (one.start, one.end, None)]
    dash = series.style.svg_dash.replace(" ", "px,") + "px" if series.style.svg_dash else "solid"
    line = {"color": colour_of(series), "width": 2.4, "dash": dash}
    return marks.trace(frame, mode="lines", x=xs, y=ys, line=line, meta=series.id) if xs else None


def _band(
    frame: Frame, series: TrendSeries, ends: Iterable[tuple[Level, float, float]]
) -> Json | None:
    """A polygon along each level whose interval is known: as wide at its end as at its start."""
    xs: list[Number] = []
    ys: list[Number] = []
    for one, start, end in ends:
        if one.low is not None and one.high is not None and one.low < one.high:
            moved = one.end - one.start
            xs += [start, end, end, start, None]
            ys += [one.low, one.low + moved, one.high + moved, one.high, None]
    fill = {"fill": "toself", "fillcolor": colour_of(series), "opacity": 0.12}
    return marks.trace(frame, mode="none", x=xs, y=ys, meta=series.id, **fill) if xs else None


def sketch_findings(trend: Trend, sketch: marks.Sketch, series: TrendSeries) -> list[Json]:
    """Draw each finding as its kind is drawn; those of one revision stand side by side. Returns the
    bars on the axis over the revisions among which each change began, as shapes.
    """
    frame, bars, steps = sketch.frame, [], []
    for one, later in zip_longest(series.found, series.found[1:]):
        span = _span(trend, frame, series, one, later)
        if span is not None:
            marks.MARKS[one.kind](sketch, one, span)
            bars += _suspects(trend, frame, one)
            steps += [span.edge] if one.is_confirmed else []
    for one in series.marks:
        span = _span(trend, frame, series, one, None)
        if span is not None:
            marks.MARKS[one.kind](sketch, *_since_last(trend, series, steps, one, span))
    _sketch_apart(trend, sketch, series)
    _sketch_beside(trend, sketch, series)
    return bars


def _offset(trend: Trend, series: TrendSeries, found: Found) -> float:
    """In pixels: changes of several series at one revision stand side by side."""
    order = trend.changing.get(found.index, ())
    if series.id not in order:
        return 0.0
    place, most = order.index(series.id) % 5, min(len(order), 5) - 1
    return marks.RISER_STEP * (place - most / 2)


def _span(
    trend: Trend, frame: Frame, series: TrendSeries, found: Found, later: Found | None
) -> marks.Span | None:
    """Where a finding stands; None where its time is not known."""
    point, before = x_value(trend, found.index), x_value(trend, max(found.index - 1, 0))
    if point is None or before is None or point == before:
        return None
    until = x_value(trend, later.index) if later else None
    since = x_value(trend, found.after)
    return marks.Span(
        edge=(before + point) / 2 + frame.along(_offset(trend, series, found)),
        point=point,
        until=trend.whole_extent[1] if until is None else until,
        since=before if since is None else since,
        colour=colour_of(series),
    )


def _since_last(
    trend: Trend, series: TrendSeries, steps: Sequence[float], found: Found, span: marks.Span
) -> tuple[Found, marks.Span]:
    """A slow change and its span from the last step within on, for its heights are those of the
    newest level; along that level where the level itself has a slope.
    """
    if found.kind != "slow":
        return found, span
    begin = max((one for one in steps if span.since < one < span.point), default=span.since)
    middle = (begin + span.point) / 2
    low, before, high, since = next(
        (
            (start, level.start, end, level.end)
            for level, start, end in level_ends(trend, series.levels)
            if level.start != level.end and start <= middle <= end
        ),
        (span.since, found.before, span.point, found.since),
    )
    slope = (since - before) / ((high - low) or 1.0)
    heights = [before + slope * (place - low) for place in (begin, span.point)]
    return replace(found, before=heights[0], since=heights[1]), span._replace(since=begin)


def _suspects(trend: Trend, frame: Frame, found: Found) -> list[Json]:
    start, end = x_value(trend, found.after), x_value(trend, found.last)
    if start is None or end is None:
        return []
    end = max(end, start + frame.along(4.0))
    heights = {"xref": "x", "yref": f"{frame.axis} domain", "y0": 0, "y1": 0, "layer": "above"}
    line = {"color": "var(--ink)", "width": 4, "dash": "solid"}
    return [{"type": "line", "x0": start, "x1": end, "line": line, "opacity": 0.5, **heights}]


def _sketch_apart(trend: Trend, sketch: marks.Sketch, series: TrendSeries) -> None:
    """Points whose runs disagree: hollow, with the word, and a dash at the mean of each run."""
    frame, colour = sketch.frame, colour_of(series)
    for one in series.apart:
        place, height = x_value(trend, series.indices[one.at]), series.centres[one.at]
        if place is None:
            continue
        reach = frame.along(DASH)
        for mean in one.means:
            sketch.line(marks.Stroke(colour, 1.6), place - reach, mean, place + reach, mean)
        title = "lab?: runs of this revision disagree"
        sketch.symbols.append(
            marks.Symbol(place, height, "circle", 2 * DASH, marks.PAPER, colour, title)
        )
        sketch.wishes.append(
            marks.Wish("lab?", frame.x(place), frame.y(height), "var(--ink)", aside=DASH + 3)
        )


def _sketch_beside(trend: Trend, sketch: marks.Sketch, series: TrendSeries) -> None:
    """Points of sessions from elsewhere: hollow; a word where a stretch of its own begins."""
    frame = sketch.frame
    for at, text in series.foreign.items():
        place, height = x_value(trend, series.indices[at]), series.centres[at]
        if place is None:
            continue
        if at in series.beside:
            look = ("circle", 2 * DASH, marks.PAPER, colour_of(series), text)
            sketch.symbols.append(marks.Symbol(place, height, *look))
        else:
            place, height = frame.x(place), frame.y(height)
            sketch.wishes.append(
                marks.Wish("new session", place, height, "var(--ink)", aside=DASH + 3)
            )
