"""What the boots of a bisect measured beside its series: other modes and canaries of the machine.

They tell what the machine did meanwhile. Of the same run those series count that are marked as
canaries; of another mode those that one agent uploaded of the same revision in the same session,
which is what was measured together, as far as both runs tell as many boots.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from django.db.models import Q

from webapp.analysis.models import SeriesSettings
from webapp.bisects.models import BisectBoot
from webapp.bisects.question import LEAST_VALUE, MOST_VALUE, Scope, boots_of_revisions
from webapp.results.models import Measurement, Run, Series, counted
from webapp.stats import bisection
from webapp.stats.errors import TooFewSamplesError

MOST_COMPANIONS = 3
"""Series beside the one that is bisected: canaries first, then those measured most."""

Beside = Mapping[tuple[int, int], float]
"""A median by the run and the boot of the bisect's own series, in the companion's unit."""


def companions_of(scope: Scope, history: Sequence[BisectBoot]) -> list[dict[str, Any]]:
    """The companions that the history of an unsaved bisect was measured with, as JSON."""
    found = _measured_beside(scope, {row.run_id for row in history if row.run_id}, None)
    canaries = set(
        SeriesSettings.objects.filter(series__in=found, is_canary=True).values_list(
            "series", flat=True
        )
    )
    order = sorted(found, key=lambda pk: (pk not in canaries, -len(found[pk]), pk))
    named = Series.objects.named().in_bulk(order)
    chosen: list[dict[str, Any]] = []
    for pk in order:
        sd = _scatter(history, found[pk])
        if sd is not None and len(chosen) < MOST_COMPANIONS:
            name = f"{named[pk].mode} {named[pk].metric}"
            chosen.append({"series": pk, "name": name, "sd": sd, "can_step": pk not in canaries})
    return chosen


def with_companions(scope: Scope, rows: Iterable[BisectBoot]) -> list[BisectBoot]:
    """``rows``, unsaved, each with what its boot measured of the bisect's companions."""
    rows = list(rows)
    series = [one["series"] for one in scope.companions]
    runs = {row.run_id for row in rows if row.run_id}
    found = _measured_beside(scope, runs, series) if series and runs else {}
    for row in rows:
        key = (row.run_id or 0, row.boot)
        row.beside = [
            [number, found[pk][key]]
            for number, pk in enumerate(series)
            if pk in found and key in found[pk]
        ]
    return rows


def _scatter(history: Sequence[BisectBoot], beside: Beside) -> float | None:
    """From boot to boot inside a build, log percent; None where too little was measured."""
    rows = [
        BisectBoot(index=row.index, values=[beside[key]], purpose=row.purpose)
        for row in history
        if (key := (row.run_id or 0, row.boot)) in beside
    ]
    try:
        return bisection.estimate_noise(boots_of_revisions(rows)).run or None
    except TooFewSamplesError:
        return None


def _measured_beside(
    scope: Scope, runs: set[int], series: Sequence[int] | None
) -> dict[int, Beside]:
    """By series; ``runs`` are of the bisect's own. ``series`` None: any that qualifies."""
    own = {run.pk: run for run in Run.objects.filter(pk__in=runs).defer("facts", "sources")}
    together: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for run in own.values():
        together[_session(run)].append(run.pk)
    boots_of = _boots_of_own(scope, own)
    found: dict[int, dict[tuple[int, int], float]] = defaultdict(dict)
    for row in _rows_beside(scope, own, series):
        values = _by_boot(row)
        for pk in [row.run_id] if row.run_id in own else together.get(_session(row.run), []):
            boots = boots_of.get(pk, [])
            if len(values) == len(boots):
                pairs = zip(sorted(boots), sorted(values), strict=True)
                found[row.series_id] |= {(pk, boot): values[its] for boot, its in pairs}
    return dict(found)


def _rows_beside(
    scope: Scope, own: Mapping[int, Run], series: Sequence[int] | None
) -> Iterable[Measurement]:
    """What may have been measured in the same boots, in an order of its own."""
    same_session = Q(
        run__session__in={run.session for run in own.values()} - {""},
        run__revision__in={run.revision_id for run in own.values()},
        run__hardware=scope.series.hardware_id,
        series__metric=scope.series.metric_id,
    )
    is_canary = Q(run__in=own, series__settings__is_canary=True)
    rows = Measurement.objects.counted().filter(is_canary | same_session & ~Q(run__in=own))
    if series is not None:
        rows = rows.filter(series__in=series)
    return (
        rows.exclude(series=scope.series_id)
        .select_related("run")
        .defer("run__facts", "run__sources", "run__warnings")
        .order_by("series_id", "run__uuid")
    )


def _session(run: Run) -> tuple[Any, ...]:
    """Equal for runs that were measured together; a run without a session is alone."""
    return (run.agent_id, run.session, run.revision_id) if run.session else (run.pk,)


def _boots_of_own(scope: Scope, own: Mapping[int, Run]) -> dict[int, list[int]]:
    rows = Measurement.objects.counted().filter(series=scope.series_id, run__in=own)
    return {row.run_id: list(_by_boot(row)) for row in rows}


def _by_boot(row: Measurement) -> dict[int, float]:
    """The median of each boot that has one to compare."""
    samples, boots = counted(row.samples, row.boots, row.left_out)
    of_boot: dict[int, list[float]] = defaultdict(list)
    for value, boot in zip(samples, boots or [0] * len(samples), strict=True):
        of_boot[boot].append(value)
    medians = {boot: median(values) for boot, values in of_boot.items()}
    return {boot: each for boot, each in medians.items() if LEAST_VALUE <= each <= MOST_VALUE}
