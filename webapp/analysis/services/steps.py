"""The steps of an analysis: claim series, compare and detect, store what was found, finish.

``webapp.alerts`` takes them in one transaction, in this order, and groups what was found between
the last two.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import groupby

from django.db import connection, transaction
from django.utils import timezone

from webapp.analysis.models import Comparison, SeriesAnalysis
from webapp.analysis.rule import compare_consecutive
from webapp.analysis.services.detecting import Detected, detect_changes
from webapp.analysis.services.findings import reconcile_findings, set_flags
from webapp.analysis.services.summaries import summary_of
from webapp.results import services as results
from webapp.results.models import Point, Series
from webapp.results.services import insert_rows
from webapp.stats import changes

INSERTED_AT_ONCE = 1000


def compare_and_detect(claimed: Sequence[Series]) -> list[Detected]:
    """Compare each new point with the one before it, and run the change detector.

    Comparisons are stored; what was detected is given back, for `store_findings`.
    """
    points = _points_to_compare(claimed)
    comparisons: list[Comparison] = []
    for series in claimed:
        comparisons += compare_consecutive(series, points.get(series.pk, []))
    _replace_comparisons(claimed, comparisons)
    return detect_changes(claimed)


def store_findings(detected: Sequence[Detected]) -> None:
    """Bring findings and flags in line. The caller holds the trees (``results.lock_trees``)."""
    reconcile_findings(detected)
    set_flags(detected)


@transaction.atomic
def mark_for_analysis(series: Iterable[int]) -> None:
    """Have whole series analysed anew, from their first point on."""
    results.mark_dirty(dict.fromkeys(series, 0))


def claim_series(limit: int, only: int | None = None) -> list[Series]:
    """Dirty series whose analysis row this transaction now holds.

    The candidates are shuffled, so that two workers seldom want the same.
    """
    dirty = Series.objects.dirty() if only is None else Series.objects.dirty().filter(pk=only)
    candidates = list(dirty.values_list("pk", flat=True)[: 4 * limit])
    if len(candidates) > limit:
        candidates = random.sample(candidates, limit)
    if not candidates:
        return []
    SeriesAnalysis.objects.bulk_create(
        [SeriesAnalysis(series_id=pk) for pk in sorted(candidates)], ignore_conflicts=True
    )
    locked = (
        SeriesAnalysis.objects.filter(pk__in=candidates)
        .order_by("pk")
        .select_for_update(skip_locked=True)
        .values_list("pk", flat=True)
    )
    # Read again under the lock: another worker may have finished one meanwhile.
    return list(
        Series.objects.filter(pk__in=list(locked), dirty_from__isnull=False).select_related(
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
            DELETE FROM analysis_comparison AS old
             USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
             WHERE old.series_id = dirty.series_id AND old.position >= dirty.dirty_from
            """,
            [[series.pk for series in claimed], [series.dirty_from for series in claimed]],
        )
    Comparison.objects.bulk_create(comparisons, batch_size=INSERTED_AT_ONCE)


def finish(detected: Sequence[Detected]) -> int:
    """Store the summaries, and call each series clean whose version is still the one that was read
    (compare-and-set), so that an upload in the middle is never overlooked; how many are clean.
    """
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
