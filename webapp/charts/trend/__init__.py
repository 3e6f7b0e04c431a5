"""The trend chart of several series along one tree: a figure of Plotly, and its drawing."""

from webapp.charts.trend.figure import coloured, figure
from webapp.charts.trend.labels import NARROW, WIDE, Room, room_for, room_of
from webapp.charts.trend.legend import Entry, legend
from webapp.charts.trend.series import (
    AlertMark,
    Apart,
    Found,
    Level,
    Marker,
    MarkerKind,
    Revisions,
    TrendSeries,
    distinct,
)
from webapp.charts.trend.svg import draw
from webapp.charts.trend.trend import Axis, Split, Trend, Values, Whiskers
