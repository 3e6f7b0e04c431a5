"""The trend chart of several series along one tree: as a Plotly figure and as an image."""

from webapp.charts.trend.alerts import AlertMark, distinct
from webapp.charts.trend.figure import payload
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.markers import Marker
from webapp.charts.trend.svg import draw
from webapp.charts.trend.trend import Apart, Axis, Revisions, Trend, TrendSeries, Values, Whiskers

__all__ = [
    "AlertMark",
    "Apart",
    "Axis",
    "Found",
    "Level",
    "Marker",
    "Revisions",
    "Trend",
    "TrendSeries",
    "Values",
    "Whiskers",
    "distinct",
    "draw",
    "payload",
]
