"""Events and releases of the trend chart as parts of a Plotly figure. Pure."""

from typing import Any

from webapp.charts import theme
from webapp.charts.trend.markers import Kind, marker_labels
from webapp.charts.trend.trend import Trend

Json = dict[str, Any]

STYLES: dict[Kind, Json] = {
    "event": {"color": theme.MUTED, "width": 1.4, "dash": "dash"},
    "epoch": {"color": theme.INK, "width": 2.4, "dash": "dash"},
    "release": {"color": theme.MUTED, "width": 1, "dash": "solid"},
    "finding": {"color": theme.MUTED, "width": 1, "dash": "dashdot"},
}


def marker_lines(trend: Trend) -> list[Json]:
    """The lines of each kind as one trace with gaps; none: no trace."""
    drawn = {kind: [one for one in trend.markers if one.kind == kind] for kind in STYLES}
    return [
        _lines(trend, [trend.marker_x(one) for one in marks], STYLES[kind])
        for kind, marks in drawn.items()
        if marks
    ]


def _lines(trend: Trend, positions: list[float | None], style: Json) -> Json:
    low, high = trend.y_range
    x: list[float | None] = []
    y: list[float | None] = []
    for at in positions:
        x += [at, at, None]
        y += [low, high, None]
    line = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": style}
    return line | {"hoverinfo": "skip"}


def marker_columns(trend: Trend) -> list[Json]:
    """The labels, for the script to put over the chart."""
    return [
        {
            "text": mark.label,
            "short": mark.short,
            "title": mark.title,
            "kind": mark.kind,
            "href": mark.href,
            "x": at,
            "row": row,
        }
        for mark, row in marker_labels(trend.markers, len(trend.revisions.names))
        if (at := trend.marker_x(mark)) is not None
    ]
