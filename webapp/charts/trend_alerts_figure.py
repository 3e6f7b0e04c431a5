"""Alerts of the trend chart as parts of a Plotly figure. Pure."""

from typing import Any

from webapp.charts import theme
from webapp.charts.trend import Trend, x_values
from webapp.charts.trend_alerts import Label, labels

Json = dict[str, Any]
ROW = 14
"""Pixels between two rows of labels."""


def alert_lines(trend: Trend) -> list[Json]:
    """The lines of the open alerts and those of the others, each as one trace with gaps."""
    return [
        _lines(trend, [mark.place for mark in trend.alerts if mark.is_open is is_open], opacity)
        for is_open, opacity in ((True, 0.9), (False, 0.4))
        if any(mark.is_open is is_open for mark in trend.alerts)
    ]


def _lines(trend: Trend, places: list[int], opacity: float) -> Json:
    low, high = trend.y_range
    x: list[int | None] = []
    y: list[float | None] = []
    for at in x_values(trend, places):
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


def alert_labels(trend: Trend) -> list[Json]:
    placed = labels(trend.alerts, len(trend.revisions.names))
    return [note for one in placed if (note := _label(trend, one)) is not None]


def _label(trend: Trend, one: Label) -> Json | None:
    """A link at the foot; None where the time of the commit is not known."""
    at = x_values(trend, [one.mark.place])[0]
    if at is None:
        return None
    return {
        "name": "alert",
        "text": f'<a href="{one.mark.href}" target="_self">{one.mark.text}</a>',
        "showarrow": False,
        "x": at,
        "xanchor": "left",
        "xshift": 1,
        "yref": "paper",
        "y": 0,
        "yanchor": "bottom",
        "yshift": ROW * one.row,
        "bgcolor": theme.PAPER,
        "borderpad": 0,
        "font": {"color": theme.INK, "size": 11},
    }
