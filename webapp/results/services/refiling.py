"""Move stored runs to another revision of their tree, or to the series of other hardware or another
mode. Their identity and samples stay.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import connection

from webapp.results.models import Measurement
from webapp.results.services.facts import machines_retold, rebuild_facts
from webapp.results.services.locks import lock_series_ids
from webapp.results.services.named_rows import PLAIN, HardwareAndMode, SeriesKey, lock_series
from webapp.results.services.placing import Placed
from webapp.results.services.points import SeriesRevision, mark_dirty, refresh_points

MOVE = """
UPDATE results_run AS run SET revision_id = moved.revision
  FROM unnest(%s::bigint[], %s::bigint[]) AS moved (run, revision)
 WHERE run.id = moved.run
"""
LEAVE_OUT = """
UPDATE results_run SET withdrawn_at = %s, withdrawn_reason = %s
 WHERE id = ANY(%s) AND withdrawn_at IS NULL
"""
COUNT_AGAIN = """
UPDATE results_run SET withdrawn_at = NULL, withdrawn_by_id = NULL, withdrawn_reason = ''
 WHERE id = ANY(%s) AND withdrawn_by_id IS NULL AND superseded_by_id IS NULL
   AND withdrawn_reason = %s
"""
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


def lock_series_of_runs(runs: Iterable[int]) -> None:
    """Lock every series that ``runs`` (ids) measured, in the order of ids."""
    measured = Measurement.objects.filter(run__in=list(runs)).values("series")
    lock_series_ids(pk__in=measured)


def points_at(runs: Iterable[int]) -> dict[SeriesRevision, int]:
    """The points that ``runs`` (ids) have or would have: the position of each one's revision."""
    rows = Measurement.objects.filter(run__in=list(runs))
    found = rows.values_list("series", "run__revision", "run__revision__position")
    return {(series, revision): position for series, revision, position in found}


def refile(moves: Mapping[int, Placed]) -> None:
    """Let runs (ids) be of other revisions. The caller has locked their series and calls ``renew``
    with their points from before and after.
    """
    with connection.cursor() as cursor:
        cursor.execute(MOVE, [list(moves), [place.pk for place in moves.values()]])


def leave_out(runs: Iterable[int], *, reason: str, now: datetime) -> None:
    """Take runs out of the statistics; what a person withdrew keeps that reason."""
    with connection.cursor() as cursor:
        cursor.execute(LEAVE_OUT, [now, reason, list(runs)])


def count_again(runs: Iterable[int], *, reason: str) -> None:
    """Take runs back in that were left out for ``reason`` and not withdrawn by a person since."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_AGAIN, [list(runs), reason])


def renew(points: Mapping[SeriesRevision, int]) -> None:
    """Pool ``points`` anew, each with the position of its revision."""
    refresh_points(points, {revision: position for (_, revision), position in points.items()})


def move_to_series(
    moved: Mapping[int, HardwareAndMode],
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
    given = variants or {}
    keys = {
        (one.run_id, one.series_id): key_of(
            one, moved[one.run_id], given.get(one.run_id, one.series.variant_id)
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


def key_of(measurement: Measurement, names: HardwareAndMode, variant: int | None) -> SeriesKey:
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
