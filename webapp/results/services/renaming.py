"""Known runs whose mode has another name by now: they move to the series of that mode.

An agent that reads a mode otherwise than agents before it says how these read it
(``Evidence.former_mode``). Identity and digest of the run stay those under the former name.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import connection

from webapp.results.documents import RunDocument
from webapp.results.models import Measurement, Mode, Series
from webapp.results.services.pooling import mark_dirty
from webapp.results.services.refiling import points_at, renew
from webapp.results.services.replacing import lock_current
from webapp.results.services.resolving import SeriesKey, Subjects, lock_series

MOVE_RUNS = """
UPDATE results_run AS run
   SET mode_id = moved.mode,
       evidence = run.evidence || jsonb_build_object('former_mode', moved.former)
  FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS moved (run, mode, former)
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


def adopt_modes(
    runs: Sequence[RunDocument], subjects: Subjects, *, besides: Iterable[SeriesKey] = ()
) -> frozenset[UUID]:
    """Move those of the stored ``runs`` that still have their former mode to the one they name;
    their UUIDs. A run whose mode an operator merged into another one stays there.

    All series are locked in one order: also those of the keys ``besides``, which the caller is
    going to write to. Points of both series are pooled anew; a run that waits or was withdrawn
    moves, and stays out.
    """
    stored = lock_current(run.uuid for run in runs)
    names = {run.former_mode for run in runs}
    former = dict(Mode.objects.filter(name__in=names).values_list("name", "pk"))
    moved: dict[int, tuple[int, str]] = {}
    for run in runs:
        row, into = stored.get(run.uuid), subjects.modes[str(run.mode)].pk
        if row and row.mode_id == former.get(run.former_mode) and row.mode_id != into:
            moved[row.pk] = (into, run.former_mode)
    if not moved:
        return frozenset()
    measured = list(
        Measurement.objects.filter(run__in=moved).select_related("series").order_by("pk")
    )
    keys = {(one.run_id, one.series_id): _key(one.series, moved[one.run_id][0]) for one in measured}
    series = lock_series({*keys.values(), *besides}, besides={one.series_id for one in measured})
    before = points_at(moved)
    _move(moved, {(run, former): series[key] for (run, former), key in keys.items()})
    renew(before | points_at(moved))
    return frozenset(uuid for uuid, row in stored.items() if row.pk in moved)


def _key(series: Series, mode: int) -> SeriesKey:
    return (series.tree_id, series.hardware_id, mode, series.metric_id)


def _move(moved: dict[int, tuple[int, str]], measurements: dict[tuple[int, int], int]) -> None:
    modes, names = zip(*moved.values(), strict=True)
    pairs = sorted({(former, into) for (_, former), into in measurements.items()})
    with connection.cursor() as cursor:
        cursor.execute(MOVE_RUNS, [list(moved), list(modes), list(names)])
        runs, series = zip(*measurements, strict=True)
        cursor.execute(MOVE_MEASUREMENTS, [list(runs), list(series), list(measurements.values())])
        cursor.execute(HAND_OVER_DIRECTION, [list(column) for column in zip(*pairs, strict=True)])
        turned = [pk for (pk,) in cursor.fetchall()]
    if turned:
        mark_dirty(dict.fromkeys(turned, 0))
