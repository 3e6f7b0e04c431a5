"""What options cost, kept in line with the series that were measured with and without them.

A cost is a series of its own: tree, hardware and mode of the series with the option, and a metric
that names the option. Its parents are found by these, so a merge or another name of theirs needs
nothing here. Its samples (`CostSamples`) are a function of theirs (`webapp.stats.option_cost`): the
analysis of either parent brings them in line from the first position that changed there.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from webapp.results.models import Metric, ModeName, Series, counted
from webapp.results.models.costs import CostSamples, cost_name
from webapp.results.packed import SamplesField, pack_boots, unpack_measured
from webapp.results.queries import rows_of
from webapp.results.services.database import insert_rows, lock_series_ids
from webapp.results.services.points import COST_SAMPLES, SeriesRevision, mark_dirty, refresh_points
from webapp.stats.option_cost import PairedRun, ratios

FEWEST_REVISIONS = 5
"""Revisions that must have been measured both with and without: the detector asks as many of a
series before it shows anything."""

# Every batch of an analysis asks this, so it must cost nothing where no option exists.
MODES = """
SELECT id, workload, traffic, options FROM results_mode
 WHERE cardinality(options) > 0 OR id = ANY(%s)
"""
# Points that disagree take no part; LIMIT, because only the first shared revisions are of interest.
PAIRS = """
SELECT DISTINCT with_it.id, without.id, with_it.tree_id, with_it.hardware_id, with_it.mode_id,
       with_it.metric_id, with_it.own_better, asked.option, shared.revisions,
       LEAST(with_it.dirty_from, without.dirty_from)
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
       AS asked (tree, hardware, metric, mode, base, option)
  JOIN results_mode AS base ON base.name = asked.base
  JOIN results_series AS with_it
    ON with_it.tree_id = asked.tree AND with_it.hardware_id = asked.hardware
   AND with_it.mode_id = asked.mode AND with_it.metric_id = asked.metric
   AND with_it.variant_id IS NULL
  JOIN results_series AS without
    ON without.tree_id = asked.tree AND without.hardware_id = asked.hardware
   AND without.mode_id = base.id AND without.metric_id = asked.metric AND without.variant_id IS NULL
 CROSS JOIN LATERAL (
       SELECT count(*) AS revisions
         FROM (SELECT FROM results_point AS one
                 JOIN results_point AS two
                   ON two.revision_id = one.revision_id AND two.series_id = without.id
                  AND NOT two.disagrees
                WHERE one.series_id = with_it.id AND NOT one.disagrees
                LIMIT %s) AS first) AS shared
"""
FORSAKEN = """
SELECT cost.id FROM results_series AS cost
  JOIN results_metric AS metric ON metric.id = cost.metric_id
  JOIN results_mode AS mode ON mode.id = cost.mode_id
 WHERE cost.id = ANY(%s) AND metric.of_id IS NOT NULL
   AND NOT (metric.option = ANY(mode.options)
            AND EXISTS (
                SELECT FROM results_series AS with_it
                 WHERE with_it.tree_id = cost.tree_id AND with_it.mode_id = cost.mode_id
                   AND with_it.hardware_id = cost.hardware_id
                   AND with_it.metric_id = metric.of_id AND with_it.variant_id IS NULL)
            AND EXISTS (
                SELECT FROM results_series AS without
                  JOIN results_mode AS plainer ON plainer.id = without.mode_id
                 WHERE without.tree_id = cost.tree_id AND without.hardware_id = cost.hardware_id
                   AND without.metric_id = metric.of_id AND without.variant_id IS NULL
                   AND plainer.workload = mode.workload AND plainer.traffic = mode.traffic
                   AND plainer.options = array_remove(mode.options, metric.option)))
"""

Key = tuple[int, int, int, int, str]
"""Tree, hardware, mode and the metric it is the cost in (ids), and the option."""


class Pair(NamedTuple):
    """Series (ids) with and without ``option``, and what their cost is filed under. ``revisions``
    that both have, counted up to `FEWEST_REVISIONS`; ``since``: the lowest position that changed.
    """

    with_it: int
    without: int
    tree: int
    hardware: int
    mode: int
    metric: int
    own_better: str
    option: str
    revisions: int
    since: int | None

    @property
    def key(self) -> Key:
        """What distinguishes its cost from others."""
        return self.tree, self.hardware, self.mode, self.metric, self.option

    @property
    def is_complete(self) -> bool:
        """Whether enough revisions have both."""
        return self.revisions >= FEWEST_REVISIONS


@dataclass(frozen=True, slots=True)
class Changed:
    """What is to be renewed: the pairs of changed series, and costs (ids) that lost a parent."""

    pairs: Sequence[Pair]
    forsaken: Sequence[int]


def changed_costs(changed: Sequence[Series]) -> Changed:
    """What follows from ``changed`` series, with their metrics. One statement where no mode of
    theirs was measured with an option more or less, and none of them is a cost.
    """
    costs = [one.pk for one in changed if one.is_cost]
    measured = [one for one in changed if not one.is_cost and one.is_plain]
    forsaken = rows_of(FORSAKEN, [costs]) if costs else []
    return Changed(_pairs_of(measured), [pk for (pk,) in forsaken])


def _pairs_of(measured: Sequence[Series]) -> list[Pair]:
    """The pairs that any of the series is a part of."""
    if not measured:
        return []
    of_mode = _options_of({one.mode_id for one in measured})
    asked = {
        (one.tree_id, one.hardware_id, one.metric_id, *pair)
        for one in measured
        for pair in of_mode.get(one.mode_id, ())
    }
    if not asked:
        return []
    columns = map(list, zip(*sorted(asked), strict=True))
    return [Pair(*row) for row in rows_of(PAIRS, [*columns, FEWEST_REVISIONS])]


def _options_of(modes: set[int]) -> dict[int, list[tuple[int, str, str]]]:
    """By the mode (id) that has an option, or that is without one of another mode's: the mode with
    it (id), the name without it, and the option.
    """
    rows = rows_of(MODES, [list(modes)])
    parts = {pk: ModeName.of(*names) for pk, *names in rows}
    ids = {str(name): pk for pk, name in parts.items()}
    found: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for pk, name in parts.items():
        for option in name.options:
            base = str(name.without(option))
            for one in {pk, ids.get(base)} & modes:
                found[one].append((pk, base, option))
    return found


UNIT = "% of without"  # of what was measured without the option

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
  JOIN results_point AS point ON point.series_id = wanted.series AND point.position >= wanted.since
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
    rows = rows_of(COSTS, [*columns])
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
    rows = [_Run(*row) for row in rows_of(RUNS, [*map(list, zip(*asked, strict=True))])]
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
    for pk, cost, run, revision, position, samples, boots in rows_of(STORED, [*bounds]):
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
    """Points without samples and samples without their point, which a merge or a move leaves."""
    there = set()
    for cost, revision, position in rows_of(POINTS, [*bounds]):
        there.add((cost, revision))
        positions[revision] = position
    return there ^ {(cost, row.revision) for (cost, _), row in wanted.items()}
