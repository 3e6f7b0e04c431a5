"""Analyse the series whose points changed: comparisons, findings, levels."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db import connection, transaction
from django.utils import timezone

from webapp.regressions.models import Comparison, SeriesAnalysis
from webapp.regressions.rule import compare_consecutive
from webapp.regressions.services.alerts.clock import wake_at_revisions
from webapp.regressions.services.alerts.locks import lock_trees
from webapp.regressions.services.alerts.reconciling import reconcile_alerts
from webapp.regressions.services.detecting import Detected, detect_changes
from webapp.regressions.services.reconciling import reconcile_findings, set_flags
from webapp.regressions.services.summaries import summary_of
from webapp.results import services as results
from webapp.results.models import Point, Series
from webapp.results.services.bulk import insert_rows
from webapp.stats import changes

BATCH = 100
INSERTED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Analysed:
    """How many series were looked at, how many of them are done, and whether more were waiting."""

    claimed: int
    finished: int
    more: bool = False


@transaction.atomic
def analyse_dirty_series(*, limit: int = BATCH) -> Analysed:
    """Analyse up to ``limit`` series whose points changed.

    Safe to run twice and in several workers at once: a worker holds the analysis rows of the
    series it works on, others pass them by. A series is clean again only if its version is still
    the one that was read (compare-and-set), so an upload in the middle is never overlooked.
    """
    results.begin_writing()
    claimed = _claim(limit)
    if not claimed:
        return Analysed(0, 0)
    points = _points_to_compare(claimed)
    comparisons: list[Comparison] = []
    for series in claimed:
        comparisons += compare_consecutive(series, points.get(series.pk, []))
    _replace_comparisons(claimed, comparisons)
    detected = detect_changes(claimed)
    trees = lock_trees(series.tree_id for series in claimed)
    reconcile_findings(detected)
    set_flags(detected)
    for tree in trees:
        reconcile_alerts(tree)
    wake_at_revisions(trees, now=timezone.now())
    return Analysed(len(claimed), _finish(detected), more=len(claimed) == limit)


@transaction.atomic
def mark_for_analysis(series: Iterable[int]) -> None:
    """Have whole series analysed anew, from their first point on."""
    results.mark_dirty(dict.fromkeys(series, 0))


def _claim(limit: int) -> list[Series]:
    """Dirty series whose analysis row this transaction now holds.

    The candidates are shuffled, so that two workers seldom want the same.
    """
    candidates = list(Series.objects.dirty().values_list("pk", flat=True)[: 4 * limit])
    if len(candidates) > limit:
        candidates = random.sample(candidates, limit)
    if not candidates:
        return []
    SeriesAnalysis.objects.bulk_create(
        [SeriesAnalysis(series_id=pk) for pk in sorted(candidates)], ignore_conflicts=True
    )
    held = (
        SeriesAnalysis.objects.filter(pk__in=candidates)
        .order_by("pk")
        .select_for_update(skip_locked=True)
        .values_list("pk", flat=True)
    )
    # Read again under the lock: another worker may have finished one meanwhile.
    return list(
        Series.objects.filter(pk__in=list(held), dirty_from__isnull=False).select_related(
            "metric", "settings"
        )
    )


def _points_to_compare(claimed: Sequence[Series]) -> dict[int, list[Point]]:
    """For each series its points from the last one before ``dirty_from`` on, in one query."""
    points = Point.objects.changed_with_base(claimed)
    return {pk: list(group) for pk, group in groupby(points, key=lambda point: point.series_id)}


def _replace_comparisons(claimed: Sequence[Series], comparisons: Sequence[Comparison]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM regressions_comparison AS old
             USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
             WHERE old.series_id = dirty.series_id AND old.position >= dirty.dirty_from
            """,
            [[series.pk for series in claimed], [series.dirty_from for series in claimed]],
        )
    Comparison.objects.bulk_create(comparisons, batch_size=INSERTED_AT_ONCE)


def _finish(detected: Sequence[Detected]) -> int:
    ids = [one.series.pk for one in detected]
    now = timezone.now()
    insert_rows(
        SeriesAnalysis,
        [
            {
                "series_id": one.series.pk,
                "version": one.series.version,
                "analysed_at": now,
                "detector": changes.VERSION,
                "summary": summary_of(one.analysis),
            }
            for one in detected
        ],
        unique=("series_id",),
    )
    with connection.cursor() as cursor:
        # An UPDATE alone would lock in the order of its plan; uploads lock in the order of ids.
        cursor.execute(
            "SELECT FROM results_series WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", [ids]
        )
        cursor.execute(
            """
            UPDATE results_series AS series
               SET dirty_from = NULL, dirty_since = NULL
              FROM unnest(%s::bigint[], %s::bigint[]) AS done (id, version)
             WHERE series.id = done.id AND series.version = done.version
            """,
            [ids, [one.series.version for one in detected]],
        )
        return int(cursor.rowcount)
