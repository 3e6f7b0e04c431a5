"""A simulated lab, and a bisect played in it to the end: for forecasts and for the tables.

Values are in log percent. A lab knows the truth: the level of each revision. It draws the effect
of each build once, that of each boot and run anew, everything from one generator.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.case import Measure
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.plan import Boot, Evidence, Plan, Subject
from webapp.stats.bisection.stages import decide
from webapp.stats.bisection.together import Asked, decide_together

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabChanges:
    """What a lab does to its boots beside their noise, log percent.

    ``drift`` is added by each boot to all later ones, ``step`` to every boot after the first
    ``step_at``. A share ``flaky`` of the boots is off by ``flaky_effect``, in the past as well.
    ``path``: what is added to each boot from number ``path_at`` on, and the last of it to all later
    ones.
    """

    drift: float = 0.0
    step: float = 0.0
    step_at: int = 0
    flaky: float = 0.0
    flaky_effect: float = 0.0
    path: tuple[float, ...] = ()
    path_at: int = 0

    def offset(self, boots: int) -> float:
        """The shift of the next boot after ``boots`` of them."""
        moved = self.drift * boots + (self.step if boots >= self.step_at else 0.0)
        if self.path and boots >= self.path_at:
            moved += self.path[min(boots - self.path_at, len(self.path) - 1)]
        return moved


STEADY = LabChanges()


@dataclass(frozen=True, slots=True)
class Beside:
    """A companion: it has a ``share`` of each step of the series, follows what the lab does or does
    not (``follows``, 1 or 0), and scatters by ``sd``.
    """

    sd: float
    share: float = 0.0
    follows: float = 1.0


@dataclass(slots=True)
class SimulatedLab:
    """``levels`` (N + 1,): the true level of each revision. ``noise``: the true noise.

    ``builds``: effects of the builds made so far, by revision and build key; those measured before
    the simulation began may be given. ``booted``: boots made so far. ``beside``: other series that
    each boot measures.
    """

    rng: np.random.Generator
    levels: Floats
    noise: Noise
    builds: dict[tuple[int, str], float] = field(default_factory=dict)
    changes: LabChanges = STEADY
    booted: int = 0
    beside: tuple[Beside, ...] = ()

    def boot(self, measure: Measure, build: str, runs: int) -> Boot:
        """The boot that a measurement would give: its value is the median of ``runs`` runs."""
        values = self.runs(measure.index, runs, build)
        moved = self.changes.offset(self.booted)
        self.booted += 1
        beside = tuple(
            (number, self._beside(one, measure.index, moved))
            for number, one in enumerate(self.beside)
        )
        value = float(np.median(values)) + moved
        return Boot(measure.index, value, build, runs, measure.purpose, beside)

    def _beside(self, one: Beside, index: int, moved: float) -> float:
        scatter = one.sd * self.rng.standard_normal()
        return float(one.share * self.levels[index] + one.follows * moved + scatter)

    def runs(self, index: int, count: int, build: str = "") -> Floats:
        """The values of ``count`` runs of one more boot, log percent, shape (count,)."""
        level = self.levels[index] + self._build(index, build)
        boot = level + self.noise.boot * self.rng.standard_normal()
        if self.changes.flaky and self.rng.random() < self.changes.flaky:
            boot += self.changes.flaky_effect
        return np.asarray(boot + self.noise.run * self.rng.standard_normal(count))

    def _build(self, index: int, build: str) -> float:
        if self.noise.build == 0:
            return 0.0
        key = (index, build)
        if key not in self.builds:
            self.builds[key] = self.noise.build * self.rng.standard_normal()
        return self.builds[key]


@dataclass(frozen=True, slots=True)
class Played:
    """``evidence`` of each subject in the end, the ``outcome``, and the ``hours`` from the start to
    the end. ``ended``: of each boot, in order, its subject and the hour.
    """

    evidence: tuple[Evidence, ...]
    outcome: Outcome
    hours: float
    ended: tuple[tuple[int, float], ...]

    @property
    def effort(self) -> int:
        """Boots of all subjects."""
        return sum(one.effort for one in self.evidence)


@dataclass(frozen=True, slots=True)
class _Running:
    """A boot under way: when it ends, and what it takes."""

    ends: float
    hours: float
    asked: Asked


def play(
    plan: Plan, evidence: Evidence, lab: SimulatedLab, *, faster_after: int = 0
) -> tuple[Evidence, Outcome]:
    """Measure in ``lab`` what is decided, boot by boot; all evidence and the outcome.

    With ``faster_after`` boots two are asked for at a time, with twice as many three, and so on.
    """
    while True:
        at_once = 1 + (evidence.effort // faster_after if faster_after else 0)
        decision = decide(plan, evidence, agents=at_once)
        if decision.outcome is not None:
            return evidence, decision.outcome
        evidence = replace(
            evidence,
            boots=(*evidence.boots, *_measured(plan, evidence, lab, decision.actions)),
            pinned=(),
            hours=evidence.hours + sum(hours_of(plan, evidence, each) for each in decision.actions),
        )


def build_key(measure: Measure, evidence: Evidence) -> str:
    """The newest build of the revision, or a new one."""
    keys = [boot.build for boot in evidence.boots if boot.index == measure.index]
    if measure.rebuild:
        return f"rebuild {len(set(keys))} of {measure.index}"
    return keys[-1] if keys else ""


def hours_of(plan: Plan, evidence: Evidence, measure: Measure) -> float:
    """Machine hours that a measurement takes, with its build if there is none."""
    built = measure.index in plan.cached or any(
        boot.index == measure.index for boot in evidence.boots
    )
    new = measure.rebuild or not built
    return plan.costs.boot + (plan.costs.build if new else 0.0)


def play_together(
    subjects: Sequence[Subject], labs: Sequence[SimulatedLab], gone: dict[str, float] | None = None
) -> Played:
    """Measure in ``labs``, one for each subject, what is decided; machines work side by side.

    A machine of ``gone`` is not there from so many hours on: its boot under way is lost.
    """
    subjects, gone = list(subjects), gone or {}
    running: list[_Running] = []
    ended: list[tuple[int, float]] = []
    clock = 0.0
    while True:
        present = {one.machine for one in subjects if clock < gone.get(one.machine, float("inf"))}
        running = [one for one in running if subjects[one.asked.subject].machine in present]
        busy = [subjects[one.asked.subject].machine for one in running]
        free = {machine: int(machine not in busy) for machine in sorted(present)}
        found = decide_together(subjects, [one.asked for one in running], free)
        if found.decision.outcome is not None:
            return _ended(subjects, found.decision.outcome, clock, ended)
        here = [one for one in found.actions if subjects[one.subject].machine in present]
        for asked in here:
            hours = _hours(subjects, asked)
            running.append(_Running(clock + hours, hours, asked))
        if not running:
            waits = Outcome(Kind.INCONCLUSIVE, (), 0.0, "It waits for a machine that is gone.")
            return _ended(subjects, waits, clock, ended)
        first = min(running, key=lambda one: (one.ends, one.asked.subject))
        running.remove(first)
        clock = first.ends
        at = first.asked.subject
        if clock < gone.get(subjects[at].machine, float("inf")):
            subjects[at] = _measured_together(subjects, labs, first)
            ended.append((at, clock))


def _measured(
    plan: Plan, evidence: Evidence, lab: SimulatedLab, actions: tuple[Measure, ...]
) -> list[Boot]:
    return [lab.boot(each, build_key(each, evidence), plan.runs) for each in actions]


def _ended(
    subjects: Sequence[Subject], outcome: Outcome, clock: float, ended: list[tuple[int, float]]
) -> Played:
    return Played(tuple(one.evidence for one in subjects), outcome, clock, tuple(ended))


def _hours(subjects: Sequence[Subject], asked: Asked) -> float:
    """A build that the machine made for another mode is there."""
    own = subjects[asked.subject]
    made = frozenset(
        boot.index for one in subjects if one.machine == own.machine for boot in one.evidence.boots
    )
    plan = replace(own.plan, cached=own.plan.cached | made)
    return hours_of(plan, own.evidence, asked.measure)


def _measured_together(
    subjects: Sequence[Subject], labs: Sequence[SimulatedLab], one: _Running
) -> Subject:
    """The subject with the boot that ended, which all labs of its machine have behind them."""
    at, measure = one.asked.subject, one.asked.measure
    own, evidence = subjects[at], subjects[at].evidence
    turn = labs[at].booted
    boot = labs[at].boot(measure, build_key(measure, evidence), own.plan.runs)
    for other, lab in zip(subjects, labs, strict=True):
        if other.machine == own.machine:
            lab.booted = turn + 1
    boots = (*evidence.boots, replace(boot, turn=turn))
    return replace(
        own, evidence=replace(evidence, boots=boots, pinned=(), hours=evidence.hours + one.hours)
    )
