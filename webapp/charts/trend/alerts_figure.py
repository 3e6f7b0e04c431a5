"""Alerts of the trend chart as parts of a Plotly figure. Pure."""

from typing import Any

from webapp.charts import theme
from webapp.charts.trend.alerts import labels
from webapp.charts.trend.trend import Trend, x_values

Json = dict[str, Any]


def alert_lines(trend: Trend) -> list[Json]:
    """The lines of the open alerts and those of the others, each as one trace with gaps."""
    return [
        _lines(trend, [mark.index for mark in trend.alerts if mark.is_open is is_open], opacity)
        for is_open, opacity in ((True, 0.9), (False, 0.4))
        if any(mark.is_open is is_open for mark in trend.alerts)
    ]


def _lines(trend: Trend, indices: list[int], opacity: float) -> Json:
    low, high = trend.y_range
    x: list[int | None] = []
    y: list[float | None] = []
    for at in x_values(trend, indices):
        x += [at, at, None]
        y += [low, high, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": theme.INK, "width": 1, "dash": "dot"},
        "opacity": opacity,
        "hoverinfo": "skip",
    }


def alert_columns(trend: Trend) -> list[Json]:
    """The labels, for the script to place over the chart: Plotly's own links need inline styles."""
    return [
        {"number": mark.number, "state": mark.state, "href": mark.href, "x": at, "row": row}
        for mark, row in labels(trend.alerts, len(trend.revisions.names))
        if (at := x_values(trend, [mark.index])[0]) is not None
    ]
