"""Points: the samples of a series at one revision, pooled, and the series marked dirty.

Which points stand beside their series, as measured in a session from elsewhere: judged whenever
a series changes, by all of its points (`webapp.stats.sessions`), so that the order of
arrival does not matter.
"""

import json
import math
import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from math import log
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from webapp.results.models import WAITING_FROM, Point, Series, digest_of_builds
from webapp.results.packed import unpack_measured
from webapp.results.queries import rows_of
from webapp.results.services.database import insert_rows, update_rows
from webapp.results.services.upload_consistency import judge_uploads, uploads_apart
from webapp.results.validity import LeftOut, counted, marks_of
from webapp.stats import ministat
from webapp.stats.compare import pack_summary, pool, summarize
from webapp.stats.sessions import ForeignSession, Measured, sessions_apart

POINTS = """
SELECT point.series_id, point.revision_id, point.position, point.mean, point.sessions,
       point.beside::text, series.session_starts::text
  FROM results_point AS point
  JOIN results_series AS series ON series.id = point.series_id
 WHERE point.series_id = ANY(%s) AND NOT point.disagrees AND point.mean > 0
 ORDER BY point.series_id, point.position
"""


class _SessionRow(NamedTuple):
    series: int
    revision: int
    position: int
    mean: float
    sessions: list[str] | None
    beside: str | None
    starts: str | None


SeriesRevision = tuple[int, int]  # ids of a series and a revision

# By run, because a series has measurements of every revision and a revision has few runs. OFFSET
# keeps the order of the join, which the planner would choose from statistics that lag behind.
# The order of the rows is the one in which samples are pooled, whatever order they arrived in:
# ministat sums in the order of its input, so the last digits depend on it.
SAMPLES = """
SELECT measurement.series_id, run.revision_id, measurement.samples, measurement.boots,
       (SELECT build_id FROM results_kernel WHERE id = run.kernel_id),
       run.uuid, encode(run.digest, 'hex'), run.session, run.measured_at,
       measurement.left_out, measurement.validity
  FROM results_run AS run
 CROSS JOIN LATERAL (
       SELECT series_id, samples, boots, left_out,
              CASE WHEN left_out IS NOT NULL THEN validity END AS validity
         FROM results_measurement
        WHERE run_id = run.id AND series_id = ANY(%s) OFFSET 0) AS measurement
 WHERE run.revision_id = ANY(%s) AND run.withdrawn_at IS NULL
 ORDER BY measurement.series_id, run.revision_id, run.uuid
"""
# The same of what options cost: all of it counts. A row shows where it is pooled, for its run may
# be filed elsewhere by now, until the analysis of the series that it came from.
COST_SAMPLES = """
SELECT cost.series_id, cost.revision_id, cost.samples, cost.boots,
       (SELECT build_id FROM results_kernel WHERE id = run.kernel_id),
       run.uuid, encode(run.digest, 'hex'), run.session, run.measured_at, NULL::int[], NULL::jsonb
  FROM results_costsamples AS cost JOIN results_run AS run ON run.id = cost.run_id
 WHERE cost.series_id = ANY(%s) AND cost.revision_id = ANY(%s)
 ORDER BY cost.series_id, cost.revision_id, run.uuid
"""
MARK_DIRTY = """
UPDATE results_series AS series
   SET version = series.version + 1,
       dirty_from = LEAST(series.dirty_from, changed.position),
       dirty_since = COALESCE(series.dirty_since, %s)
  FROM unnest(%s::bigint[], %s::bigint[]) AS changed (id, position)
 WHERE series.id = changed.id
RETURNING series.id,
          EXISTS (SELECT FROM results_point WHERE series_id = series.id AND uploads IS NOT NULL),
          variant_id IS NULL AND metric_id IN (SELECT id FROM results_metric WHERE of_id IS NULL)
          AND (session_starts IS NOT NULL OR EXISTS (
               SELECT FROM results_point WHERE series_id = series.id AND sessions IS NOT NULL))
"""


def renew(points: Mapping[SeriesRevision, int]) -> None:
    """Pool ``points`` anew, each with the position of its revision."""
    refresh_points(points, {revision: position for (_, revision), position in points.items()})


def refresh_points(
    keys: Iterable[SeriesRevision], positions: Mapping[int, int], *, source: str = SAMPLES
) -> None:
    """Make the points of ``keys`` anew from their measurements, and mark their series dirty.

    The caller holds the locks of the series. ``positions`` gives the position of each revision.
    One whose last run was withdrawn, or whose last sample was left out, loses its point. A revision
    that waits for its place has none. Three statements, whatever the number.
    """
    wanted = {key for key in keys if positions[key[1]] < WAITING_FROM}
    if not wanted:
        return
    points = _pooled(wanted, positions, source)
    insert_rows(Point, points, unique=("series_id", "revision_id"))
    gone = wanted - {(point["series_id"], point["revision_id"]) for point in points}
    if gone:
        _delete_points(gone)
    lowest: dict[int, int] = {}
    for series, revision in wanted:
        position = positions[revision]
        lowest[series] = min(lowest.get(series, position), position)
    mark_dirty(lowest)


def mark_dirty(lowest: dict[int, int]) -> None:
    """Raise the version of each series (id → lowest position that changed).

    Where points keep their runs apart it is judged whether these disagree, and where runs name
    sessions, which of them stand beside the series; a mark that comes or goes is a change at its
    position. Nothing is asked for other series.
    """
    apart, of_sessions = _mark(lowest)
    if apart and (changed := judge_uploads(apart)):
        _mark(changed)
    if of_sessions and (changed := judge_sessions(of_sessions)):
        _mark(changed)


def _mark(lowest: dict[int, int]) -> tuple[list[int], list[int]]:
    """Those of the series that have points whose runs are kept apart, and those with sessions."""
    ids = sorted(lowest)
    rows = sorted(rows_of(MARK_DIRTY, [timezone.now(), ids, [lowest[i] for i in ids]]))
    return [pk for pk, has_apart, _ in rows if has_apart], [pk for pk, _, named in rows if named]


def _pooled(
    wanted: set[SeriesRevision], positions: Mapping[int, int], source: str
) -> list[dict[str, Any]]:
    rows = rows_of(
        source,
        [sorted({series for series, _ in wanted}), sorted({revision for _, revision in wanted})],
    )
    points = (
        _point(key, positions[key[1]], [_row(*row) for row in group])
        for key, group in groupby(rows, key=lambda row: (row[0], row[1]))
        if key in wanted
    )
    return [point for point in points if point is not None]


class Moments(NamedTuple):
    """What a point keeps of its samples, in the metric's unit; ``variance`` None for one sample."""

    mean: float
    median: float
    variance: float | None
    minimum: float
    maximum: float


def moments(samples: list[float]) -> Moments:
    """What a point keeps of its samples: ministat's numbers, for one or two samples too.

    The variance is None where it is unknown: one sample, or squares beyond the double range.
    """
    if len(samples) >= ministat.LEAST_POINTS:
        summary = ministat.summarize(samples)
        variance = summary.variance if math.isfinite(summary.variance) else None
        mean = summary.mean if math.isfinite(summary.mean) else _careful_mean(samples)
        return Moments(mean, summary.median, variance, summary.minimum, summary.maximum)
    mean = _careful_mean(samples)
    apart = samples[0] - samples[-1]
    spread = apart * apart / 2 if len(samples) > 1 else math.inf  # ** would raise, not be infinite
    return Moments(
        mean,
        statistics.median(samples),
        spread if math.isfinite(spread) else None,
        min(samples),
        max(samples),
    )


def _careful_mean(samples: list[float]) -> float:
    """Without a sum that leaves the range of a double, as what is stored from before may."""
    total = sum(samples)
    if math.isfinite(total):
        return total / len(samples)
    return sum(value / len(samples) for value in samples)


class _Row(NamedTuple):
    """What is pooled of a measurement; ``marks`` as JSON where any sample is left out."""

    series: int
    revision: int
    samples: list[float]
    boots: list[int] | None
    build: str
    uuid: UUID
    digest: str
    session: str
    measured_at: datetime | None
    left_out: list[int] | None
    marks: str | None


def _row(series: int, revision: int, samples: bytes, boots: bytes | None, *others: Any) -> _Row:
    return _Row(series, revision, *unpack_measured(samples, boots), *others)


def _point(key: SeriesRevision, position: int, rows: list[_Row]) -> dict[str, Any] | None:
    """The columns of a point; None where no sample counts."""
    counting = [(*counted(*row[2:4], row.left_out), *row[4:9]) for row in rows]
    runs = [run for run in counting if run[0]]
    if not runs:
        return None
    sessions = sorted({run[5] for run in runs})
    pooled = of_runs([run[:3] for run in runs])
    return {
        "series_id": key[0],
        "revision_id": key[1],
        "position": position,
        "runs": len(runs),
        **pooled,
        "levels": pack_summary(pooled["levels"]),
        **moments([value for run in runs for value in run[0]])._asdict(),
        "disagrees": False,
        "uploads": uploads_apart(runs),
        "sessions": None if sessions == [""] else sessions,
        "beside": None,
        "left_out": _excluded(rows),
    }


def _excluded(rows: Iterable[_Row]) -> dict[str, Any] | None:
    found = LeftOut.of_measurements(
        (len(row.samples), row.left_out, marks_of(json.loads(row.marks) if row.marks else None))
        for row in rows
    )
    return None if found is None else found.to_data()


def of_runs(
    runs: Sequence[tuple[Sequence[float], Sequence[Hashable] | None, str]],
) -> dict[str, Any]:
    """The columns of a point that tell its levels: of each run samples, boots and build."""
    summary = summarize(pool(runs))
    identity = digest_of_builds({build for _, _, build in runs})
    return {
        "n": summary.n,
        "builds": summary.builds,
        "boots": summary.boots,
        "levels": summary.to_data() | {"identity": identity},
    }


def _delete_points(keys: set[SeriesRevision]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM results_point
             USING unnest(%s::bigint[], %s::bigint[]) AS gone (series_id, revision_id)
             WHERE results_point.series_id = gone.series_id
               AND results_point.revision_id = gone.revision_id
            """,
            [[series for series, _ in keys], [revision for _, revision in keys]],
        )


def judge_sessions(series: Sequence[int]) -> dict[int, int]:
    """Judge all points of ``series`` (ids), and store what differs; series → the lowest position
    that it is about. The caller holds the series. One statement, and two more where any differ.
    """
    lowest: dict[int, int] = {}
    points: list[dict[str, Any]] = []
    begun: list[dict[str, Any]] = []
    rows = map(_SessionRow._make, rows_of(POINTS, [list(series)]))
    for pk, group in groupby(rows, key=lambda row: row.series):
        its = list(group)
        apart = sessions_apart([_measured(row) for row in its])
        changed = [
            (row, beside)
            for at, row in enumerate(its)
            if (beside := _beside(apart.get(at))) != _read(row.beside)
        ]
        points += [
            {"revision_id": row.revision, "series_id": pk, "beside": beside}
            for row, beside in changed
        ]
        starts = [
            asdict(one) | {"position": its[at].position} for at, one in apart.items() if one.begins
        ] or None
        moved = [row.position for row, _ in changed]
        if starts != _read(its[0].starts):
            begun.append({"id": pk, "session_starts": starts})
            moved.append(its[0].position)
        if moved:
            lowest[pk] = min(moved)
    update_rows(Point, points, key=("revision_id", "series_id"))
    update_rows(Series, begun)
    return lowest


def _measured(row: _SessionRow) -> Measured:
    return Measured(log(row.mean), frozenset(row.sessions or [""]))


def _beside(one: ForeignSession | None) -> dict[str, Any] | None:
    return None if one is None or one.begins else asdict(one)


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
