"""A bisect in the words of `webapp.stats.bisection`: its plan, its evidence at a decision, what
people's acts, taken together, state of the revisions, and which workers can measure for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from math import inf, isfinite, log1p
from statistics import median
from typing import Any

from webapp.bisects.models import Bisect, BisectAct, BisectBoot, BisectSubject
from webapp.jobs.models import Worker
from webapp.jobs.queries import Capability
from webapp.results.models import Series
from webapp.stats import bisection
from webapp.stats.metrics import least_of

LEAST_HOURS = 1e-6
Scope = Bisect | BisectSubject
"""What a bisect measures: its own series, or one of its further ones."""

PAST = (bisection.Purpose.HISTORY.value, BisectBoot.BEYOND)
"""Purposes of boots that were there before."""

REFERENCE = 1.0
"""In the metric's unit: any one value does, since only differences of logarithms count."""

LEAST_VALUE, MOST_VALUE = 1e-100, 1e100
"""Of the level of a boot. A bisect compares ratios: 0 has none, and nothing that is measured lies
beyond, where means and ratios would overflow."""

Kind = BisectAct.Kind


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision depends on besides boots and acts: see `BisectDecision`.

    ``asked`` is what is pending, with its subject, ``free`` are the agents of each machine that
    have nothing to do. ``failure`` is why the bisect is given up, ``failures`` why one of several
    subjects is.
    """

    at: datetime
    hours: float = 0.0
    failure: str = ""
    asked: tuple[bisection.Asked, ...] = ()
    free: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)


def least_in(scope: Scope) -> float:
    """What a lower level counts as, in the unit of the metric; 0: none (`least_of`)."""
    return least_of(scope.series.metric.unit)


def level_of(values: Sequence[float], least: float) -> float | None:
    """The median of a boot, no lower than ``least``; None where nothing can be compared with it."""
    level = max(median(values), least)
    return level if LEAST_VALUE <= level <= MOST_VALUE else None


def machine_of(scope: Scope) -> str:
    """What several modes share: the hardware."""
    return str(scope.series.hardware_id)


def subjects_of(
    bisect: Bisect,
    names: Sequence[str],
    boots: Iterable[BisectBoot],
    acts: Iterable[BisectAct],
    circumstances: Circumstances,
) -> list[bisection.Subject]:
    """The machines and modes of a bisect with what is known of each."""
    boots, acts = list(boots), list(acts)
    turns = _turns(bisect, boots) if bisect.is_of_several else {}
    found = []
    for scope in bisect.scopes:
        own = replace(
            circumstances,
            hours=0.0 if scope.number else circumstances.hours,
            failure=circumstances.failure or circumstances.failures.get(scope.number, ""),
        )
        mine = [row for row in boots if row.subject == scope.number]
        spared = bisection.SPARED if scope.alerted else bisection.SPARED_UNTOLD
        found.append(
            bisection.Subject(
                plan=_plan_of(bisect, names, scope),
                evidence=_evidence_of(mine, acts, own, scope, turns),
                machine=machine_of(scope),
                spared=spared if bisect.is_of_several else 0.0,
                name=f"{scope.series.mode} on {scope.series.hardware}",
            )
        )
    return found


def _turns(bisect: Bisect, boots: Iterable[BisectBoot]) -> dict[int, int]:
    """By the number of each boot that is none of history: how many its machine made before."""
    machines = {scope.number: machine_of(scope) for scope in bisect.scopes}
    made = dict.fromkeys(machines.values(), 0)
    turns = {}
    for row in boots:
        if row.purpose not in PAST:
            turns[row.number] = made[machines[row.subject]]
            made[machines[row.subject]] += 1
    return turns


def _plan_of(bisect: Bisect, names: Sequence[str], of: Scope) -> bisection.Plan:
    """The question as it was put at the start; ``names`` of the revisions along the bisect. ``of``:
    which machine and mode.
    """
    return bisection.Plan(
        weights=tuple(bisect.weights or [1.0] * bisect.last_index),
        effect=100 * log1p(of.effect_pct / 100),
        noise=noise_from(of.noise),
        runs=of.runs,
        costs=bisection.Costs(build=of.build_hours, boot=max(of.boot_hours, LEAST_HOURS)),
        budget=bisection.Budget(
            boots=bisect.most_boots,
            hours=inf if bisect.most_hours is None else bisect.most_hours,
            deadline=bisect.deadline,
        ),
        can_rebuild=of.can_rebuild,
        companions=tuple(bisection.Companion(one["sd"], one["can_step"]) for one in of.companions),
        names=tuple(names),
    )


def _evidence_of(
    every: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
    scope: Scope,
    turns: Mapping[int, int],
) -> bisection.Evidence:
    """What was known: boots of one ``scope`` and ``acts`` up to that moment, in their order.
    ``turns``: by the number of a boot how many its machine made before; empty: it makes no others.
    """
    boots = [row for row in every if row.purpose != BisectBoot.BEYOND]
    marks = marks_of(acts, scope.number)
    first, least = _first_builds(every), least_in(scope)
    return bisection.Evidence(
        boots=tuple(
            _boot(row, _build(row, first, marks.identical), least, turns.get(row.number, -1))
            for row in boots
            if not marks.excludes(row)
        ),
        beyond=tuple(
            _boot(row, _build(row, first, marks.identical), least)
            for row in every
            if row.purpose == BisectBoot.BEYOND
        ),
        skipped=marks.skipped,
        excluded=marks.excluded,
        allowed=marks.allowed,
        identical=marks.identical,
        forced=frozenset() if marks.forced is None else frozenset({marks.forced}),
        pinned=tuple(
            index for index, after in marks.pinned if not _is_measured(boots, index, after)
        ),
        hours=circumstances.hours,
        failure=circumstances.failure,
    )


def noise_document(noise: bisection.Noise) -> dict[str, float | None]:
    """As JSON: what is known for certain has null degrees of freedom."""
    return {name: value if isfinite(value) else None for name, value in asdict(noise).items()}


def noise_from(document: dict[str, Any]) -> bisection.Noise:
    """What ``noise_document`` wrote."""
    return bisection.Noise(
        **{name: inf if value is None else value for name, value in document.items()}
    )


def boots_of_revisions(
    boots: Iterable[BisectBoot], least: float = 0.0
) -> Sequence[Sequence[float]]:
    """The boots of each revision in log percent, along the tree, for an estimate of noise; those
    below ``least``, in the metric's unit, count as that.
    """
    of_index: dict[int, list[float]] = {}
    for row in boots:
        if row.purpose == BisectBoot.BEYOND:
            continue
        of_index.setdefault(row.index, []).append(_log_value(row, least))
    return [of_index[index] for index in sorted(of_index)]


def _first_builds(boots: Iterable[BisectBoot]) -> dict[int, str]:
    first: dict[int, str] = {}
    for row in boots:
        first.setdefault(row.index, row.build)
    return first


def _build(row: BisectBoot, first: Mapping[int, str], identical: frozenset[int]) -> str:
    """The build that a boot is of; builds found to be one kernel count as one.

    By index, not by the revision's id: after a merge one may stand at two places along the bisect.
    """
    index = row.index
    while index in identical:
        index -= 1
    if index in first and row.build == first[row.index]:
        return f"{index}:{first[index]}"
    return f"{row.index}:{row.build}"


def _boot(row: BisectBoot, build: str, least: float, turn: int = -1) -> bisection.Boot:
    return bisection.Boot(
        index=row.index,
        value=_log_value(row, least),
        build=build,
        runs=len(row.values),
        purpose=_purpose(row),
        beside=tuple(
            (number, bisection.log_percent(value, REFERENCE)) for number, value in row.beside
        ),
        turn=turn,
    )


def _purpose(row: BisectBoot) -> bisection.Purpose:
    is_past = row.purpose == BisectBoot.BEYOND
    return bisection.Purpose.HISTORY if is_past else bisection.Purpose(row.purpose)


def _log_value(row: BisectBoot, least: float) -> float:
    return bisection.log_percent(max(median(row.values), least), REFERENCE)


def _is_measured(boots: Iterable[BisectBoot], index: int, after: int) -> bool:
    return any(row.index == index and row.number > after for row in boots)


@dataclass(frozen=True, slots=True)
class Marks:
    """Indices along the bisect: the forced one, those excluded, those that a person calls as
    likely as any other, those built as their parents, those skipped, and those pinned in order."""

    forced: int | None
    excluded: frozenset[int]
    allowed: frozenset[int]
    identical: frozenset[int]
    skipped: frozenset[int]
    pinned: tuple[tuple[int, int], ...]
    """(index, last boot known then): a pin holds until something was measured there after it."""
    discarded: Mapping[int, int]
    """By index the last boot known when somebody called what was measured there weak."""

    def excludes(self, boot: BisectBoot) -> bool:
        """Whether the boot is one that somebody called weak: it counts for nothing."""
        after = self.discarded.get(boot.index)
        return after is not None and boot.number <= after


def marks_of(acts: Iterable[BisectAct], subject: int = 0) -> Marks:
    """Later acts replace earlier ones on the same revision. Acts on one machine and mode only
    count for the one with that number.
    """
    suspects, measuring = _Suspects(), _Measuring()
    for act in acts:
        if act.index is not None and act.subject in (None, subject):
            suspects.apply(act.kind, act.index)
            measuring.apply(act.kind, act.index, act.after_boots)
    return Marks(
        forced=suspects.forced,
        excluded=frozenset(suspects.excluded),
        allowed=frozenset(suspects.allowed),
        identical=frozenset(suspects.identical),
        skipped=frozenset(measuring.skipped),
        pinned=tuple(measuring.pinned.items()),
        discarded=measuring.discarded,
    )


@dataclass(slots=True)
class _Suspects:
    """Which commits may have made the step."""

    forced: int | None = None
    excluded: set[int] = field(default_factory=set)
    allowed: set[int] = field(default_factory=set)
    identical: set[int] = field(default_factory=set)

    def apply(self, kind: str, index: int) -> None:
        if kind in (Kind.EXCLUDE, Kind.ALLOW) and self.forced == index:
            self.forced = None
        if kind == Kind.FORCE:
            self.forced = index
            self.excluded.discard(index)
        elif kind == Kind.EXCLUDE:
            self.excluded.add(index)
            self.allowed.discard(index)
        elif kind == Kind.SAME:
            self.identical.add(index)
        elif kind == Kind.ALLOW:
            self.excluded.discard(index)
            self.identical.discard(index)
            self.allowed.add(index)


@dataclass(slots=True)
class _Measuring:
    """Which revisions can be measured, are to be, and were measured badly."""

    skipped: set[int] = field(default_factory=set)
    pinned: dict[int, int] = field(default_factory=dict)
    discarded: dict[int, int] = field(default_factory=dict)

    def apply(self, kind: str, index: int, after_boots: int) -> None:
        if kind == Kind.SKIP:
            self.skipped.add(index)
            self.pinned.pop(index, None)
        elif kind in (Kind.UNSKIP, Kind.PIN, Kind.DISCARD):
            self.skipped.discard(index)
        if kind in (Kind.PIN, Kind.DISCARD):
            self.pinned[index] = after_boots
        if kind == Kind.DISCARD:
            self.discarded[index] = after_boots


def workers_for(series: Series, now: datetime) -> list[Capability]:
    """What each worker that reported lately can do for the hardware, mode and tree of a series."""
    return [serves for serves in offers(now) if serves.covers(series)]


def hands_of(scopes: Sequence[Scope], now: datetime) -> list[tuple[Scope, int]]:
    """How many workers can measure each machine and mode, in one query."""
    offered = offers(now)
    return [(scope, sum(serves.covers(scope.series) for serves in offered)) for scope in scopes]


def agents_for(bisect: Bisect, now: datetime) -> int:
    """How many workers can measure for a bisect, on whatever machine."""
    of_machine: dict[int, int] = {}
    for scope, count in hands_of(bisect.scopes, now):
        machine = scope.series.hardware_id
        of_machine[machine] = max(of_machine.get(machine, 0), count)
    return sum(of_machine.values())


def offers(now: datetime) -> list[Capability]:
    """What the workers that reported lately can do, in one query."""
    return [serves for worker in Worker.objects.alive(now) for serves in worker.capabilities]
