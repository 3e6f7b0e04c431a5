"""What a series has lost today, beside what was found in it: one reading for pages, mails, answers.

A change is stated as it was at its commit; beside it stands what `webapp.stats.changes.net_loss`
found of the whole series.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from webapp.analysis.models import Finding, SeriesAnalysis, Verdict
from webapp.analysis.queries.ranges import RangeTable
from webapp.charts import text
from webapp.results.models import Revision

LEAST_LEVELS = 2
"""Of a series with fewer nothing can be lost, or won back."""

TODAY = """
    (SELECT jsonb_build_object(
                'stands', analysis.summary -> 'net_loss',
                'levels', jsonb_array_length(analysis.summary -> 'segments'),
                'newest', (SELECT point.mean FROM results_point AS point
                            WHERE point.series_id = analysis.series_id
                            ORDER BY point.position DESC LIMIT 1))
       FROM analysis_seriesanalysis AS analysis WHERE analysis.series_id = series.id)
"""
"""`FindingQuerySet.with_today` for statements that are written out; ``series`` is at hand."""


def stands_in(summary: Mapping[str, Any], last: Any) -> Mapping[str, Any] | None:
    """What stands lost in a series by its ``summary``; of one too young to have two levels the loss
    that its ``last`` proven change of level is, if it is one.
    """
    if summary.get("net_loss") or len(summary.get("segments", ())) >= LEAST_LEVELS:
        stands: Mapping[str, Any] | None = summary.get("net_loss")
        return stands
    if last is None or (last.verdict, last.state) != (Verdict.WORSE, Finding.State.CONFIRMED):
        return None
    return {
        "since": {"label": str(last.revision)},
        "is_slow": False,
        **{name: getattr(last, name) for name in ("level_before", "level")},
        **{name: getattr(last, name) for name in ("change_pct", "low_pct", "high_pct")},
    }


def stands_of(row: Finding) -> Mapping[str, Any] | None:
    """What stands lost in the series of ``row`` (read `with_today`); None: nothing."""
    found: Mapping[str, Any] | None = (getattr(row, "today", None) or {}).get("stands")
    return found


def stands_by_series(series: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """What stands lost today in those of ``series`` where something does, but for what an option
    costs; one statement.
    """
    rows = SeriesAnalysis.objects.filter(series__in=set(series), series__metric__of=None)
    found = rows.values_list("series_id", "summary__net_loss")
    return {one: stands for one, stands in found if stands}


class Placed(Protocol):
    """A point, or samples, of a series at a revision."""

    @property
    def series_id(self) -> int:
        """Of which series."""

    @property
    def revision(self) -> Revision:
        """At which revision."""


def lost_between(
    stands: Mapping[int, Mapping[str, Any]], a: Placed, b: Placed
) -> Mapping[str, Any] | None:
    """What of ``stands`` (`stands_by_series`) the series of both has lost today, where that loss
    begins between the two; None: nothing.
    """
    found = stands.get(a.series_id) if a.series_id == b.series_id else None
    if found is None:
        return None
    is_between = text.begins_between(found, a.revision.position, b.revision.position)
    return found if is_between else None


def lost_between_ranges(table: RangeTable) -> dict[int, Mapping[str, Any]]:
    """By series what has been lost today, where both ranges are of it and that loss begins between
    them; one statement.
    """
    ends = min(table.a.last.position, table.b.last.position)
    begins = max(table.a.first.position, table.b.first.position)
    its = [row.series.pk for row in table.rows if row.change and row.base.pk == row.series.pk]
    found = stands_by_series(its)
    return {pk: one for pk, one in found.items() if text.begins_between(one, ends, begins)}


def today_beside(row: Finding) -> str:
    """``today 13.0 % slower [−13.3, −12.8] than before r357934, newest value 981,204``; that it is
    as ``row`` has it, or that a loss is won back. Empty where nothing was lost, or a series is too
    young to have two levels.
    """
    stands, series = stands_of(row), row.series
    if stands is None:
        return _not_lost(row)
    return text.today_beside(
        _change(row),
        stands,
        row.today["newest"],  # type: ignore[attr-defined]
        better=series.better,
        unit=series.metric.unit,
        is_cost=series.is_cost,
    )


def today_in_short(row: Finding) -> str:
    """The same in a row's few characters: ``today −13.0 % [−13.3, −12.8]``."""
    stands = stands_of(row)
    if stands is None:
        return _not_lost(row)
    return text.short_beside(_change(row), stands, is_cost=row.series.is_cost)


def _change(row: Finding) -> text.Change:
    return row.change_pct, row.low_pct, row.high_pct


def _not_lost(row: Finding) -> str:
    is_found = row.state in Finding.PROVEN and row.verdict == Verdict.WORSE
    levels = (getattr(row, "today", None) or {}).get("levels") or 0
    if not is_found or row.kind == Finding.Kind.EXCURSION:
        return ""
    return "" if levels < LEAST_LEVELS and row.kind == Finding.Kind.LEVEL else text.WON_BACK
