"""Each point against the one before it, for series whose points changed.

What ministat says of each point against the one before it: Student's t at 95 %.

People check it by hand, so it is stored and shown as ministat's word. Nothing is flagged, coloured
or headlined on it: it takes every sample for independent and knows no noise between builds.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import isfinite
from typing import Any, NamedTuple

from django.db import connection

from webapp.analysis.models import Comparison, Verdict
from webapp.events.queries import ONE_EPOCH, Epochs
from webapp.results.models import Series
from webapp.results.services import fetch_rows, insert_rows
from webapp.stats import ministat
from webapp.stats.better import Better, is_gain


class Pooled(NamedTuple):
    """Of a point what ministat needs; its ``variance`` is None for one sample."""

    series: int
    revision: int
    position: int
    n: int
    mean: float
    variance: float | None
    disagrees: bool
    is_beside: bool = False


# Points of variants are compared by people only, never one after the other.
# One whose runs disagree, or that stands beside its series, is no base. The lateral join finds each
# base by one step down the index; a correlated subquery would be run again for every point of a
# long history.
CHANGED_WITH_BASE = """
SELECT point.series_id, point.revision_id, point.position, point.n, point.mean, point.variance,
       point.disagrees, point.beside IS NOT NULL
  FROM unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
  JOIN results_series AS series ON series.id = dirty.series_id AND series.variant_id IS NULL
  LEFT JOIN LATERAL (
       SELECT position FROM results_point
        WHERE series_id = dirty.series_id AND position < dirty.dirty_from
          AND NOT disagrees AND beside IS NULL
        ORDER BY position DESC LIMIT 1) AS base ON true
  JOIN results_point AS point
    ON point.series_id = dirty.series_id
   AND (point.position >= dirty.dirty_from OR point.position = base.position)
 ORDER BY point.series_id, point.position"""
DELETE_OTHERS = """
DELETE FROM analysis_comparison AS old
 USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
 WHERE old.series_id = dirty.series_id AND old.position >= dirty.dirty_from
   AND NOT EXISTS (SELECT FROM unnest(%s::bigint[], %s::bigint[]) AS kept (series_id, revision_id)
                    WHERE kept.series_id = old.series_id AND kept.revision_id = old.revision_id)"""

UNIQUE = "series_id", "revision_id"


def compare_with_previous(claimed: Sequence[Series], epochs: Mapping[int, Epochs]) -> None:
    """Compare each point from ``dirty_from`` on with the one before it in its epoch, and store that
    in place of what was stored; a constant number of statements. ``epochs``: by series (id), those
    that have more than one. What comes out as it was is not written: a point that arrives late, or
    another version of the method, would leave every row of the series behind once more.
    """
    ids = [series.pk for series in claimed]
    since = [series.dirty_from for series in claimed]
    better = {series.pk: series.better for series in claimed}
    points = map(Pooled._make, fetch_rows(CHANGED_WITH_BASE, ids, since))
    compared: list[dict[str, Any]] = []
    for pk, group in groupby(points, key=lambda point: point.series):
        compared += compare_consecutive(list(group), better[pk], epochs.get(pk, ONE_EPOCH))
    kept = [[row[name] for row in compared] for name in UNIQUE]
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OTHERS, [ids, since, *kept])
    insert_rows(Comparison, compared, unique=UNIQUE, keep=("flag",))


def compare_consecutive(
    points: Sequence[Pooled], better: Better, epochs: Epochs = ONE_EPOCH
) -> Iterator[dict[str, Any]]:
    """A row of ``Comparison`` for each point but the first of an epoch, which only serves as base.
    One whose runs disagree is no base, and nothing can be told of it. One with runs of a later
    epoch, or of a session that stands beside the series, is neither base nor compared.
    """
    before: Pooled | None = None
    for after in points:
        if after.position in epochs.late or after.is_beside:
            continue
        if before is not None and _are_of_one_epoch(before, after, epochs):
            yield _comparison(before, after, better)
        before = before if after.disagrees else after


def _are_of_one_epoch(before: Pooled, after: Pooled, epochs: Epochs) -> bool:
    starts = epochs.starts
    return bisect_right(starts, before.position) == bisect_right(starts, after.position)


def _comparison(before: Pooled, after: Pooled, better: Better) -> dict[str, Any]:
    difference = _difference(before, after)
    delta = after.mean - before.mean
    return {
        "series_id": after.series,
        "revision_id": after.revision,
        "previous_id": before.revision,
        "position": after.position,
        "delta": _storable(delta),
        "error": _storable(difference.error if difference else None),
        "percent": _storable(delta * 100 / before.mean if before.mean else None),
        "percent_error": _storable(difference.percent_error if difference else None),
        "verdict": _verdict(difference, after, better),
        "flag": "",
    }


def _storable(figure: float | None) -> float | str | None:
    """JSON has no infinity, which PostgreSQL reads as text. Only samples that were stored before
    there were bounds lead to one.
    """
    return figure if figure is None or isfinite(figure) else str(figure)


def _verdict(difference: ministat.Difference | None, after: Pooled, better: Better) -> Verdict:
    """Where ministat refuses, or the runs of the later point disagree, we cannot tell."""
    if difference is None or not difference.proven or after.disagrees:
        return Verdict.CANNOT_TELL
    return Verdict.BETTER if is_gain(difference.delta, better) else Verdict.WORSE


def _difference(before: Pooled, after: Pooled) -> ministat.Difference | None:
    least = ministat.LEAST_POINTS
    if before.n < least or after.n < least or before.variance is None or after.variance is None:
        return None
    return ministat.difference_from_moments(
        before.n, before.mean, before.variance, after.n, after.mean, after.variance
    )
