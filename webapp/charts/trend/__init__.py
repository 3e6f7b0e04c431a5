"""The trend chart of several series along one tree: as a drawing and as columns for a script."""

from webapp.charts.trend.alerts import AlertMark, distinct
from webapp.charts.trend.columns import columns
from webapp.charts.trend.legend import Entry, legend
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.markers import Marker, MarkerKind
from webapp.charts.trend.svg import NARROW, draw, room_for
from webapp.charts.trend.trend import (
    Apart,
    Axis,
    Revisions,
    Split,
    Trend,
    TrendSeries,
    Values,
    Whiskers,
)

__all__ = [
    "NARROW",
    "AlertMark",
    "Apart",
    "Axis",
    "Entry",
    "Found",
    "Level",
    "Marker",
    "MarkerKind",
    "Revisions",
    "Split",
    "Trend",
    "TrendSeries",
    "Values",
    "Whiskers",
    "columns",
    "distinct",
    "draw",
    "legend",
    "room_for",
]
