"""Run the change detector over series, each from the newest checkpoint before what changed.

The detector reads the revisions of a series in order (``webapp.stats.changes``). Its state is kept
now and then (``checkpoints``), so one new point costs the reading of a few revisions, at 60 as at
5,000; a point that arrives late, or goes, is taken up from the checkpoint before it. What is found
is a function of the points alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from math import log1p

import numpy as np

from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.services import checkpoints
from webapp.events.queries import Epochs
from webapp.results.models import Series, counted, unpack_measured
from webapp.results.queries import rows_of
from webapp.stats import changes, single_build
from webapp.stats.metrics import least_of
from webapp.stats.several_series import faint_excursions
from webapp.stats.slow_parts import largest_parts


@dataclass(frozen=True, slots=True)
class SlowPart:
    """After revision ``after`` up to ``up_to`` (names) the level moved by ``change_pct``."""

    after: str
    up_to: str
    change_pct: float


NO_EPOCHS: Mapping[int, Epochs] = {}
ALL_RUNS: Mapping[int, datetime] = {}
NOTHING = changes.Findings()

# Of a variant's series nothing is found: to the analysis it has no points. OFFSET 0 keeps the order
# of the joins: the new points of each series, then their runs. Left to itself the planner guesses
# that a third of all points is new, and reads every run of the series; before the first ANALYZE of
# a new instance it reads them once for each point, which takes seconds.
SAMPLES_FROM = """
SELECT point.series_id, point.position, revision.name,
       run.samples, run.boots, run.build_id, run.left_out
  FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[])
       AS wanted (series_id, position, seen_until)
  JOIN results_series AS series ON series.id = wanted.series_id AND series.variant_id IS NULL
 CROSS JOIN LATERAL (
       SELECT one.series_id, one.revision_id, one.position
         FROM results_point AS one
        WHERE one.series_id = wanted.series_id AND one.position > wanted.position
          AND NOT one.disagrees AND one.beside IS NULL
       OFFSET 0) AS point
 CROSS JOIN LATERAL (
       SELECT run.uuid, run.measured_at,
              (SELECT build_id FROM results_kernel WHERE id = run.kernel_id) AS build_id,
              measurement.samples, measurement.boots, {left_out} AS left_out
         FROM results_run AS run
         JOIN {table} AS measurement
           ON measurement.run_id = run.id AND measurement.series_id = point.series_id
        WHERE run.revision_id = point.revision_id AND run.mode_id = series.mode_id
          AND run.hardware_id = series.hardware_id AND run.withdrawn_at IS NULL
          AND (wanted.seen_until IS NULL OR run.received_at <= wanted.seen_until)
       OFFSET 0) AS run
  JOIN results_revision AS revision ON revision.id = point.revision_id
 WHERE NOT EXISTS (
       SELECT FROM unnest(%s::bigint[], %s::timestamptz[], %s::bigint[])
                   AS late (series_id, since, start)
        WHERE late.series_id = point.series_id
          AND run.measured_at >= late.since AND point.position < late.start)
 ORDER BY point.series_id, point.position, run.uuid
"""
SAMPLES_OF = {
    False: SAMPLES_FROM.format(table="results_measurement", left_out="measurement.left_out"),
    True: SAMPLES_FROM.format(table="results_costsamples", left_out="NULL::int[]"),
}
"""By whether a series is what an option costs."""

Row = tuple[int, int, str, list[float], list[int] | None, str, list[int] | None]


@dataclass(frozen=True, slots=True)
class FirstPairs:
    """Where the newest pair of a series was asked while its build noise was not known, and what
    some belief may find of it.
    """

    asked: Sequence[int]
    pairs: Sequence[single_build.Pair]


@dataclass(frozen=True, slots=True)
class Detected:
    """A series with everything the detector finds in it now. Its ``first`` pairs are None where
    no first revisions were read: they are as stored. ``others`` are its findings that are no change
    of level; ``parts`` are those of a slow one, by its first position, ``faint`` the excursions
    that count only where other modes of the machine agree. ``by_epoch`` has the analysis of each
    epoch alone; ``starts`` are the first positions of all but the first.
    """

    series: Series
    analysis: changes.Analysis
    first: FirstPairs | None = None
    others: changes.Findings = NOTHING
    by_epoch: Sequence[changes.Analysis] = ()
    starts: Sequence[int] = ()
    parts: Mapping[int, Sequence[SlowPart]] = field(default_factory=dict)
    faint: Sequence[changes.Finding] = ()


def detect_changes(
    claimed: Sequence[Series],
    epochs: Mapping[int, Epochs] = NO_EPOCHS,
    seen_until: Mapping[int, datetime] = ALL_RUNS,
) -> list[Detected]:
    """Detect in each series, in each of its ``epochs`` (by id) alone, and in the runs received up
    to ``seen_until`` where that is given. The caller holds their analysis rows; a constant number
    of queries.
    """
    checkpoints.delete_outdated(claimed)
    resumed = checkpoints.resume(claimed, epochs)
    costs = {series.pk for series in claimed if series.is_cost}
    least = {one.pk: 0.0 if one.is_cost else least_of(one.metric.unit) for one in claimed}
    points = _points_after(resumed, costs, seen_until, least)
    several = [pk for pk, one in resumed.items() if one.first_whole and one.epochs.starts]
    stored_pairs = _first_pairs_of(several)
    kept: list[checkpoints.Kept] = []
    found = []
    for series in claimed:
        known = resumed[series.pk]
        read = known.fill(points.get(series.pk, []))
        states = list(known.states)
        if known.begin is not None and known.is_over(last := len(states) - 1):
            # No later analysis reads these revisions: it goes on from an epoch after this one.
            begin = known.begin_of(last)
            kept.append(checkpoints.Kept(series.pk, begin, known.position, states[last]))
        for number, its in known.by_epoch(read):
            states += [changes.start() for _ in range(len(states), number + 1)]
            is_over, since = known.is_over(number), known.begin_of(number)
            for position, state in checkpoints.update(states[number], its, is_over=is_over):
                states[number] = state
                if position is not None:
                    kept.append(checkpoints.Kept(series.pk, since, position, state))
        by_epoch = checkpoints.present_all(states, series.better)
        first = _first_pairs(series, known, read, stored_pairs.get(series.pk))
        found.append(_detected(series, by_epoch, states, first, known.epochs.starts))
    checkpoints.store(kept)
    return found


def _detected(
    series: Series,
    by_epoch: Sequence[changes.Report],
    states: Sequence[changes.State],
    first: FirstPairs | None,
    starts: Sequence[int],
) -> Detected:
    joint = checkpoints.joined(by_epoch)
    analyses = [one.analysis for one in by_epoch]
    parts = {
        at: its
        for one, state in zip(by_epoch, states, strict=True)
        for at, its in parts_of(one.others, state).items()
    }
    if series.is_cost:  # it repeats the series it came from: nothing else may lean on it
        return Detected(series, joint.analysis, first, joint.others, analyses, starts, parts)
    faint = [
        each
        for one, state in zip(by_epoch, states, strict=True)
        for each in faint_excursions(state.window.rows.values(), one.others)
    ]
    return Detected(series, joint.analysis, first, joint.others, analyses, starts, parts, faint)


def _first_pairs(
    series: Series,
    known: checkpoints.EpochStates,
    points: Sequence[changes.Point],
    stored: FirstPairs | None,
) -> FirstPairs | None:
    """Of every epoch that was read from its first point on, after those of the epochs before it."""
    whole = [its for number, its in known.by_epoch(points) if number >= known.first_whole]
    if not whole or series.is_cost:  # its builds scatter otherwise than those the belief is about
        return None if known.first_whole else FirstPairs([], [])
    begin = whole[0][0].position
    asked = [at for at in stored.asked if at < begin] if stored else []
    pairs = [one for one in stored.pairs if one.position < begin] if stored else []
    for its in whole:
        measured = _first_measured(its)
        asked += single_build.asked_at(measured)
        pairs += single_build.pairs_of(measured, series.better)
    return FirstPairs(asked, pairs)


def _first_measured(points: Sequence[changes.Point]) -> list[single_build.Measured]:
    """The first points of an epoch, as far as pairs of builds are looked for."""
    measured = []
    for point in points:
        if builds := _builds(point):
            measured.append(single_build.Measured(point.position, builds, point.label))
        if len(measured) == single_build.YOUNG + single_build.WAITS:
            break
    return measured


def _first_pairs_of(series: Collection[int]) -> dict[int, FirstPairs]:
    """What is stored of the first pairs of series (ids); no query where there are none."""
    if not series:
        return {}
    rows = SeriesAnalysis.objects.filter(pk__in=series)
    return {
        pk: FirstPairs(asked, [single_build.Pair.from_data(one) for one in pairs])
        for pk, asked, pairs in rows.values_list("pk", "asked", "pairs")
    }


def _builds(point: changes.Point) -> tuple[single_build.Build, ...]:
    by_build: dict[object, list[int]] = {}
    for at, build in enumerate(point.builds or ()):
        by_build.setdefault(build, []).append(at)
    found = (
        single_build.build_of(
            [point.samples[at] for at in its],
            [point.boots[at] for at in its] if point.boots else None,
        )
        for its in by_build.values()
    )
    return tuple(build for build in found if build is not None)


def _points_after(
    resumed: Mapping[int, checkpoints.EpochStates],
    costs: Collection[int],
    seen_until: Mapping[int, datetime],
    least: Mapping[int, float],
) -> dict[int, list[changes.Point]]:
    """The points of each series (id) that its states do not hold, without late runs. Those of
    ``costs`` are read apart; no query where there are none. A sample from 0 to ``least`` (by
    series) is that.
    """
    points: dict[int, list[changes.Point]] = {}
    for is_cost, statement in SAMPLES_OF.items():
        ids = sorted(pk for pk in resumed if (pk in costs) == is_cost)
        for (pk, position, name), group in groupby(
            _rows_after(statement, ids, resumed, seen_until), key=lambda row: row[:3]
        ):
            counting = [row for row in group if counted(row[3], row[4], row[6])[0]]
            if counting:  # late runs aside, none may be left
                points.setdefault(pk, []).append(_point(position, name, counting, least[pk]))
    return points


def _rows_after(
    statement: str,
    ids: Sequence[int],
    resumed: Mapping[int, checkpoints.EpochStates],
    seen_until: Mapping[int, datetime],
) -> Iterable[Row]:
    if not ids:
        return []
    after = [resumed[pk].read_after for pk in ids]
    late = [(pk, *one) for pk in ids for one in resumed[pk].epochs.late_runs]
    columns = [list(column) for column in zip(*late, strict=True)] or [[], [], []]
    rows = rows_of(statement, [ids, after, [seen_until.get(pk) for pk in ids], *columns])
    return ((*row[:3], *unpack_measured(*row[3:5]), *row[5:]) for row in rows)


def _point(position: int, name: str, rows: Sequence[Row], least: float) -> changes.Point:
    """One revision. Boots count within their run, so a boot is (run, index); unknown stays None."""
    samples: list[float] = []
    boots: list[object] = []
    builds: list[object] = []
    for number, (_, _, _, stored, of_boots, build, left_out) in enumerate(rows):
        values, indices = counted(stored, of_boots, left_out)
        samples += [least if 0 <= one < least else one for one in values]
        boots += [None] * len(values) if indices is None else [(number, one) for one in indices]
        builds += [build] * len(values)
    return changes.Point(position, name, samples, boots, builds)


def parts_of(found: changes.Findings, state: changes.State) -> dict[int, list[SlowPart]]:
    """By the first position of each slow move, the parts that hold most of it: none where it went
    evenly. Steps are taken out, as they are of its size.
    """
    if not found.slow:
        return {}
    values = state.window.rows.values()
    at = np.array([value.position for value in values])
    logs = np.array([value.location for value in values])
    for step in found.changes:
        logs[at >= step.first.position] -= log1p(step.pct / 100)
    parts = {}
    for move in found.slow:
        low, high = np.searchsorted(at, [move.first.position, move.last.position])
        labels = [value.label for value in values[low : high + 1]]
        parts[move.first.position] = [
            SlowPart(labels[one.first], labels[one.last], one.pct)
            for one in largest_parts(logs[low : high + 1])
        ]
    return parts
