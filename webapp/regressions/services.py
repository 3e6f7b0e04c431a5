"""Take runs in, and conclude what they changed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from webapp.labs.models import Agent
from webapp.regressions import queue
from webapp.regressions.models import Comparison, SeriesAnalysis
from webapp.regressions.rule import compare_consecutive
from webapp.results import services as results
from webapp.results.documents import Recorded, RunDocument
from webapp.results.models import Point, Series

BATCH = 100
INSERTED_AT_ONCE = 1000


def take_in(
    *,
    agent: Agent,
    runs: Sequence[RunDocument],
    register: bool = False,
    history: bool = False,
    replace: bool = False,
) -> Recorded:
    """Store the runs and queue the analysis of what they changed; see ``record_runs``."""

    def once() -> Recorded:
        with transaction.atomic():
            recorded = results.record_runs(
                agent=agent, runs=runs, register=register, history=history, replace=replace
            )
            if recorded.stored or recorded.replaced:
                queue.analysis_on_commit()
        return recorded

    try:
        return once()
    except IntegrityError:
        # The same run or revision came twice at the same moment, or a row that we remembered by
        # its name is gone; now we see what is there.
        results.forget_names()
        return once()


@dataclass(frozen=True, slots=True)
class Analysed:
    """How many series were looked at, and how many of them are done."""

    claimed: int
    finished: int


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
    return Analysed(len(claimed), _finish(claimed))


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
        Series.objects.filter(pk__in=list(held), dirty_from__isnull=False).select_related("metric")
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


def _finish(claimed: Sequence[Series]) -> int:
    ids = [series.pk for series in claimed]
    versions = [series.version for series in claimed]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE regressions_seriesanalysis AS analysis
               SET version = done.version, analysed_at = %s
              FROM unnest(%s::bigint[], %s::bigint[]) AS done (id, version)
             WHERE analysis.series_id = done.id
            """,
            [timezone.now(), ids, versions],
        )
        cursor.execute(
            """
            UPDATE results_series AS series
               SET dirty_from = NULL, dirty_since = NULL
              FROM unnest(%s::bigint[], %s::bigint[]) AS done (id, version)
             WHERE series.id = done.id AND series.version = done.version
            """,
            [ids, versions],
        )
        return int(cursor.rowcount)
