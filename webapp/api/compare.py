"""A against B as data."""

from math import isfinite
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.analysis.queries import ComparedRow, ComparedSet, Side, compare_sides
from webapp.api.schemas.comparisons import CompareOut
from webapp.api.schemas.errors import ErrorOut
from webapp.stats import ministat
from webapp.stats.compare import Comparison, Headline, Verdict

router = Router(tags=["compare"])
MOST_OTHERS = 6


class Sides(Schema):
    """``tree:revision[:hardware[:mode[:metric[:session]]]]`` each; an empty part means all."""

    a: str = Field(description="The base, for example freebsd-head:r303642")
    b: list[str] = Field(min_length=1, max_length=MOST_OTHERS, description="What it is held to")


@router.get(
    "/compare",
    response={200: CompareOut, 422: ErrorOut},
    summary="Two to seven sets of samples, each against the first",
)
def compare(request: HttpRequest, sides: Query[Sides]) -> Any:
    """Rows are matched over the parts that every side leaves open."""
    table = compare_sides([Side.parse(text) for text in [sides.a, *sides.b]])
    return {
        "sides": [str(side) for side in table.sides],
        "unmatched": table.unmatched,
        "headline": _headline(table.headline),
        "rows": [_row(row) for row in table.rows],
    }


def _headline(together: Headline) -> dict[str, Any]:
    return {
        "counts": {verdict.value: together.verdicts.count(verdict) for verdict in Verdict},
        "differing": together.differing,
        "expected_by_chance": together.expected,
        "text": together.text,
    }


def _row(row: ComparedRow) -> dict[str, Any]:
    return {
        "key": row.key_label,
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "better": row.better,
        "sets": [_set(one) for one in row.sets],
        "differences": [one and _difference(one) for one in row.differences],
        "judged": [
            _judged(one, reason) for one, reason in zip(row.judged, row.reasons, strict=True)
        ],
        "verdicts": list(row.verdicts),
        "ministat": row.ministat_text() if row.can_render else None,
    }


def _set(one: ComparedSet) -> dict[str, Any]:
    summary = one.summary
    return {
        "side": one.side_index,
        "series": one.series_id,
        "label": one.label,
        "revision": one.revision.name,
        "hardware": one.hardware.name,
        "mode": one.mode.name,
        "n": len(one.samples),
        "samples": list(one.samples),
        "mean": summary and summary.mean,
        "median": summary and summary.median,
        "sd": summary and summary.stddev,
    }


def _judged(comparison: Comparison, reason: str) -> dict[str, Any]:
    change = comparison.change
    return {
        "verdict": comparison.verdict.value,
        "why": comparison.why,
        "negligible": comparison.negligible,
        "percent": finite(change.percent),
        "low": finite(change.low),
        "high": finite(change.high),
        "p": change.p,
        "unit_of_noise": change.unit.value,
        "units": list(change.units),
        "smallest_visible": finite(change.visible),
        "margin": comparison.margin,
        "confidence": comparison.confidence,
        "reason": reason,
    }


def finite(value: float | None) -> float | None:
    """JSON knows no infinity: a figure beyond the double range is null."""
    return value if value is not None and isfinite(value) else None


def _difference(difference: ministat.Difference) -> dict[str, Any]:
    return {
        "delta": finite(difference.delta),
        "error": finite(difference.error),
        "percent": finite(difference.percent),
        "percent_error": finite(difference.percent_error),
        "confidence": difference.confidence,
        "pooled_sd": finite(difference.pooled_stddev),
        "proven": difference.proven,
    }
