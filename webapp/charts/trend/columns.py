"""The trend chart as columns: what the page's script draws, each value once. Pure.

Revisions are rows of one table and a point names its revision by index, so 20 series of 200
revisions stay small on the wire. Values are as measured; an indexed series says its factor.
"""

from typing import Any

from webapp.charts.text import all_rounded, rounded
from webapp.charts.trend.alerts import AlertMark
from webapp.charts.trend.levels import Level
from webapp.charts.trend.markers import Marker
from webapp.charts.trend.trend import Revisions, Trend, TrendSeries, Values, Whiskers

Json = dict[str, Any]


def columns(trend: Trend) -> Json:
    """Everything that is drawn, and what lists and cards say of it."""
    is_indexed = trend.values == Values.INDEXED
    has_whiskers = trend.whiskers != Whiskers.NONE
    return {
        "tree": trend.tree,
        "metric": trend.metric,
        "unit": trend.unit,
        "better": trend.better,
        "axis": trend.axis,
        "values": trend.values,
        "split": trend.split,
        "title": trend.y_title,
        "total": trend.revisions.length,
        **({"window": trend.window} if trend.window else {}),
        "revisions": _revisions(trend.revisions),
        "series": [
            _series(one, name=trend.short_name(one), has_whiskers=has_whiskers)
            | ({"factor": one.factor} if is_indexed else {})
            for one in trend.series
        ],
        "costs": [
            _series(one, name=one.mode, has_whiskers=has_whiskers)
            | {"title": trend.cost_title(one)}
            for one in trend.costs
        ],
        "alerts": [_alert(one) for one in trend.alerts],
        "markers": [_marker(one) for one in trend.beside],
    }


def _revisions(of: Revisions) -> Json:
    slots = {"slot": list(of.slots)} if of.is_thinned else {}
    return {"name": of.names, "subject": of.subjects, "time": of.times, **slots}


def _series(series: TrendSeries, *, name: str, has_whiskers: bool) -> Json:
    whiskers = {"low": all_rounded(series.lows), "high": all_rounded(series.highs)}
    return {
        "id": series.id,
        "name": name,
        "hardware": series.hardware,
        "mode": series.mode,
        "slot": series.style.slot,
        "dash": series.style.svg_dash,
        "simulated": series.simulated,
        "revision": series.indices,
        "n": series.counts,
        "value": all_rounded(series.centres),
        **(whiskers if has_whiskers else {}),
        "levels": [_level(one) for one in series.levels],
        "found": [one.columns() for one in series.found],
        "marks": [one.columns() for one in series.marks],
        "detects": series.detects,
        "noise": series.noise,
        **({"apart": {one.at: list(one.means) for one in series.apart}} if series.apart else {}),
        **({"left_out": dict(series.left_out)} if series.left_out else {}),
    }


def _level(level: Level) -> list[float | None]:
    ends = (level.start, level.end, level.low, level.high)
    return [level.first, level.last, *(rounded(end) for end in ends)]


def _alert(mark: AlertMark) -> Json:
    return {
        "number": mark.number,
        "state": mark.state,
        "open": mark.is_open,
        "at": mark.index,
        "href": mark.href,
    }


def _marker(marker: Marker) -> Json:
    return {
        "kind": marker.kind,
        "at": marker.at,
        "text": marker.label,
        "short": marker.short,
        "title": marker.title,
        "href": marker.href,
    }
