"""What a figure of the trend chart carries beside its drawing, for tooltip and keys: revisions, and
what is found of its series. Pure. Revisions are rows of one table and a point names its revision by
index, so that 20 series of 200 revisions stay small on the wire.
"""

from typing import Any

from webapp.charts.trend.trend import Revisions, Trend, TrendSeries, Values, x_values

Json = dict[str, Any]


def meta(trend: Trend) -> Json:
    """Revisions with their order along the axis, and of each series what no trace says."""
    return {
        "window": trend.window,
        "whole": list(trend.whole_extent),
        "revisions": _revisions(trend),
        "series": [_series(trend, one) for one in trend.series],
    }


def _revisions(trend: Trend) -> Json:
    of: Revisions = trend.revisions
    places = x_values(trend, range(len(of.names)))
    placed = [(place, at) for at, place in enumerate(places) if place is not None]
    return {
        "name": of.names,
        "subject": of.subjects,
        "author": of.authors,
        "time": of.times,
        "place": places,
        "order": [at for _, at in sorted(placed)],
    }


def _series(trend: Trend, series: TrendSeries) -> Json:
    return {
        "id": series.id,
        "name": trend.short_name(series),
        "hardware": series.hardware,
        "mode": series.mode,
        "slot": series.style.slot,
        "revision": series.indices,
        "n": series.counts,
        "found": [
            {"at": one.index, "verdict": one.verdict, "size": one.whole_size, "state": one.state}
            for one in (*series.found, *series.marks)
        ],
        "apart": [series.indices[one.at] for one in series.apart],
        "factor": series.factor if trend.values == Values.INDEXED else 1,
    }
