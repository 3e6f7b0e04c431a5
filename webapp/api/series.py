"""Series and their points, as columns; and the values of a knob as one curve."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from ninja import Query, Router, Schema
from pydantic import BaseModel, Field

from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.analysis.queries import CurvePoint, compared_since, curves_of, stands_in
from webapp.api.compare import left_out_of, net_loss_out
from webapp.api.requests import bounded, csv_response, named, same
from webapp.api.schemas.series import PointsOut, SeriesList
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.results.models import Metric, Point, Series
from webapp.results.queries import Parents, parents_of
from webapp.stats.sessions import ForeignSession

router = Router(tags=["series"])
PARTS = ("tree", "hardware", "mode", "metric")
PLAIN = "plain"
COLUMNS = (
    "revision",
    "position",
    "committed_at",
    "n",
    "boots",
    "builds",
    "unit_of_noise",
    "units",
    "mean_low",
    "mean_high",
    "mean",
    "median",
    "sd",
    "min",
    "max",
    "change_percent",
    "change_percent_error",
    "verdict",
    "flag",
    "runs_disagree",
    "samples_left_out",
    "why_left_out",
)


class Chosen(Schema):
    """Which series; a part left out means all."""

    tree: Asked | None = None
    hardware: Asked | None = None
    mode: Asked | None = None
    metric: Asked | None = None
    variant: Asked | None = Field(
        None, description="The name of a variant; `plain`: of plain kernels alone."
    )
    limit: int = Field(1000, ge=1, le=10_000)

    def filters(self) -> dict[str, str]:
        """Keyword arguments for ``filter``: the parts that were named."""
        return {f"{part}__name": name for part in PARTS if (name := getattr(self, part))}


@router.get("/series", response={200: SeriesList, 422: ErrorOut}, summary="Series by their parts")
def list_series(request: HttpRequest, chosen: Query[Chosen]) -> Any:
    """At most `limit` of them, by tree, hardware, mode, metric and variant."""
    named = Series.objects.named().select_related("metric__of")
    rows = named.with_points().filter(**chosen.filters())
    if chosen.variant == PLAIN:
        rows = rows.plain()
    elif chosen.variant:
        rows = rows.filter(variant__name=chosen.variant)
    ordered = rows.order_by(*(f"{part}__name" for part in (*PARTS, "variant")))
    found = list(ordered[: chosen.limit])
    parents = parents_of(found)
    return {"series": [series_out(row, parents.get(row.pk)) for row in found]}


@router.get(
    "/series/{series_id}/points",
    response={200: PointsOut, 404: ErrorOut, 422: ErrorOut},
    summary="The points of a series",
)
def points(request: HttpRequest, series_id: int) -> Any:
    """Columns of equal length. The ETag changes when the points or their analysis do."""
    series = _series(series_id)
    fresh = get_conditional_response(request, etag=etag(series))
    if fresh is not None:
        return fresh
    response = _json(
        {
            "series": series_out(series, parents_of([series]).get(series.pk)),
            **columns(series),
            **conclusions(series),
        }
    )
    response["ETag"] = etag(series)
    return response


@router.get(
    "/series/{series_id}/points.csv",
    response={200: None, 404: ErrorOut, 422: ErrorOut},
    summary="The points of a series, as CSV",
)
def points_csv(request: HttpRequest, series_id: int) -> HttpResponse:
    """A row a point. A text that a spreadsheet would take for a formula has `'` before it."""
    series = _series(series_id)
    fresh = get_conditional_response(request, etag=etag(series))
    if fresh is not None:
        return fresh
    table = columns(series)
    rows = zip(*(table[name] for name in COLUMNS), strict=True)
    response = csv_response(f"series-{series.pk}.csv", COLUMNS, rows)
    response["ETag"] = etag(series)
    return response


def etag(series: Series) -> str:
    """Of the version of the points and of whether their analysis is finished."""
    return f'"{series.pk}-{series.version}-{int(series.dirty_from is None)}"'


def series_out(series: Series, parents: Parents | None) -> dict[str, Any]:
    """A series as the API shows it. Needs its subjects loaded, of a cost the metric that it is in
    too.
    """
    return {
        "id": series.pk,
        **named(series, "tree", "hardware", "mode", "metric"),
        "variant": series.variant.name if series.variant else "",
        "unit": series.metric.unit,
        **same(series, "better", "version"),
        "analysed": series.dirty_from is None,
        "kind": "cost" if series.is_cost else "measured",
        "cost": _cost(series.metric, parents),
    }


def _cost(metric: Metric, parents: Parents | None) -> dict[str, Any] | None:
    if metric.of is None:
        return None
    return {
        "option": metric.option,
        "metric": metric.of.name,
        "with_option": parents and parents.with_it,
        "without_option": parents and parents.without,
    }


def columns(series: Series) -> dict[str, list[Any]]:
    """The points of ``series`` as columns, in order along the tree, in two queries."""
    found = list(Point.objects.of_series(series).select_related("revision"))
    compared = {row.revision_id: row for row in compared_since({series.pk: 0})}
    begun = series.begun_sessions
    judged = [compared.get(point.revision_id) for point in found]
    summaries = [point.summary for point in found]
    excluded = [point.excluded for point in found]
    intervals = [one.interval() or (None, None) for one in summaries]
    return {
        "revision": [point.revision.name for point in found],
        "position": [point.position for point in found],
        "committed_at": [point.revision.committed_at for point in found],
        "n": [point.n for point in found],
        "boots": [point.boots for point in found],
        "builds": [point.builds for point in found],
        "unit_of_noise": [one.unit.value for one in summaries],
        "units": [one.units for one in summaries],
        "mean_low": [low for low, _ in intervals],
        "mean_high": [high for _, high in intervals],
        "mean": [point.mean for point in found],
        "median": [point.median for point in found],
        "sd": [point.stddev for point in found],
        "min": [point.minimum for point in found],
        "max": [point.maximum for point in found],
        "change_percent": [one and one.percent for one in judged],
        "change_percent_error": [one and one.percent_error for one in judged],
        "verdict": [one and one.verdict.value for one in judged],
        "flag": [(one.flag or None) if one else None for one in judged],
        "runs_disagree": [point.disagrees for point in found],
        "disagreement": [_disagreement_out(point) if point.disagrees else None for point in found],
        "foreign_session": [
            _foreign_out(point.session_apart or begun.get(point.position)) for point in found
        ],
        "samples_left_out": [one.samples if one else 0 for one in excluded],
        "why_left_out": [" ".join(one.kinds) if one else "" for one in excluded],
        "left_out": [left_out_of(one) for one in excluded],
    }


def _foreign_out(one: ForeignSession | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"session": one.session, "home": one.home, "percent": one.pct, "counts": one.begins}


def _disagreement_out(point: Point) -> dict[str, Any]:
    found = point.uploads["found"]
    return {name: found[name] for name in ("first", "second", "percent", "chance", "limit")} | {
        # What was stored before sessions were distinguished has none.
        "of_sessions": found.get("of_sessions", False),
        "runs": [
            {
                "uuid": run["name"],
                "session": run.get("session", ""),
                "build_id": run["build"],
                "n": run["n"],
                "mean": run["mean"],
            }
            for run in point.uploads["runs"]
        ],
    }


def conclusions(series: Series) -> dict[str, Any]:
    """The live findings, and the analysis of the whole series, in two queries. Those that
    are no change of level stand apart: whoever reads changes must not take them for one.
    """
    live = list(Finding.all_kinds.live().shown_alone().of_all([series]).with_revisions())
    levels = [one for one in live if one.kind == Finding.Kind.LEVEL]
    others = [one for one in live if one.kind != Finding.Kind.LEVEL]
    analysis = SeriesAnalysis.objects.filter(series=series).first()
    return {
        "findings": [finding_out(finding) for finding in levels],
        "other_findings": [finding_out(finding) for finding in others],
        "analysis": _analysis_out(analysis.summary, levels)
        if analysis and analysis.summary
        else None,
    }


def finding_out(finding: Finding) -> dict[str, Any]:
    """A finding as the API shows it; sizes in percent of the level before. Needs its revisions."""
    return {
        **same(finding, "kind", "state", "verdict", "here", "level_before", "level"),
        **same(finding, "probability", "why", "first_detected_at"),
        **named(finding, "revision", "previous", "after", "first", "last"),
        **named(finding, "confirmed_by", "recovered_by"),
        "change_percent": finding.change_pct,
        "low_percent": finding.low_pct,
        "high_percent": finding.high_pct,
        "details": {key: one for key, one in finding.details.items() if key != "parts"},
        "parts": _parts_out(finding),
        "one_build": _one_build_out(finding),
    }


def _parts_out(finding: Finding) -> list[dict[str, Any]]:
    """The parts of a slow change that hold most of it."""
    return [
        {"after": after, "up_to": up_to, "change_percent": pct}
        for after, up_to, pct in finding.parts
    ]


def _one_build_out(finding: Finding) -> dict[str, Any] | None:
    judged = finding.one_build
    if judged is None:
        return None
    return {
        "chance": judged["chance"],
        "limit": judged["limit"],
        "pairs": judged["pairs"],
        "builds_before": judged["builds_before"],
        "builds_after": judged["builds_after"],
        "surely_percent": judged["sure_pct"],
        "believed_build_percent": judged["median_pct"],
        "believed_factor": judged["spread"],
        "not_from_build_percent": judged["turning_pct"],
    }


def _analysis_out(summary: dict[str, Any], found: Sequence[Finding]) -> dict[str, Any]:
    proven = [row for row in found if row.state in Finding.PROVEN]
    return {
        "levels": summary["segments"],
        "net_loss": net_loss_out(stands_in(summary, proven[-1] if proven else None)),
        "noise": summary["noise"],
        "smallest": summary["smallest"],
        "bimodal": summary["is_bimodal"],
        "drifting": summary["is_drifting"],
        "why_not": summary["why_not"],
        "what_helps": summary["what_helps"],
    }


def _series(series_id: int) -> Series:
    return get_object_or_404(
        Series.objects.named().select_related("metric__of"), pk=bounded(series_id)
    )


def _json(content: dict[str, Any]) -> HttpResponse:
    body = PointsOut.model_validate(content).model_dump_json()
    return HttpResponse(body, content_type="application/json; charset=utf-8")


class KnobPointOut(BaseModel):
    """The samples of one mode at the revision, pooled, in the metric's unit. ``number`` is the
    value as one, null where it is none; ``better`` is ``more`` or ``less``, as set for the series.
    """

    value: str
    number: float | None
    series: int
    mode: str
    better: str
    n: int
    median: float
    min: float
    max: float
    runs_disagree: bool


class KnobCurveOut(BaseModel):
    """All values in one mode, which is named without the knob: numbers in order, then words."""

    mode: str
    points: list[KnobPointOut]


class KnobsOut(BaseModel):
    """The curves of a knob at one revision; null and none where nothing was measured."""

    tree: str
    hardware: str
    metric: str
    knob: str
    unit: str | None
    revision: str | None
    curves: list[KnobCurveOut]


class Turned(Schema):
    """Which knob, and where."""

    tree: Asked
    hardware: Asked
    metric: Asked
    knob: Asked = Field(description="Its name: hw.cxgbe.nXxq of hw.cxgbe.nXxq=5")
    revision: Asked | None = Field(
        None, description="Without it: the newest that was measured at more than one value."
    )


@router.get(
    "/knobs",
    operation_id="webapp_api_knobs_list_knobs",
    response={200: KnobsOut, 422: ErrorOut},
    summary="One curve for all values of a knob",
)
def list_knobs(request: HttpRequest, turned: Query[Turned]) -> Any:
    """Modes that differ in nothing but its value are one curve, in the order of the numbers."""
    asked = same(turned, "tree", "hardware", "metric", "knob")
    found = curves_of(**asked, revision=turned.revision or "")
    units = {one.series.metric.unit for curve in found.curves for one in curve.points}
    return asked | {
        "unit": min(units, default=None),
        "revision": found.revision and found.revision.name,
        "curves": [
            {"mode": one.mode, "points": [_point(at) for at in one.points]} for one in found.curves
        ],
    }


def _point(one: CurvePoint) -> dict[str, Any]:
    return {
        "value": one.value,
        "number": one.number,
        "series": one.series.pk,
        "mode": one.series.mode.name,
        "better": one.series.better,
        "n": one.point.n,
        "median": one.point.median,
        "min": one.point.minimum,
        "max": one.point.maximum,
        "runs_disagree": one.point.disagrees,
    }
