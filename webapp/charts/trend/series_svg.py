"""One series of the trend chart: band, whiskers, points, levels, changes. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.marks import MARKS, RISER_STEP, Span
from webapp.charts.trend.trend import Trend, TrendSeries, Whiskers, x_values

DASH = 4.5
"""Half of the dash of a run that disagrees, and the radius of its point."""

FEW = 120
"""With more points in view than that they are drawn smaller."""

Dot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a lane draws. ``is_crowded``: so many series that changes have no words;
    ``has_points``: there is room for points and whiskers beside the levels.
    """

    trend: Trend
    x: Scale
    y: Scale
    is_crowded: bool
    has_points: bool

    def across(self, index: float) -> float | None:
        """Where a revision stands, cut at the ends of the axis; None: its time is not known."""
        place = x_values(self.trend, [int(index)])[0]
        return None if place is None else self.x.clamped(place)


def draw_series(frame: Frame, series: TrendSeries) -> str:
    """The group of one series."""
    has_dots = frame.has_points or series.apart or not series.levels
    dots = _dots(frame, series) if has_dots else []
    has_whiskers = frame.has_points and frame.trend.whiskers != Whiskers.NONE
    parts = [
        *_bands(frame, series),
        *(_whiskers(frame, series, dots) if has_whiskers else ()),
        *(() if series.levels else _line(dots)),
        *(_points(dots) if frame.has_points else ()),
        *_levels(frame, series),
        *_changes(frame, series),
        *_apart(frame, series, dots),
    ]
    return svg.element("g", *parts, class_=f"series series-{series.style.slot}", data_id=series.id)


def _dots(frame: Frame, series: TrendSeries) -> list[Dot | None]:
    """Where each point is drawn; None outside of what is in view."""
    x, y = frame.x, frame.y
    across, left = x.slope, x.start - x.slope * x.low
    down, top = y.slope, y.start - y.slope * y.low
    return [
        (left + across * place, top + down * min(max(value, y.low), y.high))
        if place is not None and x.low <= place <= x.high
        else None
        for place, value in zip(x_values(frame.trend, series.indices), series.centres, strict=True)
    ]


def _points(dots: list[Dot | None]) -> list[str]:
    shown = [number for dot in dots if dot for number in dot]
    count = len(shown) // 2
    drawn = "M%.1f %.1fh0" * count % tuple(shown)
    width = "4.4" if count <= FEW else "3"
    return [svg.element("path", d=drawn, class_="pt", stroke_width=width)] if drawn else []


def _line(dots: list[Dot | None]) -> list[str]:
    """What joins the points of a series that has no levels yet."""
    places = [dot for dot in dots if dot]
    return [svg.element("polyline", points=svg.points(places))] if len(places) > 1 else []


def _whiskers(frame: Frame, series: TrendSeries, dots: list[Dot | None]) -> list[str]:
    """All of a series as one path: twenty series would else be thousands of elements."""
    y = frame.y
    down, top = y.slope, y.start - y.slope * y.low
    ends = [
        number
        for dot, low, high in zip(dots, series.lows, series.highs, strict=True)
        if dot is not None and low is not None and high is not None
        for number in (
            dot[0],
            top + down * min(max(low, y.low), y.high),
            top + down * min(max(high, y.low), y.high),
        )
    ]
    drawn = "M%.1f %.1fV%.1f" * (len(ends) // 3) % tuple(ends)
    return [svg.element("path", d=drawn, class_="wh")] if drawn else []


def _ends(frame: Frame, levels: list[Level]) -> Iterator[tuple[Level, float, float]]:
    """Each level in view with its ends: neighbours meet halfway, where the riser stands."""
    placed = [(one, frame.across(one.first), frame.across(one.last)) for one in levels]
    known = [(one, a, b) for one, a, b in placed if a is not None and b is not None]
    starts = [known[0][1]] if known else []
    starts += [(before[2] + after[1]) / 2 for before, after in pairwise(known)]
    for at, (one, _, last) in enumerate(known):
        end = starts[at + 1] if at + 1 < len(starts) else last
        if end > starts[at]:
            yield one, starts[at], end


def _levels(frame: Frame, series: TrendSeries) -> list[str]:
    y = frame.y.clamped
    drawn = "".join(
        f"M{first:.1f} {y(one.start):.1f}L{last:.1f} {y(one.end):.1f}"
        for one, first, last in _ends(frame, list(series.levels))
    )
    dash = series.style.svg_dash
    return [svg.element("path", d=drawn, class_="lv", stroke_dasharray=dash)] if drawn else []


def _bands(frame: Frame, series: TrendSeries) -> list[str]:
    y = frame.y.clamped
    drawn = "".join(
        f"M{first:.1f} {y(one.low):.1f}H{last:.1f}V{y(one.high):.1f}H{first:.1f}z"
        for one, first, last in _ends(frame, list(series.levels))
        if one.low is not None and one.high is not None and one.low < one.high
    )
    return [svg.element("path", d=drawn, class_="bd")] if drawn else []


def _changes(frame: Frame, series: TrendSeries) -> list[str]:
    """Each finding as its kind is drawn; those of one revision stand side by side."""
    order = [one.id for one in frame.trend.drawn].index(series.id) if not series.is_cost else 0
    offset = RISER_STEP * (order % 5 - (min(len(frame.trend.drawn), 5) - 1) / 2)
    parts: list[str] = []
    for one, later in zip_longest(series.found, series.found[1:]):
        span = _span(frame, one, later, offset)
        if span is not None:
            parts += MARKS[one.kind](frame, one, span)
            parts += _suspects(frame, one.after, one.last)
    for one in series.marks:
        span = _span(frame, one, None, 0.0)
        if span is not None:
            parts += MARKS[one.kind](frame, one, span)
    return parts


def _span(frame: Frame, found: Found, later: Found | None, offset: float) -> Span | None:
    """Where a finding stands; None outside of what is in view."""
    point, before = frame.across(found.index), frame.across(max(found.index - 1, 0))
    if point is None or before is None or point == before:
        return None
    until = frame.across(later.index) if later else None
    since = frame.across(found.after)
    return Span(
        edge=(before + point) / 2 + offset,
        point=point,
        until=frame.x.end if until is None else until,
        since=before if since is None else since,
    )


def _suspects(frame: Frame, after: int, last: int) -> list[str]:
    """The bar on the axis over the revisions among which a change began."""
    start, end = frame.across(after), frame.across(last)
    if start is None or end is None:
        return []
    y = frame.y.start - 2
    width = max(end - start, 4.0)
    return [svg.element("rect", x=start, y=y, width=width, height=4.0, rx=2.0, class_="sus")]


def _apart(frame: Frame, series: TrendSeries, dots: list[Dot | None]) -> list[str]:
    """Points whose runs disagree: hollow, with the word, and a dash at the mean of each run."""
    parts: list[str] = []
    for one in series.apart:
        dot = dots[one.at]
        if dot is None:
            continue
        across, height = dot
        dashes = "".join(
            f"M{across - DASH:.1f} {frame.y.clamped(mean):.1f}h{2 * DASH:.1f}" for mean in one.means
        )
        parts += [
            svg.element("path", d=dashes, class_="apart"),
            svg.element("circle", cx=across, cy=height, r=DASH, class_="apart"),
            svg.label("lab?", x=across, y=height - 2 * DASH, class_="apart middle"),
        ]
    return parts
