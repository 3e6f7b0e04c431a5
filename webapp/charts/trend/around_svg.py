"""What stands beside the points of a trend chart: events, releases and alerts. Pure."""

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.trend.markers import Marker
from webapp.charts.trend.rows import Rows
from webapp.charts.trend.trend import Trend, x_values

ROW = 13.0
DIAMOND = 4.5
NOTE, FOLD = 10.0, 3.0
"""A note is a sheet of so many pixels with one corner folded."""

SQUARE = 16.0
"""The height of the square with the number of an alert."""

LETTER, DIGIT = 6.2, 6.5
"""The width of a character of a text, and of the number of an alert."""


def marker_lines(trend: Trend, x: Scale, top: float, base: float) -> list[str]:
    """A line for each event, note and release in view; the first two wear a sign at its foot."""
    parts: list[str] = []
    for one in trend.beside:
        at = _across(trend, one, x)
        if at is None:
            continue
        line = f"M{at:.1f} {top:.1f}V{base:.1f}"
        parts.append(svg.element("path", d=line, class_=f"marker-line {one.kind}"))
        if one.kind != "release":
            parts.append(note(at, base) if one.kind == "note" else diamond(one.kind, at, base))
    return parts


def diamond(kind: str, at: float, base: float) -> str:
    """The sign of an event."""
    shape = f"M{at:.1f} {base - DIAMOND:.1f}l{DIAMOND} {DIAMOND}-{DIAMOND} {DIAMOND}"
    return svg.element("path", d=f"{shape}-{DIAMOND}-{DIAMOND}z", class_=f"diamond {kind}")


def note(at: float, base: float) -> str:
    """The sign of a note: a sheet with a folded corner."""
    side = NOTE - FOLD
    sheet = f"M{at - NOTE / 2:.1f} {base - NOTE / 2:.1f}h{side:.0f}l{FOLD:.0f} {FOLD:.0f}"
    return svg.element("path", d=f"{sheet}v{side:.0f}h-{NOTE:.0f}z", class_="diamond note")


def marker_texts(trend: Trend, x: Scale, top: float, *, is_narrow: bool) -> list[str]:
    """Their texts above the chart, as far as they do not cover one another, linked. Each stands at
    the right of its line, at its left where the frame is near.
    """
    rows, parts = Rows(), []
    for one in sorted(trend.beside, key=lambda marker: marker.at):
        at = _across(trend, one, x)
        if at is None:
            continue
        written = one.short if is_narrow else one.label
        width = LETTER * len(written) + 8
        is_left = at + width > x.end
        row = rows.take(at - width if is_left else at, at if is_left else at + width)
        if row is not None:
            text = svg.label(
                written,
                x=at - 4 if is_left else at + 4,
                y=max(top - ROW * (row + 1) + 6, ROW - 3),
                class_=f"marker {one.kind}{' end' if is_left else ''}",
            )
            title = svg.element("title", svg.plain_text(one.title))
            parts.append(svg.element("a", title, text, href=one.href))
    return parts


def alert_marks(trend: Trend, x: Scale, base: float) -> list[str]:
    """A square with its number for each alert, above the axis, linked; closed ones are hollow. Open
    ones choose their row first.
    """
    rows, parts = Rows(), []
    for mark in sorted(trend.alerts, key=lambda one: (not one.is_open, one.index)):
        place = x_values(trend, [mark.index])[0]
        if place is None or not x.low <= place <= x.high:
            continue
        half = (DIGIT * len(str(mark.number)) + 9) / 2
        row = rows.take(x(place) - half, x(place) + half)
        if row is None:
            continue
        said = svg.element("title", svg.plain_text(f"Alert {mark.text}"))
        box = alert_box(mark.number, x(place), base - 6 - (SQUARE + 2) * (row + 1))
        css_class = "alert-mark" if mark.is_open else "alert-mark closed"
        parts.append(svg.element("a", said, box, href=mark.href, class_=css_class))
    return parts


def alert_box(number: int, at: float, top: float) -> str:
    """The square of an alert."""
    width = DIGIT * len(str(number)) + 9
    box = svg.element("rect", x=at - width / 2, y=top, width=width, height=SQUARE, rx=3.0)
    return box + svg.label(number, x=at, y=top + SQUARE - 4.5, class_="middle")


def _across(trend: Trend, marker: Marker, x: Scale) -> float | None:
    place = trend.marker_x(marker)
    return None if place is None or not x.low <= place <= x.high else x(place)
