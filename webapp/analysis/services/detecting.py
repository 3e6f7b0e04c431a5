"""Run the change detector over series, each from the newest checkpoint before what changed.

The detector is a fold over the revisions of a series (``webapp.stats.changes``). Its state is kept
every ``CHECKPOINT_EVERY`` revisions, so one new point costs the reading of fewer revisions than
that, at 60 as at 5,000; a point that arrives late, or goes, is folded in from the checkpoint
before it. What is found is a function of the points alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import connection

from webapp.analysis.models import Checkpoint
from webapp.results.models import Series
from webapp.results.services import insert_rows
from webapp.stats import agreeing, changes, decisive

CHECKPOINT_EVERY = 64

SAMPLES_FROM = """
SELECT point.series_id, point.position, revision.name,
       measurement.samples, measurement.boots, run.build_id
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (series_id, position)
  JOIN results_series AS series ON series.id = wanted.series_id
  JOIN results_point AS point
    ON point.series_id = wanted.series_id AND point.position > wanted.position
   AND NOT point.disagrees
  JOIN results_revision AS revision ON revision.id = point.revision_id
  JOIN results_run AS run
    ON run.revision_id = point.revision_id AND run.mode_id = series.mode_id
   AND run.hardware_id = series.hardware_id AND run.withdrawn_at IS NULL
  JOIN results_measurement AS measurement
    ON measurement.run_id = run.id AND measurement.series_id = point.series_id
 ORDER BY point.series_id, point.position, run.uuid
"""
Row = tuple[int, int, str, list[float], list[int] | None, str]


@dataclass(frozen=True, slots=True)
class FirstPairs:
    """Where the newest pair of a series was asked while it could not tell its build noise, and what
    some belief may find of it.
    """

    asked: Sequence[int]
    pairs: Sequence[decisive.Pair]


@dataclass(frozen=True, slots=True)
class Detected:
    """A series with everything the detector says about it now; ``recent`` is what its newest
    revisions say, to be read together with other series. Its ``first`` pairs are None where its
    first revisions were not read: they are as stored.
    """

    series: Series
    analysis: changes.Analysis
    recent: agreeing.Recent | None = None
    first: FirstPairs | None = None


def detect_changes(claimed: Sequence[Series]) -> list[Detected]:
    """Detect in each series. The caller holds their analysis rows; a constant number of queries."""
    starts = _starts(claimed)
    points = _points_after(starts)
    kept: list[dict[str, Any]] = []
    found = []
    for series in claimed:
        state = starts[series.pk]
        for position, state in _fold(state, points.get(series.pk, [])):  # noqa: B020
            if position is not None:
                kept.append(_row(series, position, state))
        is_whole = starts[series.pk].last_position is None
        first = _first_pairs(series, points.get(series.pk, [])) if is_whole else None
        said = changes.present(state, series.better)
        found.append(Detected(series, said, agreeing.recent_of(state, series.better), first))
    insert_rows(Checkpoint, kept)
    return found


def _first_pairs(series: Series, points: Sequence[changes.Point]) -> FirstPairs:
    """Of a series that was read from its first point on."""
    measured = []
    for point in points:
        if builds := _builds(point):
            measured.append(decisive.Measured(point.position, builds, point.label))
        if len(measured) == decisive.YOUNG + decisive.WAITS:
            break
    pairs = decisive.pairs_of(measured, series.better)
    return FirstPairs(decisive.asked_at(measured), pairs)


def _builds(point: changes.Point) -> tuple[decisive.Build, ...]:
    by_build: dict[object, list[int]] = {}
    for at, build in enumerate(point.builds or ()):
        by_build.setdefault(build, []).append(at)
    found = (
        decisive.build_of(
            [point.samples[at] for at in its],
            [point.boots[at] for at in its] if point.boots else None,
        )
        for its in by_build.values()
    )
    return tuple(build for build in found if build is not None)


def _fold(
    state: changes.State, points: Sequence[changes.Point]
) -> Iterator[tuple[int | None, changes.State]]:
    """The states to keep, with the position of each, and at last the state after all points.

    Where a checkpoint lies depends on the number of points before it only, so that it does not
    matter in how many pieces they came.
    """
    at = 0
    while at < len(points):
        ahead = CHECKPOINT_EVERY - _length(state) % CHECKPOINT_EVERY
        part = points[at : at + ahead]
        state = changes.advance(state, part)
        at += len(part)
        full = len(part) == ahead
        yield (part[-1].position if full else None), state
    if not points:
        yield None, state


def _length(state: changes.State) -> int:
    return state.count + len(state.left_out)


def _row(series: Series, position: int, state: changes.State) -> dict[str, Any]:
    return {
        "series_id": series.pk,
        "position": position,
        "detector": changes.VERSION,
        "state": state.to_data(),
    }


def _starts(claimed: Sequence[Series]) -> dict[int, changes.State]:
    """For each series the state to go on from; checkpoints that hold changed points are deleted."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM analysis_checkpoint AS old
             USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
             WHERE old.series_id = dirty.series_id
               AND (old.position >= dirty.dirty_from OR old.detector <> %s)
            """,
            [
                [series.pk for series in claimed],
                [series.dirty_from for series in claimed],
                changes.VERSION,
            ],
        )
    newest = (
        Checkpoint.objects.filter(series__in=claimed)
        .order_by("series_id", "-position")
        .distinct("series_id")
    )
    states = {row.series_id: changes.State.from_data(row.state) for row in newest}
    return {series.pk: states.get(series.pk) or changes.start() for series in claimed}


def _points_after(starts: dict[int, changes.State]) -> dict[int, list[changes.Point]]:
    ids = sorted(starts)
    after = [-1 if (last := starts[pk].last_position) is None else last for pk in ids]
    with connection.cursor() as cursor:
        cursor.execute(SAMPLES_FROM, [ids, after])
        rows: Iterable[Row] = cursor.fetchall()
    points: dict[int, list[changes.Point]] = {}
    for (pk, position, name), group in groupby(rows, key=lambda row: row[:3]):
        points.setdefault(pk, []).append(_point(position, name, list(group)))
    return points


def _point(position: int, name: str, rows: Sequence[Row]) -> changes.Point:
    """One revision. Boots count within their run, so a boot is (run, index); unknown stays None."""
    samples: list[float] = []
    boots: list[object] = []
    builds: list[object] = []
    for number, (_, _, _, values, indices, build) in enumerate(rows):
        samples += values
        boots += [None] * len(values) if indices is None else [(number, one) for one in indices]
        builds += [build] * len(values)
    return changes.Point(position, name, samples, boots, builds)
