"""`/trends/`: the chart of several series along one tree."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.charts.trend import Axis, Found, Trend, TrendSeries, Values, Whiskers, draw, payload
from webapp.pages import trend_data
from webapp.pages.trend_data import Loaded, Selection
from webapp.pages.trend_query import TrendQuery
from webapp.pages.trend_unknown import NotOffered
from webapp.results.models import Tree

FLAGGED_SHOWN = 25
POINTS_SHOWN = 20
AXES = ((Axis.COMMIT, "commits"), (Axis.TIME, "time"))
VALUES = ((Values.RAW, "as measured"), (Values.INDEXED, "first = 100"))
WHISKERS = (
    (Whiskers.CONFIDENCE, "95 % interval"),
    (Whiskers.RANGE, "min to max"),
    (Whiskers.NONE, "left out"),
)


@dataclass(frozen=True, slots=True)
class PointLine:
    """One point in a table."""

    series: TrendSeries
    revision: str
    subject: str
    n: int
    centre: float
    percent: float | None
    percent_error: float | None
    verdict: str
    flag: str
    runs: Sequence[float]
    left_out: str


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One finding in a table."""

    series: TrendSeries
    revision: str
    found: Found


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The chart that the query asks for; 404 and the nearest names for what is not measured."""
    query = TrendQuery.parse(request.GET)
    try:
        selection = trend_data.select(query)
    except NotOffered as error:
        context = {"query": query, "unknown": [error.unknown]}
        return render(request, "pages/trends.html", context, status=404)
    if selection is None:
        return render(request, "pages/trends.html", {"query": query})
    context = _context(selection, trend_data.load(selection))
    context |= {"can_ask": is_triager(request.user), "here": request.get_full_path()}
    fragment = request.headers.get("HX-Request") == "true"
    template = "pages/_trend_change.html" if fragment else "pages/trends.html"
    return render(request, template, context)


@require_safe
def figure(request: HttpRequest) -> HttpResponse:
    """The figure and its columns as JSON. The ETag is that of the content."""
    selection = trend_data.select(TrendQuery.parse(request.GET))
    content = payload(trend_data.load(selection).trend) if selection else {}
    body = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    response = HttpResponse(body, content_type="application/json; charset=utf-8")
    etag = quote_etag(_digest(body))
    response["ETag"] = etag
    patch_cache_control(response, no_cache=True)
    return get_conditional_response(request, etag=etag, response=response) or response


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:32]


def _context(selection: Selection, loaded: Loaded) -> dict[str, object]:
    trend = loaded.trend
    return {
        "query": selection.query,
        "selection": selection,
        "trees": Tree.objects.all(),
        "trend": trend,
        "unknown": selection.unknown,
        "drawable": is_drawable(trend),
        "by_commit": selection.query.link(axis=Axis.COMMIT),
        "image": draw(trend) if is_drawable(trend) else "",
        "latest": [_line(trend, series, len(series.indices) - 1) for series in trend.series],
        "findings": _findings(trend),
        "texts": [(series, loaded.conclusions[series.id].text) for series in trend.series],
        "points": _newest_points(trend),
        "undated": sum(time is None for time in trend.revisions.times),
        "simulated": any(series.simulated for series in trend.series),
        "left_out": selection.matching - len(selection.series),
        "axes": AXES,
        "values": VALUES,
        "whiskers": WHISKERS,
    }


def is_drawable(trend: Trend) -> bool:
    """Whether any point can be drawn on the axis."""
    has_times = any(time is not None for time in trend.revisions.times)
    return bool(trend.series) and (trend.axis == Axis.COMMIT or has_times)


def _line(trend: Trend, series: TrendSeries, index: int) -> PointLine:
    row = series.indices[index]
    return PointLine(
        series=series,
        revision=trend.revisions.names[row],
        subject=trend.revisions.subjects[row],
        n=series.counts[index],
        centre=series.centres[index],
        percent=series.percents[index],
        percent_error=series.errors[index],
        verdict=series.verdicts[index],
        flag=series.flags[index],
        runs=next((one.means for one in series.apart if one.at == index), ()),
        left_out=series.left_out.get(index, ""),
    )


def _findings(trend: Trend) -> list[FindingLine]:
    """The findings of all series: confirmed ones first, then the newest."""
    lines = [
        FindingLine(series, trend.revisions.names[series.indices[one.at]], one)
        for series in trend.series
        for one in series.found
    ]
    indices = {name: index for index, name in enumerate(trend.revisions.names)}
    ordered = sorted(lines, key=lambda line: (not line.found.is_confirmed, -indices[line.revision]))
    return ordered[:FLAGGED_SHOWN]


def _newest_points(trend: Trend) -> list[PointLine]:
    """The newest points, when there is but one series to show them of."""
    if len(trend.series) != 1:
        return []
    series = trend.series[0]
    count = len(series.indices)
    return [
        _line(trend, series, index)
        for index in range(count - 1, max(count - 1 - POINTS_SHOWN, -1), -1)
    ]
