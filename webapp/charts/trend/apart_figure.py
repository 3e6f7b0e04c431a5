"""Points whose runs disagree as parts of a Plotly figure. Pure."""

from typing import Any

from webapp.charts import theme
from webapp.charts.trend.trend import Trend, TrendSeries, x_values

Json = dict[str, Any]
LAB = "lab?"
POINT_SIZE = 10
RUN_SIZE = 9


def apart_marks(trend: Trend) -> list[Json]:
    """A hollow circle with the word at each, and a dash at the mean of each run; none: no trace."""
    found = [
        (series.indices[one.at], series.centres[one.at], one.means)
        for series in trend.drawn
        for one in series.apart
    ]
    if not found:
        return []
    hollow = _markers([(index, centre) for index, centre, _ in found]) | {
        "mode": "markers+text",
        "name": LAB,
        "text": [LAB] * len(found),
        "textposition": "top center",
        "textfont": {"color": theme.INK},
        "marker": _marker("circle", POINT_SIZE, 1.6) | {"color": theme.PAPER},
    }
    runs = _markers([(index, mean) for index, _, means in found for mean in means]) | {
        "mode": "markers",
        "name": "runs that disagree",
        "marker": _marker("line-ew-open", RUN_SIZE, 2),
    }
    return [_placed(trend, trace) for trace in (runs, hollow)]


def apart_columns(series: TrendSeries) -> Json:
    """For the hover card: by the index of a point the means of its runs, in the metric's unit."""
    if not series.apart:
        return {}
    return {"apart": {one.at: list(one.means) for one in series.apart}}


def _markers(positions: list[tuple[int, float]]) -> Json:
    return {
        "type": "scatter",
        "x": [index for index, _ in positions],
        "y": [height for _, height in positions],
        "hoverinfo": "skip",
    }


def _placed(trend: Trend, trace: Json) -> Json:
    return trace | {"x": x_values(trend, trace["x"])}


def _marker(symbol: str, size: int, width: float) -> Json:
    line = {"color": theme.INK, "width": width}
    return {"symbol": symbol, "size": size, "color": theme.INK, "line": line}
