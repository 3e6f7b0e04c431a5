"""Move stored runs to another revision of their tree, or to the series of other hardware or another
mode. Their identity and samples stay.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from django.db import connection

from webapp.results.models import Measurement, Series
from webapp.results.queries import rows_of
from webapp.results.services.database import lock_series_ids
from webapp.results.services.facts import machines_restated, rebuild_facts
from webapp.results.services.named_rows import PLAIN, HardwareAndMode, SeriesKey, lock_series
from webapp.results.services.placing import Placed
from webapp.results.services.points import SeriesRevision, mark_dirty, renew

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

RunSeries = tuple[int, int]
"""A run and a series (ids)."""


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
    """Let runs (ids) be of other revisions; series are locked, and ``renew`` takes their points."""
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
    machines = machines_restated(moved)
    file_runs(moved)
    if targets:
        move_measurements(targets)
    renew(before | points_at(moved))
    for machine in sorted(machines):
        rebuild_facts(machine)


def file_runs(moved: Mapping[int, HardwareAndMode]) -> None:
    """Let runs (ids) be of other hardware and modes; their measurements stay where they are."""
    hardware, modes = zip(*moved.values(), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(MOVE_RUNS, [list(moved), list(hardware), list(modes)])


def move_series_or_runs(targets: Mapping[RunSeries, SeriesKey]) -> list[tuple[Series, Series]]:
    """Let measurements be of the series of these keys, where nobody else writes.

    A series all of whose measurements go to one key that no series has yet gets that key itself,
    with all that was concluded of it. Returns those that became a part of another series, each with
    that one: they are empty now, and are to go.
    """
    lock_series_of_runs({run for run, _ in targets})
    going, joined = _settle(_whole(targets))
    for pk, (_, hardware, mode, _, variant) in going.items():
        about = {"hardware": hardware, "mode": mode, "variant": variant or None}
        Series.objects.filter(pk=pk).update(**about)
    if going:
        mark_dirty(dict.fromkeys(going, 0))
    _move({pair: key for pair, key in targets.items() if pair[1] not in going})
    rows = Series.objects.in_bulk([*joined, *joined.values()])
    return [(rows[pk], rows[into]) for pk, into in joined.items()]


def key_of(measurement: Measurement, names: HardwareAndMode, variant: int | None) -> SeriesKey:
    """The series that a measurement (with its present one loaded) belongs to under ``names``."""
    series = measurement.series
    return (series.tree_id, names.hardware, names.mode, series.metric_id, variant or PLAIN)


def move_measurements(targets: Mapping[RunSeries, int]) -> None:
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


def _whole(targets: Mapping[RunSeries, SeriesKey]) -> dict[int, SeriesKey]:
    """The series (ids) all of whose measurements belong to one other."""
    counts = dict(
        rows_of(
            "SELECT series_id, count(*) FROM results_measurement"
            " WHERE series_id = ANY(%s) GROUP BY series_id",
            [sorted({series for _, series in targets})],
        )
    )
    leaving = Counter(series for _, series in targets)
    into: dict[int, set[SeriesKey]] = {}
    for (_, series), key in targets.items():
        into.setdefault(series, set()).add(key)
    return {
        series: next(iter(keys))
        for series, keys in sorted(into.items())
        if len(keys) == 1 and leaving[series] == counts[series]
    }


def _settle(whole: Mapping[int, SeriesKey]) -> tuple[dict[int, SeriesKey], dict[int, int]]:
    """Of series (ids) that go as a whole: those that go to a place that is free, and those that
    become a part of another one, which stays or goes there first.
    """
    present = _present(set(whole.values()))
    first: dict[SeriesKey, int] = {}
    joined: dict[int, int] = {}
    for pk, key in sorted(whole.items()):
        if key not in present:
            into = first.setdefault(key, pk)
        elif present[key] in whole:  # it goes elsewhere: only the runs move
            continue
        else:
            into = present[key]
        if into != pk:
            joined[pk] = into
    return {pk: key for key, pk in first.items()}, joined


def _present(keys: Collection[SeriesKey]) -> dict[SeriesKey, int]:
    """Those of ``keys`` that are there, with their series (ids)."""
    rows = Series.objects.filter(mode__in={key[2] for key in keys}).values_list(
        "tree_id", "hardware_id", "mode_id", "metric_id", "variant_id", "pk"
    )
    found = {(*subject, variant or PLAIN): pk for *subject, variant, pk in rows}
    return {key: found[key] for key in keys if key in found}


def _move(targets: Mapping[RunSeries, SeriesKey]) -> None:
    """Let measurements be of the series of these keys, which are made where they are new."""
    if not targets:
        return
    runs = {run for run, _ in targets}
    before = points_at(runs)
    series = lock_series(targets.values(), besides={pk for _, pk in targets})
    move_measurements({pair: series[key] for pair, key in targets.items()})
    renew(before | points_at(runs))
