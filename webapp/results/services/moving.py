"""Move stored runs to the series of other hardware or another mode. Their identity, revision and
samples stay."""

from collections.abc import Iterable, Mapping

from django.db import connection

from webapp.results.models import Measurement
from webapp.results.services.aliased_runs import Named
from webapp.results.services.facts import machines_retold, rebuild_facts
from webapp.results.services.pooling import mark_dirty
from webapp.results.services.refiling import points_at, renew
from webapp.results.services.resolving import PLAIN, SeriesKey, lock_series

MOVE_RUNS = """
UPDATE results_run AS run SET hardware_id = moved.hardware, mode_id = moved.mode
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS moved (run, hardware, mode)
 WHERE run.id = moved.run
"""
MOVE_MEASUREMENTS = """
UPDATE results_measurement AS measurement SET series_id = moved.target
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS moved (run, series, target)
 WHERE measurement.run_id = moved.run AND measurement.series_id = moved.series
"""
HAND_OVER_DIRECTION = """
UPDATE results_series AS target SET own_better = former.own_better
  FROM unnest(%s::bigint[], %s::bigint[]) AS moved (series, target)
  JOIN results_series AS former ON former.id = moved.series
 WHERE target.id = moved.target AND target.own_better = '' AND former.own_better <> ''
RETURNING target.id
"""


def move_to_series(
    moved: Mapping[int, Named],
    *,
    variants: Mapping[int, int | None] | None = None,
    besides: Iterable[SeriesKey] = (),
) -> None:
    """Let runs (ids) be of the hardware and mode given; some of their series may be of these
    already. ``variants`` are those (ids; None: the plain kernel) of runs whose variant changed.
    Points of both sides are pooled anew; a run that waits or was withdrawn moves, and stays out.
    All series are locked in one order, also those of the keys ``besides``.
    """
    measured = list(
        Measurement.objects.filter(run__in=list(moved)).select_related("series").order_by("pk")
    )
    told = variants or {}
    keys = {
        (one.run_id, one.series_id): key_of(
            one, moved[one.run_id], told.get(one.run_id, one.series.variant_id)
        )
        for one in measured
    }
    series = lock_series({*keys.values(), *besides}, besides={one.series_id for one in measured})
    before = points_at(moved)
    targets = {pair: series[key] for pair, key in keys.items() if series[key] != pair[1]}
    machines = machines_retold(moved)
    with connection.cursor() as cursor:
        hardware, modes = zip(*moved.values(), strict=True)
        cursor.execute(MOVE_RUNS, [list(moved), list(hardware), list(modes)])
    if targets:
        move_measurements(targets)
    renew(before | points_at(moved))
    for machine in sorted(machines):
        rebuild_facts(machine)


def key_of(measurement: Measurement, names: Named, variant: int | None) -> SeriesKey:
    """The series that a measurement (with its present one loaded) belongs to under ``names``."""
    series = measurement.series
    return (series.tree_id, names.hardware, names.mode, series.metric_id, variant or PLAIN)


def move_measurements(targets: Mapping[tuple[int, int], int]) -> None:
    """Let measurements, by run and series (ids), be of other series, which take over the direction
    that was set. The caller has locked all of them, and has the points before and after pooled
    anew.
    """
    runs, series = zip(*targets, strict=True)
    pairs = sorted({(former, into) for (_, former), into in targets.items()})
    with connection.cursor() as cursor:
        cursor.execute(MOVE_MEASUREMENTS, [list(runs), list(series), list(targets.values())])
        cursor.execute(HAND_OVER_DIRECTION, [list(column) for column in zip(*pairs, strict=True)])
        turned = [pk for (pk,) in cursor.fetchall()]
    if turned:
        mark_dirty(dict.fromkeys(turned, 0))
