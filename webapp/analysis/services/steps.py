"""The steps of an analysis: claim series, compare and detect, store what was found, finish.

``webapp.alerts`` takes them in one transaction, in this order, and groups what was found between
the last two.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from math import isfinite
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from webapp.analysis.models import NotedPoint, SeriesAnalysis
from webapp.analysis.models.analysis import NEVER_ANALYSED, TO_BE_REPEATED
from webapp.analysis.queries.previous import noted_since
from webapp.analysis.services.detecting import ALL_RUNS, Detected, FirstPairs, detect_changes
from webapp.analysis.services.findings import reconcile_findings
from webapp.analysis.services.shown import judge_first_pairs
from webapp.events.queries import ONE_EPOCH, Epochs, epochs_of
from webapp.results import services as results
from webapp.results.models import Series
from webapp.results.queries import rows_of
from webapp.results.services import insert_rows, update_rows
from webapp.stats import changes
from webapp.stats.changes import Finding, Loss, what_helps, why_not, why_retracted
from webapp.stats.metrics import Better, is_gain

DELETE_OTHERS = """
DELETE FROM analysis_notedpoint AS old
 USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
 WHERE old.series_id = dirty.series_id AND old.position >= dirty.dirty_from
   AND NOT EXISTS (SELECT FROM unnest(%s::bigint[], %s::bigint[]) AS kept (series_id, position)
                    WHERE kept.series_id = old.series_id AND kept.position = old.position)"""

UNIQUE = "series_id", "position"


def note_points(claimed: Sequence[Series]) -> None:
    """Note what is not compared and what differs from ``dirty_from`` on, in place of what was noted
    there; a constant number of statements. What comes out as it was is not written: a point that
    arrives late, or another version of the method, would leave every row of the series behind.
    """
    since = {series.pk: series.dirty_from or 0 for series in claimed}
    rows = noted_since(since)
    kept = [[row[name] for row in rows] for name in UNIQUE]
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OTHERS, [list(since), list(since.values()), *kept])
    insert_rows(NotedPoint, rows, unique=UNIQUE)


# Every batch claims, so these are written out: composing them took a fifth of a worker's time.
CANDIDATES = """
SELECT id FROM results_series
 WHERE dirty_from IS NOT NULL AND (%s::bigint IS NULL OR id = %s)
 ORDER BY dirty_since LIMIT %s"""
MAKE_ROWS = """
INSERT INTO analysis_seriesanalysis (series_id, version, detector, summary)
SELECT wanted.id, 0, 0, '{}' FROM unnest(%s::bigint[]) AS wanted (id)
 WHERE NOT EXISTS (SELECT FROM analysis_seriesanalysis WHERE series_id = wanted.id)
 ORDER BY wanted.id
    ON CONFLICT (series_id) DO NOTHING"""
STALE = """
SELECT analysis.series_id
  FROM analysis_seriesanalysis AS analysis
  JOIN results_series AS series ON series.id = analysis.series_id AND series.dirty_from IS NULL
 WHERE analysis.detector < %s AND analysis.detector <> %s
   AND (%s::bigint IS NULL OR analysis.series_id = %s)
 ORDER BY analysis.series_id LIMIT %s FOR UPDATE OF analysis SKIP LOCKED"""
LOCK_ROWS = """
SELECT series_id FROM analysis_seriesanalysis
 WHERE series_id = ANY(%s) ORDER BY series_id FOR UPDATE SKIP LOCKED"""


def compare_and_detect(
    claimed: Sequence[Series], seen_until: Mapping[int, datetime] = ALL_RUNS
) -> list[Detected]:
    """Compare each new point with the one before it, and run the change detector.

    Which points are to be counted is stored; what was detected is given back, for `store_findings`.
    ``seen_until`` as for `detect_changes`.
    """
    epochs = epochs_of(claimed)
    _store_epochs(claimed, epochs)
    note_points(claimed)
    return detect_changes(claimed, epochs, seen_until)


def _store_epochs(claimed: Sequence[Any], epochs: Mapping[int, Epochs]) -> None:
    """An upload may move the beginning of an epoch: then more changed than what it is about."""
    moved = []
    for series in claimed:
        its = epochs.get(series.pk, ONE_EPOCH)
        starts, late = list(its.starts), sorted(its.late)
        if starts != series.known_epochs:
            series.dirty_from = 0
        if (starts, late) != (series.known_epochs, series.known_late):
            moved.append({"series_id": series.pk, "epochs": starts, "late": late})
    update_rows(SeriesAnalysis, moved, key=("series_id",))


def store_findings(detected: Sequence[Detected]) -> list[int]:
    """Store summaries, and bring findings in line; the ids of other series that are to be
    analysed again because of it, for `finish`. The caller holds the trees (``results.lock_trees``).
    """
    _store_summaries(detected)
    judged = judge_first_pairs([one.series for one in detected])
    reconcile_findings(detected, judged.by_series)
    return judged.again


@transaction.atomic
def mark_for_analysis(series: Iterable[int]) -> None:
    """Have whole series analysed anew, from their first point on."""
    results.mark_dirty(dict.fromkeys(series, 0))


def mark_stale(series: Iterable[int]) -> int:
    """Have the analyses of series repeated when nothing else waits, and nobody be notified of what
    that alone changes; how many.
    """
    rows = SeriesAnalysis.objects.made().filter(series__in=series)
    return rows.update(detector=TO_BE_REPEATED)


def claim_stale(limit: int, only: int | None = None) -> list[Series]:
    """Series without fresh points whose stale analysis this transaction now holds; all of their
    points are to be looked at.
    """
    found = rows_of(STALE, [changes.VERSION, NEVER_ANALYSED, only, only, limit])
    claimed = _claimed([pk for (pk,) in found])
    for series in claimed:
        series.dirty_from = 0
    return claimed


def stale_among(claimed: Sequence[Series]) -> tuple[list[Series], dict[int, datetime]]:
    """The dirty series whose analysis is stale, with all of their points to be looked at, and up to
    when its runs were seen. What those show is known already, by another method.
    """
    stale = [series for series in claimed if _is_stale(series)]
    for series in stale:
        series.dirty_from = 0
    return stale, {series.pk: series.analysed_at for series in stale}  # type: ignore[attr-defined]


def _is_stale(series: Any) -> bool:
    made = series.analysed_at is not None and series.detector != NEVER_ANALYSED
    return made and series.detector < changes.VERSION


def are_as_read(claimed: Sequence[Series]) -> bool:
    """Whether no point of series came or changed since they were claimed."""
    stored = Series.objects.filter(pk__in=[series.pk for series in claimed])
    versions = dict(stored.values_list("pk", "version"))
    return all(versions.get(series.pk) == series.version for series in claimed)


def claim_series(limit: int, only: int | None = None) -> list[Series]:
    """Dirty series whose analysis row this transaction now holds.

    The candidates are shuffled, so that two workers seldom want the same.
    """
    candidates = [pk for (pk,) in rows_of(CANDIDATES, [only, only, 4 * limit])]
    if len(candidates) > limit:
        candidates = random.sample(candidates, limit)
    if not candidates:
        return []
    with connection.cursor() as cursor:
        cursor.execute(MAKE_ROWS, [candidates])
    locked = [pk for (pk,) in rows_of(LOCK_ROWS, [candidates])]
    # Read again under the lock: another worker may have finished one meanwhile.
    return _claimed(locked, dirty_from__isnull=False)


def _claimed(locked: Sequence[int], **those: Any) -> list[Series]:
    return list(
        Series.objects.filter(pk__in=locked, **those)
        .select_related("metric", "settings", "hardware")
        .annotate(
            known_epochs=F("analysis__epochs"),
            known_late=F("analysis__late"),
            analysed_at=F("analysis__analysed_at"),
            detector=F("analysis__detector"),
        )
    )


def _store_summaries(detected: Sequence[Detected]) -> None:
    now = timezone.now()
    whole = [_summary_row(one, now) | _first_row(one.first) for one in detected if one.first]
    later = [_summary_row(one, now) for one in detected if not one.first]
    for rows in filter(None, (whole, later)):
        insert_rows(SeriesAnalysis, rows, unique=("series_id",))


def _summary_row(one: Detected, now: datetime) -> dict[str, Any]:
    return {
        "series_id": one.series.pk,
        "version": one.series.version,
        "analysed_at": now,
        "detector": changes.VERSION,
        "summary": summary_of(one.analysis, one.by_epoch[-1], one.others.slow, one.series.better),
    }


def _first_row(first: FirstPairs) -> dict[str, Any]:
    pairs = [pair.to_data() for pair in first.pairs]
    return {"asked": list(first.asked), "pairs": pairs, "judged": []}


def finish(detected: Sequence[Detected], *, again: Sequence[int] = ()) -> int:
    """Call each series clean whose version is still the one that was read (compare-and-set), so
    that an upload in the middle is never overlooked; how many are clean. Those to be analysed
    ``again`` (ids) are others.
    """
    ids = [one.series.pk for one in detected]
    with connection.cursor() as cursor:
        # An UPDATE alone would lock in the order of its plan; uploads lock in the order of ids.
        cursor.execute(
            "SELECT FROM results_series WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE",
            [[*ids, *again]],
        )
        if again:
            results.mark_dirty(dict.fromkeys(again, 0))
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


def summary_of(
    analysis: changes.Analysis, newest: changes.Analysis, slow: Iterable[Finding], better: Better
) -> dict[str, Any]:
    """JSON without NaN or infinities: a figure beyond the double range is null. ``newest`` is the
    last epoch's ``analysis``, ``slow`` are the slow losses and gains: of both follows what stands.
    """
    stands = changes.net_loss(newest.segments, _losses(newest, slow, better), better)
    summary = {
        "net_loss": stands,
        "count": analysis.count,
        "segments": analysis.segments,
        "noise": analysis.noise,
        "smallest": analysis.smallest,
        "newest": analysis.newest,
        "is_bimodal": analysis.is_bimodal,
        "is_drifting": analysis.is_drifting,
        "left_out": [at.label for at in analysis.left_out],
        "recurring": analysis.recurring,
        "why_not": why_not(analysis),
        "what_helps": what_helps(analysis),
        "why_retracted": [why_retracted(one) for one in analysis.retracted],
    }
    return {name: _plain(value) for name, value in summary.items()}


def _losses(analysis: changes.Analysis, slow: Iterable[Finding], better: Better) -> list[Loss]:
    """The proven losses of an epoch, in order along the tree."""
    begin = analysis.segments[0].first.position if analysis.segments else 0
    found = [
        *(
            Loss(one.previous, one.revision, is_total=not one.level and one.back is None)
            for one in analysis.changes
            if one.verdict == "worse" and one.state == "confirmed"
        ),
        *(
            Loss(one.first, one.first, is_slow=True)
            for one in slow
            if one.first.position >= begin and not is_gain(one.pct, better)
        ),
    ]
    return sorted(found, key=lambda one: one.before.position)


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, which `asdict` would copy before; what is not finite as null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _names(value.__class__)}
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
