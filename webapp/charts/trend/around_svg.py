"""What stands beside the points of a trend chart: events, releases and alerts. Pure."""

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.trend.alerts import labels
from webapp.charts.trend.markers import Marker, marker_labels
from webapp.charts.trend.trend import Trend, x_values

ROW = 13.0
ROOM = 180.0
"""What the text of an event or a release may need beside its line."""

DIAMOND = 4.5
SQUARE = 16.0
"""The height of the square with the number of an alert."""

CHARACTER = 6.5


def marker_lines(trend: Trend, x: Scale, top: float, base: float) -> list[str]:
    """A line for each event and release in view; that of an event wears a diamond."""
    parts: list[str] = []
    for one in trend.markers:
        at = _across(trend, one, x)
        if at is None:
            continue
        line = f"M{at:.1f} {top:.1f}V{base:.1f}"
        parts.append(svg.element("path", d=line, class_=f"marker-line {one.kind}"))
        if one.kind != "release":
            shape = f"M{at:.1f} {base - DIAMOND:.1f}l{DIAMOND} {DIAMOND}-{DIAMOND} {DIAMOND}"
            diamond = f"{shape}-{DIAMOND}-{DIAMOND}z"
            parts.append(svg.element("path", d=diamond, class_=f"diamond {one.kind}"))
    return parts


def marker_texts(trend: Trend, x: Scale, top: float) -> list[str]:
    """Their texts above the chart, as far as they do not cover one another, linked."""
    return [
        svg.element(
            "a",
            svg.element("title", svg.plain_text(one.title)),
            _text(one, at, top - ROW * (row + 1) + 6, x.end),
            href=one.href,
        )
        for one, row in marker_labels(trend.markers, len(trend.revisions.names))
        if (at := _across(trend, one, x)) is not None
    ]


def _text(marker: Marker, across: float, height: float, end: float) -> str:
    """At the right of its line; at its left where the frame is near."""
    at_left = across > end - ROOM
    return svg.label(
        marker.label,
        x=across - 4 if at_left else across + 4,
        y=max(height, ROW - 3),
        class_=f"marker {marker.kind}{' end' if at_left else ''}",
    )


def alert_marks(trend: Trend, x: Scale, base: float) -> list[str]:
    """A square with its number for each alert, above the axis, linked; closed ones are hollow."""
    parts: list[str] = []
    for mark, row in labels(trend.alerts, len(trend.revisions.names)):
        place = x_values(trend, [mark.index])[0]
        if place is None or not x.low <= place <= x.high:
            continue
        width = CHARACTER * len(str(mark.number)) + 9
        top = base - 6 - (SQUARE + 2) * (row + 1)
        box = svg.element("rect", x=x(place) - width / 2, y=top, width=width, height=SQUARE, rx=3.0)
        text = svg.label(mark.number, x=x(place), y=top + SQUARE - 4.5, class_="middle")
        said = svg.element("title", svg.plain_text(f"Alert {mark.text}"))
        css_class = "alert-mark" if mark.is_open else "alert-mark closed"
        parts.append(svg.element("a", said, box, text, href=mark.href, class_=css_class))
    return parts


def _across(trend: Trend, marker: Marker, x: Scale) -> float | None:
    place = trend.marker_x(marker)
    return None if place is None or not x.low <= place <= x.high else x(place)
