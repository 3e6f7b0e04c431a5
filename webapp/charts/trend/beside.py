"""What stands beside the points of a trend chart: events, releases and alerts. Pure."""

from collections.abc import Iterator

from webapp.charts.scale import Scale
from webapp.charts.trend import labels
from webapp.charts.trend.marks import PAPER, Symbol
from webapp.charts.trend.series import Marker
from webapp.charts.trend.trend import Trend, x_value

INK, MUTED = "var(--ink)", "var(--muted)"
SIGNS = {
    "event": ("diamond", PAPER, MUTED),
    "epoch": ("diamond", INK, INK),
    "note": ("square", PAPER, MUTED),
}
"""Symbol, fill and line of what happened in a lab; a release has none."""

SIGN = 7.0
BADGE, DIGIT = 16.0, 6.5
"""The height of the square with the number of an alert, and the width of a digit there."""


def in_view(trend: Trend, x: Scale) -> list[tuple[Marker, float]]:
    """The markers in view that have a line of their own, along the tree, each with its place."""
    placed = [(one, trend.marker_x(one)) for one in trend.beside]
    shown = [(one, at) for one, at in placed if at is not None and x.low <= at <= x.high]
    return sorted(shown, key=lambda each: each[1])


def marker_lines(trend: Trend, x: Scale) -> Iterator[labels.Json]:
    """A line for each event, note and release in view, through all lanes, as shapes."""
    for one, at in in_view(trend, x):
        dash = "solid" if one.kind == "release" else "3px,3px"
        line = {"color": MUTED, "width": 1, "dash": dash}
        where = {"xref": "x", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1}
        yield {"type": "line", "line": line, "opacity": 0.6, "layer": "below", **where}


def signs(trend: Trend, frame: labels.Frame) -> list[Symbol]:
    """The sign of each event and note, at the foot of its line."""
    return [
        Symbol(at, frame.y.low, shape, SIGN, fill, line, one.title)
        for one, at in in_view(trend, frame.x)
        if one.kind in SIGNS
        for shape, fill, line in (SIGNS[one.kind],)
    ]


def marker_texts(
    trend: Trend, x: Scale, *, is_narrow: bool, title: labels.Box
) -> Iterator[labels.Json]:
    """Their texts above the chart, as far as they cover neither one another nor the ``title`` of
    the first lane, linked. Each stands at the right of its line, at its left where the frame is
    near.
    """
    rows = labels.Rows()
    for _ in range(2):  # It stands between the two.
        rows.take(title.left, title.right)
    for one, at in in_view(trend, x):
        across, text = x(at), one.short if is_narrow else one.label
        width = labels.width_of(text) + 8
        is_left = across + width > x.end
        row = rows.take(
            across - width if is_left else across, across if is_left else across + width
        )
        if row is None:
            continue
        yield labels.annotation(
            labels.linked(text, one.href),
            colour=INK if one.kind == "epoch" else MUTED,
            x=at,
            y=1,
            xref="x",
            yref="paper",
            xanchor="right" if is_left else "left",
            xshift=-4 if is_left else 4,
            yshift=min(labels.LINE * row + labels.LINE / 2 + 1, labels.TOP - labels.LINE / 2),
            hovertext=labels.plain(one.title),
        )


def alert_badges(trend: Trend, frame: labels.Frame) -> list[tuple[labels.Json, labels.Box]]:
    """A square with its number for each alert in view, above the axis, linked, with where it
    stands; closed ones are hollow. Open ones choose their row first.
    """
    rows, badges = labels.Rows(), []
    for mark in sorted(trend.alerts, key=lambda one: (not one.is_open, one.index)):
        place = x_value(trend, mark.index)
        if place is None or not frame.x.low <= place <= frame.x.high:
            continue
        across, width = frame.x(place), DIGIT * len(str(mark.number)) + 9
        row = rows.take(across - width / 2, across + width / 2)
        if row is None:
            continue
        up = 6 + (BADGE + 2) * row + BADGE / 2
        made = labels.annotation(
            labels.linked(str(mark.number), mark.href),
            colour=PAPER if mark.is_open else INK,
            weight=600,
            x=place,
            y=0,
            xref="x",
            yref="paper",
            xanchor="center",
            yshift=up,
            bgcolor=INK if mark.is_open else PAPER,
            bordercolor=INK,
            hovertext=labels.plain(f"Alert {mark.text}"),
        )
        sized = {"width": width - 2, "height": BADGE - 2, "borderwidth": 1, "align": "center"}
        middle = frame.y.start - up
        box = labels.Box(
            across - width / 2, middle - BADGE / 2, across + width / 2, middle + BADGE / 2
        )
        badges.append((made | sized, box))
    return badges
