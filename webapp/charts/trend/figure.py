"""The trend chart as a Plotly figure. Pure.

The figure travels with the columns its hover card reads (`payload`), each value once: revisions
are rows of one table and a point names its revision by index, so 20 series of 200 revisions stay
small on the wire.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from webapp.charts import theme
from webapp.charts.plotly_text import literal
from webapp.charts.scale import spread_labels
from webapp.charts.theme import MARGINS
from webapp.charts.trend.alerts_figure import alert_columns, alert_lines
from webapp.charts.trend.apart_figure import apart_columns, apart_marks
from webapp.charts.trend.markers_figure import marker_columns, marker_lines
from webapp.charts.trend.trend import Axis, Trend, TrendSeries, Values, Whiskers, x_values

Json = dict[str, Any]

SIGNIFICANT_DIGITS = 6
LABELLED_REVISIONS = 8
MARKER_SIZE = 4.5
FLAG_SIZE = 11
LINE_WIDTH = 1.3
LEVEL_WIDTH = 3.5
LEVEL_OPACITY = 0.45
SUSPECTS_WIDTH = 7
SUSPECTS_OPACITY = 0.45


def payload(trend: Trend) -> Json:
    """What the page's script needs: the figure, and the columns behind its hover card.

    The values as measured are columns of their own only where the figure draws others.
    """
    columns = _columns if trend.values == Values.RAW else _columns_with_values
    return {
        "figure": figure(trend),
        "tree": trend.tree,
        "metric": trend.metric,
        "unit": trend.unit,
        "better": trend.better,
        "values": trend.values,
        "revisions": {"name": trend.revisions.names, "subject": trend.revisions.subjects},
        "series": [columns(series) for series in trend.series],
        "alerts": alert_columns(trend),
        "markers": marker_columns(trend),
    }


def _columns(series: TrendSeries) -> Json:
    return {
        "id": series.id,
        "hardware": series.hardware,
        "mode": series.mode,
        "simulated": series.simulated,
        "revision": series.indices,
        "n": series.counts,
        "percent": [_cents(value) for value in series.percents],
        "error": [_cents(value) for value in series.errors],
        "verdict": _initials(series.verdicts),
        "flag": _initials(series.flags),
        "found": [one.columns() for one in series.found],
        **apart_columns(series),
        **({"left_out": dict(series.left_out)} if series.left_out else {}),
    }


def _columns_with_values(series: TrendSeries) -> Json:
    return _columns(series) | {
        "value": [rounded(value) for value in series.centres],
        "low": [rounded(value) for value in series.lows],
        "high": [rounded(value) for value in series.highs],
    }


def _initials(values: Sequence[str]) -> str:
    """One character a point: the first of each word, ``-`` for none."""
    return "".join(word[:1] or "-" for word in values)


def figure(trend: Trend) -> Json:
    """The Plotly figure: lines, levels, suspects, alerts, then the marks above them all."""
    drawn = trend.drawn
    lines = [_line(trend, series) for series in drawn]
    levels = [_levels(trend, series) for series in drawn if series.levels]
    flags = [
        _flags(trend, drawn, flag, is_confirmed=is_confirmed)
        for flag in _FLAG_MARKS
        for is_confirmed in (True, False)
    ]
    under = [*lines, *levels, _suspects(trend, drawn), *alert_lines(trend), *marker_lines(trend)]
    return {"data": [*under, *flags, *apart_marks(trend)], "layout": layout(trend)}


def _line(trend: Trend, series: TrendSeries) -> Json:
    style = series.style
    trace: Json = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(series.label),
        "meta": series.id,
        "x": x_values(trend, series.indices),
        "y": [rounded(value) for value in series.centres],
        "line": {"color": style.colour, "width": LINE_WIDTH, "dash": style.dash},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": MARKER_SIZE},
        "hoverinfo": "none",
    }
    if trend.whiskers != Whiskers.NONE:
        trace["error_y"] = _whiskers(series)
    return trace


def _whiskers(series: TrendSeries) -> Json:
    above = [_gap(high, centre) for high, centre in zip(series.highs, series.centres, strict=True)]
    below = [_gap(centre, low) for low, centre in zip(series.lows, series.centres, strict=True)]
    bars: Json = {
        "type": "data",
        "array": above,
        "color": series.style.colour,
        "thickness": 0.8,
        "width": 0,
    }
    return bars if above == below else bars | {"symmetric": False, "arrayminus": below}


def _gap(upper: float | None, lower: float | None) -> float | None:
    return None if upper is None or lower is None else rounded(upper - lower)


def _levels(trend: Trend, series: TrendSeries) -> Json:
    """All levels of a series as one line with gaps."""
    x: list[int | None] = []
    y: list[float | None] = []
    for level in series.levels:
        x += [*x_values(trend, (level.first, level.last)), None]
        y += [rounded(level.start), rounded(level.end), None]
    line = {"color": series.style.colour, "width": LEVEL_WIDTH}
    return _plain(x, y) | {"line": line, "opacity": LEVEL_OPACITY}


def _suspects(trend: Trend, drawn: Sequence[TrendSeries]) -> Json:
    """A bar at the height of each finding over the revisions among which it began."""
    x: list[int | None] = []
    y: list[float | None] = []
    for series in drawn:
        for one in series.found:
            height = rounded(series.centres[one.at])
            x += [*x_values(trend, (one.after, one.last)), None]
            y += [height, height, None]
    line = {"color": theme.MUTED, "width": SUSPECTS_WIDTH}
    return _plain(x, y) | {"line": line, "opacity": SUSPECTS_OPACITY}


def _plain(x: list[int | None], y: list[float | None]) -> Json:
    """A trace that the pointer does not see."""
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip"}


_FLAG_MARKS = {
    "regressed": ("triangle-down", theme.WORSE),
    "improved": ("triangle-up", theme.BETTER),
}


def _flags(trend: Trend, drawn: Sequence[TrendSeries], flag: str, *, is_confirmed: bool) -> Json:
    symbol, colour = _FLAG_MARKS[flag]
    marked = [
        (series.indices[mark.at], series.centres[mark.at])
        for series in drawn
        for mark in series.marks
        if mark.flag == flag and mark.is_confirmed == is_confirmed
    ]
    fill, edge = (colour, theme.PAPER) if is_confirmed else (theme.PAPER, colour)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": flag if is_confirmed else f"{flag}, not confirmed",
        "x": x_values(trend, (index for index, _ in marked)),
        "y": [rounded(centre) for _, centre in marked],
        "marker": {
            "symbol": symbol,
            "size": FLAG_SIZE,
            "color": fill,
            "line": {"color": edge, "width": 1 if is_confirmed else 1.6},
        },
        "hoverinfo": "skip",
    }


def layout(trend: Trend) -> Json:
    """Plotly's layout of the chart: axes, margins, colours."""
    low, high = trend.y_range
    return {
        "margin": {"l": MARGINS.left, "r": MARGINS.right, "t": MARGINS.top, "b": MARGINS.bottom},
        "paper_bgcolor": theme.PAPER,
        "plot_bgcolor": theme.PAPER,
        "font": {"color": theme.MUTED, "family": "var(--sans)", "size": 11},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "select",
        "selectdirection": "h",
        "xaxis": theme.axis() | _x_axis(trend),
        "yaxis": theme.axis()
        | {
            "range": [rounded(low), rounded(high)],
            "gridcolor": theme.LINE,
            "tickformat": ",.4~g" if trend.values == Values.INDEXED else ",.5~r",
        },
        "annotations": [_title(trend), *_labels(trend)],
    }


def _title(trend: Trend) -> Json:
    """The title of the y axis, written across above it: upright text reads badly."""
    return _note(trend.y_title) | {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xshift": 4 - MARGINS.left,
        "yshift": 4,
        "yanchor": "bottom",
        "font": {"color": theme.MUTED},
    }


def _labels(trend: Trend) -> list[Json]:
    return [
        _note(text)
        | {
            "x": x_values(trend, series.indices[:1])[0],
            "y": rounded(series.centres[0]),
            "yshift": 6,
            "yanchor": "bottom",
            "font": {"color": series.style.colour},
        }
        for series, text in trend.labels
    ]


def _note(text: str) -> Json:
    return {"text": literal(text), "showarrow": False, "xanchor": "left", "align": "left"}


def _x_axis(trend: Trend) -> Json:
    if trend.axis == Axis.TIME:
        return {"type": "date", "showgrid": False}
    names = trend.revisions.names
    indices = spread_labels(len(names), LABELLED_REVISIONS)
    return {
        "type": "linear",
        "showgrid": False,
        "range": [-0.5, max(len(names), 1) - 0.5],
        "tickmode": "array",
        "tickvals": indices,
        "ticktext": [literal(names[index]) for index in indices],
    }


def rounded(value: float | None) -> float | None:
    """``value`` to `SIGNIFICANT_DIGITS`; a whole number loses its fraction; not finite is None."""
    if value is None or not isfinite(value):
        return None
    short = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(short) if abs(short) < 1e15 and short.is_integer() else short


def _cents(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 2)
