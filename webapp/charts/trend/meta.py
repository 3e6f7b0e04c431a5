"""What a figure of the trend chart carries beside its drawing: revisions, and what is concluded
of its series, for tooltip, card and list. Pure. Revisions are rows of one table and a point names
its revision by index, so that 20 series of 200 revisions stay small on the wire.
"""

from typing import Any

from webapp.charts.trend.alerts import AlertMark
from webapp.charts.trend.markers import Marker
from webapp.charts.trend.trend import Revisions, Trend, TrendSeries, Values, x_values

Json = dict[str, Any]


def meta(trend: Trend) -> Json:
    """The table of revisions, and of each series what no trace says."""
    return {
        "tree": trend.tree,
        "metric": trend.metric,
        "unit": trend.unit,
        "better": trend.better,
        "axis": trend.axis,
        "window": trend.window,
        "whole": list(trend.whole_extent),
        "thinned": trend.revisions.is_thinned,
        "revisions": _revisions(trend),
        "series": [_series(trend, one) for one in trend.series],
        "costs": [_series(trend, one) | {"title": trend.cost_title(one)} for one in trend.costs],
        "alerts": [_alert(one) for one in trend.alerts],
        "markers": [_marker(one) for one in trend.beside],
    }


def _revisions(trend: Trend) -> Json:
    of: Revisions = trend.revisions
    return {
        "name": of.names,
        "subject": of.subjects,
        "author": of.authors,
        "time": of.times,
        "place": x_values(trend, range(len(of.names))),
    }


def _series(trend: Trend, series: TrendSeries) -> Json:
    return {
        "id": series.id,
        "name": trend.short_name(series),
        "hardware": series.hardware,
        "mode": series.mode,
        "slot": series.style.slot,
        "simulated": series.simulated,
        "revision": series.indices,
        "n": series.counts,
        "found": [one.columns() for one in series.found],
        "marks": [one.columns() for one in series.marks],
        "factor": series.factor if trend.values == Values.INDEXED else 1,
        **({"apart": {one.at: list(one.means) for one in series.apart}} if series.apart else {}),
        **({"left_out": dict(series.left_out)} if series.left_out else {}),
    }


def _alert(mark: AlertMark) -> Json:
    return {"number": mark.number, "state": mark.state, "at": mark.index, "href": mark.href}


def _marker(marker: Marker) -> Json:
    return {"kind": marker.kind, "at": marker.at, "text": marker.label, "href": marker.href}
