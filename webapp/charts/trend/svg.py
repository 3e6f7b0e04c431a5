"""The trend chart as an image made on the server: the first paint, and all there is without
scripts. Pure. It has the margins of the Plotly figure, which takes its place without a jump.
"""

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, ticks
from webapp.charts.text import number
from webapp.charts.theme import MARGINS
from webapp.charts.trend.alerts import AlertMark, labels, line_class
from webapp.charts.trend.markers import Marker, marker_labels
from webapp.charts.trend.trend import Axis, Trend, TrendSeries, Whiskers, x_values

WIDTH = 1080.0
HEIGHT = 420.0
LABELS = 8
FLAG_SIZE = 5.0
DASH = 4.5
"""Half of the dash of a run that disagrees, and the radius of its point."""
ROW = 14.0
"""The height of a row of labels of alerts."""
ROOM = 180.0
"""What the label of an event or a release may need beside its line."""


def draw(trend: Trend) -> str:
    """The SVG of ``trend``: axes, then whiskers, lines and flags of each series."""
    x, y = _scales(trend)
    return svg.document(
        *_frame(trend, x, y),
        *_marker_lines(trend, x, y),
        *_alert_lines(trend, x, y),
        *(_series(trend, series, x, y) for series in trend.drawn),
        *_labels(trend, x, y),
        *_alert_labels(trend, x, y),
        *_marker_labels(trend, x, y),
        width=WIDTH,
        height=HEIGHT,
        described=f"{trend.y_title} by revision of {trend.tree}",
        class_="trend",
    )


def _scales(trend: Trend) -> tuple[Scale, Scale]:
    low, high = trend.y_range
    first, last = _extent(trend)
    return (
        Scale(first, last, MARGINS.left, WIDTH - MARGINS.right),
        Scale(low, high, HEIGHT - MARGINS.bottom, MARGINS.top),
    )


def _extent(trend: Trend) -> tuple[float, float]:
    if trend.axis == Axis.COMMIT:
        return -0.5, max(len(trend.revisions.names), 1) - 0.5
    times = [float(time) for time in trend.revisions.times if time is not None]
    return (min(times), max(times) + 1) if times else (0.0, 1.0)


def _frame(trend: Trend, x: Scale, y: Scale) -> list[str]:
    right = WIDTH - MARGINS.right
    parts = [svg.label(trend.y_title, x=4.0, y=MARGINS.top - 10.0, class_="axis-title")]
    for value in ticks(y.low, y.high):
        at = y(value)
        parts.append(svg.element("line", x1=x.start, x2=right, y1=at, y2=at, class_="grid"))
        parts.append(svg.label(number(value), x=x.start - 6, y=at + 4, class_="tick end"))
    base = y.start
    parts.append(svg.element("line", x1=x.start, x2=right, y1=base, y2=base, class_="axis"))
    names = trend.revisions.names
    for index in spread_labels(len(names), LABELS):
        spot = x_values(trend, [index])[0]
        if spot is not None:
            parts.append(svg.label(names[index], x=x(spot), y=base + 18, class_="tick middle"))
    return parts


def _alert_lines(trend: Trend, x: Scale, y: Scale) -> list[str]:
    return [
        svg.element("line", x1=at, x2=at, y1=y.start, y2=y.end, class_=line_class(mark))
        for mark in trend.alerts
        if (at := _across(trend, mark, x)) is not None
    ]


def _alert_labels(trend: Trend, x: Scale, y: Scale) -> list[str]:
    placed = [
        (one, at)
        for one in labels(trend.alerts, len(trend.revisions.names))
        if (at := _across(trend, one.mark, x)) is not None
    ]
    return [
        svg.element(
            "a",
            svg.label(one.mark.text, x=at + 3, y=y.start - 4 - ROW * one.row, class_="alert"),
            href=one.mark.href,
        )
        for one, at in placed
    ]


def _marker_lines(trend: Trend, x: Scale, y: Scale) -> list[str]:
    return [
        svg.element(
            "line", x1=x(at), x2=x(at), y1=y.start, y2=y.end, class_=f"marker-line {one.kind}"
        )
        for one in trend.markers
        if (at := trend.marker_x(one)) is not None
    ]


def _marker_labels(trend: Trend, x: Scale, y: Scale) -> list[str]:
    return [
        svg.element(
            "a",
            svg.element("title", svg.plain_text(one.title)),
            _marker_label(one, x(at), y.end + ROW * (row + 1) - 3),
            href=one.href,
        )
        for one, row in marker_labels(trend.markers, len(trend.revisions.names))
        if (at := trend.marker_x(one)) is not None
    ]


def _marker_label(marker: Marker, across: float, height: float) -> str:
    """At the right of its line; at its left where the frame is near."""
    at_left = across > WIDTH - MARGINS.right - ROOM
    return svg.label(
        marker.label,
        x=across - 3 if at_left else across + 3,
        y=height,
        class_=f"marker {marker.kind}{' end' if at_left else ''}",
    )


def _across(trend: Trend, mark: AlertMark, x: Scale) -> float | None:
    at = x_values(trend, [mark.index])[0]
    return None if at is None else x(at)


def _labels(trend: Trend, x: Scale, y: Scale) -> list[str]:
    starts = [
        (series, text, x_values(trend, series.indices[:1])[0]) for series, text in trend.labels
    ]
    return [
        svg.label(
            text,
            x=x(at),
            y=y.clamped(series.centres[0]) - 8,
            class_=f"label {series.style.css_class}",
        )
        for series, text, at in starts
        if at is not None
    ]


def _series(trend: Trend, series: TrendSeries, x: Scale, y: Scale) -> str:
    indices = x_values(trend, series.indices)
    dots = [
        (x(at), y.clamped(centre)) if at is not None else None
        for at, centre in zip(indices, series.centres, strict=True)
    ]
    return svg.element(
        "g",
        *([_whiskers(series, dots, y)] if trend.whiskers != Whiskers.NONE else []),
        svg.element(
            "polyline",
            points=svg.points(dot for dot in dots if dot is not None),
            stroke_dasharray=series.style.svg_dash,
        ),
        *_levels(trend, series, x, y),
        *_suspects(trend, series, x, y),
        *_flags(series, dots),
        *_apart(series, dots, y),
        class_=series.style.css_class,
    )


Dots = list[tuple[float, float] | None]


def _whiskers(series: TrendSeries, dots: Dots, y: Scale) -> str:
    """All whiskers of a series as one path: twenty series would else be thousands of elements."""
    strokes = [
        f"M{dot[0]:.1f} {y.clamped(low):.1f}V{y.clamped(high):.1f}"
        for dot, low, high in zip(dots, series.lows, series.highs, strict=True)
        if dot is not None and low is not None and high is not None
    ]
    return svg.element("path", d="".join(strokes) or "M0 0", class_="whiskers")


def _levels(trend: Trend, series: TrendSeries, x: Scale, y: Scale) -> list[str]:
    """All levels of a series as one path."""
    strokes = [
        _stroke(trend, (level.first, level.last), x, (y.clamped(level.start), y.clamped(level.end)))
        for level in series.levels
    ]
    return [svg.element("path", d="".join(strokes), class_="level")] if any(strokes) else []


def _suspects(trend: Trend, series: TrendSeries, x: Scale, y: Scale) -> list[str]:
    heights = [y.clamped(series.centres[one.at]) for one in series.found]
    strokes = [
        _stroke(trend, (one.after, one.last), x, (height, height))
        for one, height in zip(series.found, heights, strict=True)
    ]
    return [svg.element("path", d="".join(strokes), class_="suspects")] if any(strokes) else []


def _stroke(trend: Trend, indices: tuple[int, int], x: Scale, heights: tuple[float, float]) -> str:
    """A line between two indices; empty where the time of either is not known."""
    start, end = x_values(trend, indices)
    if start is None or end is None:
        return ""
    return f"M{x(start):.1f} {heights[0]:.1f}L{x(end):.1f} {heights[1]:.1f}"


def _flags(series: TrendSeries, dots: Dots) -> list[str]:
    placed = [(mark, dots[mark.at]) for mark in series.marks]
    return [
        svg.element(
            "polygon",
            points=svg.triangle(*dot, size=FLAG_SIZE, up=mark.flag == "improved"),
            class_=mark.flag if mark.is_confirmed else f"{mark.flag} candidate",
        )
        for mark, dot in placed
        if dot is not None
    ]


def _apart(series: TrendSeries, dots: Dots, y: Scale) -> list[str]:
    """Points whose runs disagree: hollow, with the word, and a dash at the mean of each run."""
    parts: list[str] = []
    for one in series.apart:
        dot = dots[one.at]
        if dot is None:
            continue
        across, height = dot
        dashes = "".join(
            f"M{across - DASH:.1f} {y.clamped(mean):.1f}h{2 * DASH:.1f}" for mean in one.means
        )
        parts += [
            svg.element("path", d=dashes, class_="apart"),
            svg.element("circle", cx=across, cy=height, r=DASH, class_="apart"),
            svg.label("lab?", x=across, y=height - 2 * DASH, class_="apart middle"),
        ]
    return parts
