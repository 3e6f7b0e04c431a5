"""A against B as data."""

from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.alerts.queries import ComparedReleases, compare_releases
from webapp.analysis import queries
from webapp.api.requests import csv_of, named, same
from webapp.api.schemas.comparisons import CompareOut, RangesOut, ReleaseRowOut, ReleasesOut
from webapp.api.schemas.types import ErrorOut
from webapp.results.models import LeftOut
from webapp.stats import ministat
from webapp.stats.compare import Comparison, Outcome, Verdict
from webapp.stats.metrics import worth_telling

router = Router(tags=["compare"])
MOST_OTHERS = 6


class Sides(Schema):
    """``tree:revision[~variant][:hardware[:mode[:metric[:session]]]]`` each; an empty part means
    all, and no ``~variant`` the plain kernel."""

    a: str = Field(description="The base, for example freebsd-head:r303642")
    b: list[str] = Field(min_length=1, max_length=MOST_OTHERS, description="What it is held to")
    flavour: str = Field("", description="ministat's: current, 2015, 2016, 2016-onepass")
    confidence: str = Field("", description="Of ministat's block: 80, 90, 95, 98, 99, 99.5")
    width: str = Field("", description="Of its plot, in columns (74)")
    bars: str = Field("", description="separate (-s) or shared")
    plot: str = Field("", description="no: -A")
    comparison: str = Field("", description="no: -n")
    names: str = Field("", description="no: -q")
    asof: str = Field("", description="A time: runs that had been received by then")


class Ranges(Schema):
    """``tree:FROM..TO`` or ``tree:NAME±K`` each, then ``~variant`` and
    ``:hardware:mode:metric:session`` or less."""

    a: str = Field(description="The base, for example freebsd-head:11.0±10")
    b: str = Field(description="What it is held to, for example freebsd-head:12.0..r309257")
    asof: str = Field("", description="A time: runs that had been received by then")


class Releases(Schema):
    """Each a release, a branch point or a tree: ``[tree:]name[~variant]``."""

    a: str = Field(description="The earlier one, for example 11.0 or freebsd-head:11.0")
    b: str = Field(description="The later one, for example freebsd-stable-11")
    asof: str = Field("", description="A time: what had been received by then")


@router.get(
    "/compare",
    response={200: CompareOut, 422: ErrorOut},
    summary="Two to seven sets of samples, each against the first",
)
def compare(request: HttpRequest, sides: Query[Sides]) -> Any:
    """Rows are matched over the parts that every side leaves open."""
    options = queries.BlockOptions.read(sides.dict(exclude={"a", "b", "asof"}))
    moment = _moment(sides.asof)
    if any(queries.is_range(text) for text in [sides.a, *sides.b]):
        raise queries.SideError("ranges of revisions are compared by /api/v1/compare/ranges")
    table = queries.compare_sides(
        [queries.Side.parse(text) for text in [sides.a, *sides.b]], moment
    )
    series = (row.sets[0].series_id for row in table.rows)
    stands = {} if moment else queries.stands_by_series(series)
    return {
        "sides": [str(side) for side in table.sides],
        "unmatched": len(table.unmatched),
        "not_compared": [_unmatched(one) for one in table.unmatched],
        "headline": headline_out(queries.as_points(table)),
        "rows": [row_out(row, options, stands) for row in table.rows],
    }


@router.get(
    "/compare/ranges",
    response={200: RangesOut, 422: ErrorOut},
    summary="Two ranges of revisions by their levels",
    url_name="compare_ranges",
)
def ranges(request: HttpRequest, sides: Query[Ranges]) -> Any:
    """A row for each series that both ranges have; better and worse pass one gate over all rows."""
    moment = _moment(sides.asof)
    table = queries.compare_written_ranges([sides.a, sides.b], moment)
    stands = {} if moment else queries.lost_between_ranges(table)
    return {
        "a": {"range": table.a.text, "first": table.a.first.name, "last": table.a.last.name},
        "b": {"range": table.b.text, "first": table.b.first.name, "last": table.b.last.name},
        "counts": table.counts,
        "unmatched": table.unmatched,
        "rows": [_range_row(row, stands.get(row.series.pk)) for row in table.rows],
    }


@router.get(
    "/compare/releases",
    response={200: ReleasesOut, 422: ErrorOut},
    summary="Two releases, each by the nearest measured revision of its branch",
    url_name="compare_releases",
)
def releases(request: HttpRequest, asked: Query[Releases]) -> Any:
    """A row for each machine, mode and metric that was measured of both."""
    found = compare_releases([asked.a, asked.b], _moment(asked.asof))
    return {
        "a": _release(found.a),
        "b": _release(found.b),
        "unmatched": len(found.unmatched),
        "not_compared": [_unmatched(one) for one in found.unmatched],
        "headline": headline_out(found.table),
        "rows": _release_rows(found),
        "alerts": None if found.alerts is None else [one.alert.pk for one in found.alerts],
    }


@router.get(
    "/compare/releases.csv",
    response={422: ErrorOut},
    summary="Two releases, as CSV",
    url_name="compare_releases_csv",
)
def releases_csv(request: HttpRequest, asked: Query[Releases]) -> HttpResponse:
    """The same rows, the proven ones first."""
    found = compare_releases([asked.a, asked.b], _moment(asked.asof))
    columns = tuple(ReleaseRowOut.model_fields)
    proven = (Verdict.WORSE.value, Verdict.BETTER.value)
    rows = sorted(_release_rows(found), key=lambda row: row["proven"] not in proven)
    return csv_of("releases.csv", columns, rows)


def _release(one: queries.MeasuredRelease) -> dict[str, str]:
    return {
        "name": one.title,
        "tree": one.measured.tree.name,
        "revision": one.at,
        "measured": one.measured.name,
        "side": str(one.side),
    }


def _release_rows(found: ComparedReleases) -> list[dict[str, Any]]:
    pairs = zip(found.table.rows, found.table.headline.verdicts, strict=True)
    series = (row.base.series_id for row in found.table.rows)
    stands = {} if found.asof else queries.stands_by_series(series)
    return [
        {
            "hardware": row.base.hardware.name,
            "mode": row.mode,
            "metric": row.base.metric,
            "unit": row.base.unit,
            "better": row.base.better,
            "a_revision": row.base.revision.name,
            "b_revision": row.points[1].revision.name,
            "a_n": row.base.n,
            "a_mean": row.base.mean,
            "b_n": row.points[1].n,
            "b_mean": row.points[1].mean,
            "percent": finite(row.judged[0].percent),
            "low": finite(row.judged[0].low),
            "high": finite(row.judged[0].high),
            "p": _p(row.judged[0], row.judged[0].p),
            "verdict": row.judged[0].label,
            "proven": proven.value,
            "epoch_between": row.parted[0],
            **_flat_loss(queries.lost_between(stands, row.base, row.points[1])),
        }
        for row, proven in pairs
    ]


def _flat_loss(stands: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a series has lost today, as columns."""
    lost = net_loss_out(stands) or {}
    return {
        "today_since": lost.get("since", ""),
        "today_percent": lost.get("change_percent"),
        "today_low": lost.get("low_percent"),
        "today_high": lost.get("high_percent"),
    }


def _unmatched(one: queries.Unmatched) -> dict[str, Any]:
    return one._asdict()


def _moment(asof: str) -> datetime | None:
    """Raises SideError for what is no time."""
    moment = queries.moment_of(asof)
    if asof and moment is None:
        raise queries.SideError(f"asof={asof[:40]!r} is no time: write 2026-01-31T12:00:00Z")
    return moment


def _range_row(row: queries.RangeRow, stands: Mapping[str, Any] | None) -> dict[str, Any]:
    one, series = row.change, row.series
    return {
        **named(series, "hardware", "mode", "metric"),
        "unit": series.metric.unit,
        "better": series.better,
        **same(row, "verdict", "reason"),
        "revisions": list(row.counts),
        "left_out": [one.a.left_out, one.b.left_out] if one else None,
        "levels": [one.a.level, one.b.level] if one else None,
        "change_percent": one.pct if one else None,
        "low_percent": one.low_pct if one else None,
        "high_percent": one.high_pct if one else None,
        "p_value": one.p_value if one else None,
        "memory": one.memory if one else None,
        "net_loss": net_loss_out(stands),
    }


def headline_out(table: queries.PointTable) -> dict[str, Any]:
    """What all rows together may be claimed to show: of each mode, and of single pairs."""
    together = table.headline
    return {
        "modes": [_mode(one) for one in table.modes],
        "counts": {verdict.value: together.verdicts.count(verdict) for verdict in Verdict},
        "outcomes": {one.value: together.outcomes.count(one) for one in Outcome},
        "differing": together.differing,
        "expected_by_chance": together.expected,
        "text": together.text,
    }


def _mode(one: queries.ModeClaim) -> dict[str, Any]:
    across = one.across
    mean = across.mean
    return {
        "mode": one.mode,
        "metric": one.metric,
        "set": one.index,
        "verdict": across.verdict.value,
        "percent": mean.percent if mean else None,
        "low": mean.low if mean else None,
        "high": mean.high if mean else None,
        "machines": mean.machines if mean else 0,
        "alone": {verdict.value: across.counts.get(verdict, 0) for verdict in Verdict},
        "differs": across.differs,
    }


def row_out(
    row: queries.ComparedRow,
    options: queries.BlockOptions = queries.PLAIN_BLOCK,
    stands: Mapping[int, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """A row with its sets, verdicts, what was lost between them and is today by ``stands``, and its
    block.
    """
    base, *others = row.sets
    lost = [net_loss_out(queries.lost_between(stands or {}, base, one)) for one in others]
    return {
        "key": row.key_label,
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "better": row.better,
        "sets": [_set(one) for one in row.sets],
        "differences": [one and _difference(one) for one in row.differences],
        "judged": [
            _judged(one, reason) | {"epoch_between": parted, "net_loss": its}
            for one, reason, parted, its in zip(
                row.judged, row.reasons, row.parted, lost, strict=True
            )
        ],
        "verdicts": list(row.verdicts),
        "remarks": list(row.remarks),
        "ministat": row.ministat_text(options) if row.can_render else None,
    }


def _set(one: queries.ComparedSet) -> dict[str, Any]:
    summary = one.summary
    return {
        "side": one.side_index,
        "series": one.series_id,
        "label": one.label,
        "revision": one.revision.name,
        "variant": one.variant.name if one.variant else "",
        "hardware": one.hardware.name,
        "mode": one.mode.name,
        "n": len(one.samples),
        "samples": list(one.samples),
        "mean": summary and summary.mean,
        "median": summary and summary.median,
        "sd": summary and summary.stddev,
        "left_out": left_out_of(one.left_out),
    }


def left_out_of(found: LeftOut | None) -> dict[str, Any] | None:
    """How many samples do not count, and why; None: all count."""
    return None if found is None else found.to_data() | {"text": found.text}


def net_loss_out(stands: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a series has lost today; None: nothing."""
    if stands is None:
        return None
    return {
        "since": stands["since"]["label"],
        "by_and_by": stands["is_slow"],
        "level_before": stands["level_before"],
        "level": stands["level"],
        "change_percent": stands["change_pct"],
        "low_percent": stands["low_pct"],
        "high_percent": stands["high_pct"],
    }


def _judged(comparison: Comparison, reason: str) -> dict[str, Any]:
    change = comparison.change
    return {
        "verdict": comparison.verdict.value,
        "why": comparison.why,
        "one_build_a_side": comparison.one_build,
        "negligible": comparison.negligible,
        "percent": finite(change.percent),
        "low": finite(change.low),
        "high": finite(change.high),
        "p": _p(comparison, change.p),
        "unit_of_noise": change.unit.value,
        "units": list(change.units),
        "smallest_visible": worth_telling(change.visible),
        "margin": comparison.margin,
        "confidence": comparison.confidence,
        "reason": reason,
    }


def _p(judged: Comparison | queries.PointVerdict, p: float) -> float | None:
    """None where ``p`` is not of the interval: of single builds on a machine whose noise is not
    known it is that of noisy builds, for headlines."""
    is_known = judged.belief is not None and judged.belief.of_machine
    return None if judged.one_build and not is_known else p


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
