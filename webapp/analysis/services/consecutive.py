"""Each point against the one before it, for series whose points changed."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from django.db import connection

from webapp.analysis.models import Comparison
from webapp.analysis.rule import Pooled, compare_consecutive
from webapp.events.queries import ONE_EPOCH, Epochs
from webapp.results.models import Series
from webapp.results.services import fetch_rows, insert_rows

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
DELETE_CHANGED = """
DELETE FROM analysis_comparison AS old
 USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
 WHERE old.series_id = dirty.series_id AND old.position >= dirty.dirty_from"""


def compare_with_previous(claimed: Sequence[Series], epochs: Mapping[int, Epochs]) -> None:
    """Compare each point from ``dirty_from`` on with the one before it in its epoch, and store that
    in place of what was stored; a constant number of statements. ``epochs``: by series (id), those
    that have more than one.
    """
    ids = [series.pk for series in claimed]
    since = [series.dirty_from for series in claimed]
    better = {series.pk: series.better for series in claimed}
    points = map(Pooled._make, fetch_rows(CHANGED_WITH_BASE, ids, since))
    compared: list[dict[str, Any]] = []
    for pk, group in groupby(points, key=lambda point: point.series):
        compared += compare_consecutive(list(group), better[pk], epochs.get(pk, ONE_EPOCH))
    with connection.cursor() as cursor:
        cursor.execute(DELETE_CHANGED, [ids, since])
    insert_rows(Comparison, compared)
