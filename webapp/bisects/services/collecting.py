"""Bring the boots of a bisect in line with the runs that are stored.

Every run of the series at a revision of the bisect is evidence, whoever asked for it and whenever
it arrives: a late result and somebody's own upload count like a job's.

Companions are what the boots measured beside the series: other modes and canaries of the machine,
which show what the machine did meanwhile. Of the same run those series count that are marked as
canaries; of another mode those that one agent uploaded of the same revision in the same session,
which is what was measured together, as far as both runs have as many boots.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from webapp.accounts.models import User
from webapp.analysis.models import SeriesSettings
from webapp.bisects.models import Bisect, BisectBoot
from webapp.bisects.question import Scope, boots_of_revisions, least_in, level_of
from webapp.jobs.models import Job
from webapp.results.models import Measurement, Point, Revision, Run, Series, counted
from webapp.stats import TooFewSamplesError, bisection

Source = BisectBoot.Source
State = Bisect.State
BEYOND = BisectBoot.BEYOND
MOST_BEYOND = 3
"""Revisions beyond a change next to an end: enough to show whether it is the step looked for."""

PURPOSES = (State.VALIDATING, State.SEARCHING, State.CONFIRMING)

MOST_COMPANIONS = 3
"""Series beside the one that is bisected: canaries first, then those measured most."""

Beside = Mapping[tuple[int, int], float]
"""A median by the run and the boot of the bisect's own series, in the companion's unit."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One boot of a stored run."""

    index: int
    revision: int
    run: int
    boot: int
    build: str
    values: tuple[float, ...]


def collect(bisect: Bisect, *, decision: int, now: datetime) -> int:
    """Add the boots that are not known yet, drop those whose run is gone; how many changed.

    ``decision`` is the number of the decision that is to follow. The caller holds the bisect.
    """
    kept: dict[int, list[BisectBoot]] = defaultdict(list)
    for row in _boots_kept(bisect):
        kept[row.subject].append(row)
    rows: list[BisectBoot] = []
    changed = 0
    for scope in bisect.scopes:
        gone, new = _compared(bisect, scope, kept[scope.number])
        changed += BisectBoot.objects.filter(pk__in=gone).update(dropped_at=decision)
        rows += with_companions(scope, new)
    return changed + len(append(bisect, rows, now))


def _compared(
    bisect: Bisect, scope: Scope, rows: Iterable[BisectBoot]
) -> tuple[list[int], list[BisectBoot]]:
    """Of one machine and mode: the ids of the boots whose run is gone, and new boots, unsaved."""
    known = {(row.run_id or 0, row.boot): row for row in rows}
    index_of = {row.revision_id: row.index for row in known.values()} | _index_of(bisect)
    found = measured_at(scope.series_id, index_of)
    least = least_in(scope)
    stored = {(one.run, one.boot): one for one in found if level_of(one.values, least) is not None}
    dropped = [key for key, row in known.items() if not _is_backed(row, stored.get(key))]
    kept = known.keys() - set(dropped)
    new = [one for key, one in stored.items() if key not in kept]
    purposes = _purposes(bisect, new)
    beyond = {row.index for row in known.values() if row.purpose == BEYOND}
    purpose_now = _purpose_now(bisect)
    return [known[key].pk for key in dropped], [
        _row(
            one,
            Source.RUN,
            BEYOND if one.index in beyond else purposes.get(one.run, purpose_now),
            scope.number,
        )
        for one in new
    ]


def history_boots(
    bisect: Bisect, scope: Scope, *, earliest: int, latest: int, most: int
) -> list[BisectBoot]:
    """Unsaved: what was measured along the bisect before its start, and beside its ends, of one
    machine and mode.

    At most ``most`` revisions before the good one, from position ``earliest`` on, and as many
    after the bad one up to ``latest``; first those of some revisions beyond that.
    """
    points = Point.objects.that_agree().filter(series=scope.series_id)
    neighbours = _neighbours(bisect, points, earliest, latest, most)
    measured = measured_at(scope.series_id, neighbours | _index_of(bisect))
    beyond = _beyond(bisect, points, earliest, latest, neighbours)
    number = scope.number
    rows = [
        _row(one, Source.HISTORY, BEYOND, number) for one in measured_at(scope.series_id, beyond)
    ]
    return rows + [_row(one, Source.HISTORY, Source.HISTORY, number) for one in measured]


def pasted_boots(
    bisect: Bisect, *, index: int, boots: Sequence[Sequence[float]], actor: User
) -> list[BisectBoot]:
    """Unsaved: what a person measured at one revision; all of one paste are of one build."""
    return [
        BisectBoot(
            index=index,
            revision_id=bisect.along[index],
            build="entered by hand",
            values=list(values),
            purpose=_purpose_now(bisect),
            source=Source.PASTED,
            entered_by=actor,
        )
        for values in boots
    ]


def append(bisect: Bisect, rows: Sequence[BisectBoot], now: datetime) -> list[BisectBoot]:
    """Number and store boots of a bisect that the caller holds."""
    last = bisect.boots.aggregate(last=Max("number"))["last"] or 0
    for number, row in enumerate(rows, last + 1):
        row.bisect, row.number, row.at = bisect, number, now
    return BisectBoot.objects.bulk_create(rows)


def measured_at(series: int, index_of: Mapping[int, int]) -> list[Measured]:
    """The boots of the counted runs of a series at revisions (id → index), in pooling order, by
    the samples that count.

    Samples of a run that does not state its boots count as runs of one boot, which is the least
    that they can be worth.
    """
    rows = (
        Measurement.objects.counted()
        .filter(series=series, run__revision__in=index_of)
        .in_pooling_order()
        .values_list(
            "run_id", "run__revision_id", "run__kernel__build_id", "samples", "boots", "left_out"
        )
    )
    found = []
    for run, revision, build, stored, of_boots, left_out in rows:
        found += [
            Measured(index_of[revision], revision, run, boot, build, tuple(values))
            for boot, values in _of_boots(*counted(stored, of_boots, left_out)).items()
        ]
    return found


def _of_boots(samples: Sequence[float], boots: Sequence[int] | None) -> dict[int, list[float]]:
    """Samples by their boot, 0 where they name none."""
    found: dict[int, list[float]] = defaultdict(list)
    for value, boot in zip(samples, boots or [0] * len(samples), strict=True):
        found[boot].append(value)
    return found


def revisions_along(bisect: Bisect) -> list[Revision]:
    """The revisions of the bisect by their index."""
    found = Revision.objects.select_related("tree").defer("paths").in_bulk(bisect.along)
    return [found[pk] for pk in bisect.along]


def _boots_kept(bisect: Bisect) -> QuerySet[BisectBoot]:
    return bisect.boots.filter(dropped_at__isnull=True, run__isnull=False)


def _index_of(bisect: Bisect) -> dict[int, int]:
    return {revision: index for index, revision in enumerate(bisect.along)}


def _neighbours(
    bisect: Bisect, points: QuerySet[Point], earliest: int, latest: int, most: int
) -> dict[int, int]:
    """Measured revisions at the level of either end: id → index outside the bisect."""
    before = points.filter(position__lt=bisect.good.position, position__gte=earliest)
    after = points.filter(position__gt=bisect.bad.position, position__lte=latest)
    earlier, later = (
        rows.values_list("revision_id", flat=True)[:most]
        for rows in (before.order_by("-position"), after.order_by("position"))
    )
    index_of = {revision: -1 - steps for steps, revision in enumerate(earlier)}
    first = bisect.last_index + 1
    return index_of | {revision: first + steps for steps, revision in enumerate(later)}


def _beyond(
    bisect: Bisect,
    points: QuerySet[Point],
    earliest: int,
    latest: int,
    neighbours: Mapping[int, int],
) -> dict[int, int]:
    """The nearest measured revisions on the other side of a change beside an end: id → index."""
    before = points.filter(position__lt=min(earliest, bisect.good.position))
    after = points.filter(position__gt=max(latest, bisect.bad.position))
    lowest = min([0, *neighbours.values()])
    highest = max([bisect.last_index, *neighbours.values()])
    earlier, later = (
        rows.values_list("revision_id", flat=True)[:MOST_BEYOND]
        for rows in (before.order_by("-position"), after.order_by("position"))
    )
    found = {revision: lowest - 1 - steps for steps, revision in enumerate(earlier)}
    return found | {revision: highest + 1 + steps for steps, revision in enumerate(later)}


def _is_backed(row: BisectBoot, measured: Measured | None) -> bool:
    return measured is not None and list(measured.values) == row.values


def _purpose_now(bisect: Bisect) -> str:
    """Of boots that nobody asked for: what the bisect is busy with."""
    last = bisect.decisions.order_by("-number").first()
    return last.state if last and last.state in PURPOSES else PURPOSES[0]


def _purposes(bisect: Bisect, measured: Iterable[Measured]) -> dict[int, str]:
    """By run, the state that asked for it. What a job of somebody else measured, or what was there
    before (on what was merged into this, or replaced since), is evidence as well, but none of this
    bisect's effort: it spends nothing of its budget.
    """
    runs = {one.run for one in measured}
    others = Job.objects.filter(runs__in=runs).values_list("runs", flat=True)
    early = Q(received_at__lt=bisect.created_at)
    former = Run.objects.filter(early, superseded_by__isnull=False, uuid=OuterRef("uuid"))
    before = Run.objects.filter(early | Q(history=True) | Exists(former), pk__in=runs).values_list(
        "pk", flat=True
    )
    asked = bisect.asked.filter(job__runs__in=runs)
    return dict.fromkeys([*others, *before], Source.HISTORY.value) | dict(
        asked.values_list("job__runs", "purpose")
    )


def _row(one: Measured, source: Source, purpose: str, subject: int) -> BisectBoot:
    return BisectBoot(
        subject=subject,
        index=one.index,
        revision_id=one.revision,
        build=one.build,
        values=list(one.values),
        purpose=purpose,
        source=source,
        run_id=one.run,
        boot=one.boot,
    )


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
    return {row.run_id: list(_by_boot(row, least_in(scope))) for row in rows}


def _by_boot(row: Measurement, least: float = 0.0) -> dict[int, float]:
    """The level of each boot that has one to compare; a lower one than ``least`` counts as that."""
    of_boot = _of_boots(*counted(row.samples, row.boots, row.left_out))
    levels = {boot: level_of(values, least) for boot, values in of_boot.items()}
    return {boot: level for boot, level in levels.items() if level is not None}
