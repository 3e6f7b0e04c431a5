"""What options cost, kept in line with the series that were measured with and without them.

A cost is a series of its own: tree, hardware and mode of the series with the option, and a metric
that names the option. Its parents are found by these, so a merge or another name of theirs needs
nothing here. Its samples (`CostSamples`) are a function of theirs (`webapp.stats.option_cost`): the
analysis of either parent brings them in line from the first position that changed there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from webapp.results.models import Metric, Series, counted
from webapp.results.models.costs import CostSamples, cost_name
from webapp.results.packed import SamplesField, pack_boots, unpack_measured
from webapp.results.services.cost_pairs import Changed, Key, Pair
from webapp.results.services.database import fetch_rows, insert_rows, lock_series_ids
from webapp.results.services.points import COST_SAMPLES, SeriesRevision, mark_dirty, refresh_points
from webapp.stats.option_cost import PairedRun, ratios

UNIT = "% of without"
"""Of what was measured without the option."""

COSTS = """
SELECT cost.id, cost.own_better,
       EXISTS (SELECT FROM results_point WHERE series_id = cost.id),
       cost.tree_id, cost.hardware_id, cost.mode_id, metric.of_id, metric.option
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[])
       AS wanted (tree, hardware, mode, of, option)
  JOIN results_metric AS metric ON metric.of_id = wanted.of AND metric.option = wanted.option
  JOIN results_series AS cost
    ON cost.tree_id = wanted.tree AND cost.hardware_id = wanted.hardware
   AND cost.mode_id = wanted.mode AND cost.metric_id = metric.id AND cost.variant_id IS NULL
"""
RUNS = """
SELECT wanted.cost, wanted.with_it, point.revision_id, point.position, run.id,
       (SELECT build_id FROM results_kernel WHERE id = run.kernel_id),
       run.session, run.measured_at, measurement.samples, measurement.boots, measurement.left_out
  FROM unnest(%s::bigint[], %s::bool[], %s::bigint[], %s::bigint[])
       AS wanted (cost, with_it, series, since)
  JOIN results_series AS series ON series.id = wanted.series
  JOIN results_point AS point
    ON point.series_id = wanted.series AND point.position >= wanted.since AND NOT point.disagrees
  JOIN results_run AS run
    ON run.revision_id = point.revision_id AND run.mode_id = series.mode_id
   AND run.hardware_id = series.hardware_id AND run.withdrawn_at IS NULL
  JOIN results_measurement AS measurement
    ON measurement.run_id = run.id AND measurement.series_id = wanted.series
 ORDER BY wanted.cost, point.position, wanted.with_it, run.uuid
"""
STORED = """
SELECT cost.id, cost.series_id, cost.run_id, cost.revision_id, revision.position,
       cost.samples, cost.boots
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (series, since)
  JOIN results_costsamples AS cost ON cost.series_id = wanted.series
  JOIN results_revision AS revision
    ON revision.id = cost.revision_id AND revision.position >= wanted.since
"""
POINTS = """
SELECT point.series_id, point.revision_id, point.position
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (series, since)
  JOIN results_point AS point
    ON point.series_id = wanted.series AND point.position >= wanted.since
"""


@dataclass(frozen=True, slots=True)
class _Cost:
    """The series ``id`` of a pair's cost."""

    pair: Pair
    id: int
    own_better: str
    has_points: bool

    @property
    def since(self) -> int:
        """From where it is to be looked at: everywhere, where it comes into being, or goes."""
        return self.pair.since or 0 if self.has_points and self.pair.is_complete else 0


class _Run(NamedTuple):
    """A run of either side of a cost, at a revision."""

    cost: int
    with_it: bool
    revision: int
    position: int
    id: int
    build: str
    session: str
    measured_at: datetime | None
    samples: bytes
    boots: bytes | None
    left_out: list[int] | None

    @property
    def paired(self) -> PairedRun:
        """As pairs are made of it: the samples that count."""
        samples, boots = counted(*unpack_measured(self.samples, self.boots), self.left_out)
        at = self.measured_at
        day = at.astimezone(UTC).date() if at else None
        return PairedRun(self.id, self.build, samples, boots, self.session, day)


class _Row(NamedTuple):
    """What is stored, or to be, for a cost and a run."""

    revision: int
    samples: list[float]
    boots: list[int] | None


Rows = dict[tuple[int, int], _Row]
"""By cost and run (ids)."""


def renew_costs(changed: Changed, *, besides: Iterable[int] = ()) -> bool:
    """Bring costs in line with what was measured; whether any of them changed.

    A pair has its cost from `FEWEST_REVISIONS` on; below that it has no point. Idempotent: what is
    as it should be is left alone, and its series are not marked. All series are locked in one
    order, those ``besides`` (ids) included. The caller holds the trees, so that nobody else renews
    the same costs. A constant number of statements.
    """
    costs = _costs_of(changed.pairs)
    if not costs and not changed.forsaken:
        return False
    since = {one.id: one.since for one in costs.values()} | dict.fromkeys(changed.forsaken, 0)
    lock_series_ids(pk__in=[*since, *besides])
    turned = _turn([one for one in costs.values() if one.own_better != one.pair.own_better])
    positions: dict[int, int] = {}
    wanted = _wanted([one for one in costs.values() if one.pair.is_complete], positions)
    keys = _store(wanted, since, positions)
    if keys:
        refresh_points(keys, positions, source=COST_SAMPLES)
    if turned:
        mark_dirty(dict.fromkeys(turned, 0))
    return bool(keys or turned)


def _costs_of(pairs: Sequence[Pair]) -> dict[Key, _Cost]:
    """The costs of pairs, made where they are new and the pair is complete."""
    by_key = {pair.key: pair for pair in pairs}
    if not by_key:
        return {}
    found = _stored_costs(by_key)
    new = [pair for key, pair in by_key.items() if key not in found and pair.is_complete]
    if new:
        _make(new)
        found = _stored_costs(by_key)
    return found


def _stored_costs(by_key: Mapping[Key, Pair]) -> dict[Key, _Cost]:
    columns = [list(column) for column in zip(*by_key, strict=True)]
    rows = fetch_rows(COSTS, *columns)
    return {
        tuple(key): _Cost(by_key[tuple(key)], pk, own_better, has_points)
        for pk, own_better, has_points, *key in rows
    }


def _make(pairs: Sequence[Pair]) -> None:
    """The metrics and series of costs, in one order, so that two workers never wait in a circle."""
    of = Metric.objects.in_bulk({pair.metric for pair in pairs})
    wanted = {cost_name(pair.option, of[pair.metric].name): pair for pair in pairs}
    Metric.objects.bulk_create(
        [
            Metric(
                name=name,
                unit=UNIT,
                better=of[pair.metric].better,
                of_id=pair.metric,
                option=pair.option,
            )
            for name, pair in sorted(wanted.items())
        ],
        ignore_conflicts=True,
    )
    metrics = {(row.of_id, row.option): row.pk for row in Metric.objects.filter(name__in=wanted)}
    Series.objects.bulk_create(
        [
            Series(
                tree_id=pair.tree,
                hardware_id=pair.hardware,
                mode_id=pair.mode,
                metric_id=metrics[pair.metric, pair.option],
                own_better=pair.own_better,
            )
            for pair in sorted(pairs)
        ],
        ignore_conflicts=True,
    )


def _turn(costs: Sequence[_Cost]) -> list[int]:
    """Let the direction of costs be that of the series with the option."""
    for one in costs:
        Series.objects.filter(pk=one.id).update(own_better=one.pair.own_better)
    return [one.id for one in costs]


def _wanted(costs: Sequence[_Cost], positions: dict[int, int]) -> Rows:
    """What is to be stored from where each cost changed on; notes the ``positions`` it met."""
    asked = [
        (one.id, is_with, series, one.since)
        for one in costs
        for is_with, series in ((True, one.pair.with_it), (False, one.pair.without))
    ]
    if not asked:
        return {}
    rows = [_Run(*row) for row in fetch_rows(RUNS, *map(list, zip(*asked, strict=True)))]
    wanted: Rows = {}
    for (cost, revision), group in groupby(rows, key=lambda row: (row.cost, row.revision)):
        runs = list(group)
        positions[revision] = runs[0].position
        sides = [[run.paired for run in runs if run.with_it == side] for side in (True, False)]
        for one in ratios(*sides):
            wanted[cost, one.run] = _Row(revision, one.samples, one.boots)
    return wanted


def _store(
    wanted: Rows, since: Mapping[int, int], positions: dict[int, int]
) -> set[SeriesRevision]:
    """Make what is stored equal to what is ``wanted``; the points that this concerns."""
    bounds = [list(since), list(since.values())]
    stored: dict[tuple[int, int], tuple[int, _Row]] = {}
    for pk, cost, run, revision, position, samples, boots in fetch_rows(STORED, *bounds):
        stored[cost, run] = pk, _Row(revision, *unpack_measured(samples, boots))
        positions[revision] = position
    gone = {key: row for key, row in stored.items() if key not in wanted}
    new = {key: row for key, row in wanted.items() if key not in stored or stored[key][1] != row}
    keys = {(cost, row.revision) for (cost, _), row in new.items()}
    keys |= {(key[0], stored[key][1].revision) for key in [*new, *gone] if key in stored}
    if gone:
        CostSamples.objects.filter(pk__in=[pk for pk, _ in gone.values()]).delete()
    insert_rows(
        CostSamples,
        [
            {
                "series_id": cost,
                "run_id": run,
                "revision_id": row.revision,
                "samples": SamplesField.pack(row.samples),
                "boots": pack_boots(row.boots),
            }
            for (cost, run), row in new.items()
        ],
        unique=("run_id", "series_id"),
    )
    return keys | _astray(wanted, bounds, positions)


def _astray(
    wanted: Rows, bounds: Sequence[Sequence[int]], positions: dict[int, int]
) -> set[SeriesRevision]:
    """Points without samples, and samples without their point: a merge or a new place of revisions
    takes points and leaves samples, or the other way round.
    """
    there = set()
    for cost, revision, position in fetch_rows(POINTS, *bounds):
        there.add((cost, revision))
        positions[revision] = position
    return there ^ {(cost, row.revision) for (cost, _), row in wanted.items()}
