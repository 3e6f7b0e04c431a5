"""A simulated lab, and a bisect played in it to the end: for forecasts and for the tables.

Values are in log percent. A lab knows the truth: the level of each revision. It draws the effect
of each build once, that of each boot and run anew, everything from one generator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from webapp.stats.arrays import Floats
from webapp.stats.bisection.confirming import Measure
from webapp.stats.bisection.deciding import Asked, decide, with_builds
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.plan import Boot, Evidence, Plan, Subject


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


@dataclass(frozen=True, slots=True)
class _Running:
    """A boot that was asked for: when it ends, what it takes, and of which build it is."""

    ends: float
    hours: float
    build: str
    asked: Asked


def play(
    subjects: Sequence[Subject],
    labs: Sequence[SimulatedLab],
    gone: Mapping[str, float] | None = None,
    *,
    faster_after: int = 0,
) -> Played:
    """Measure in ``labs``, one for each subject, what is decided; machines work side by side.

    A machine of ``gone`` is not there from so many hours on: its boot under way is lost. With
    ``faster_after`` boots a machine is asked for two at a time, with twice as many for three, and
    so on: it makes them one after another, and no decision comes between them.
    """
    bisect = _Playing(list(subjects), labs, dict(gone or {}), faster_after)
    while (outcome := bisect.take_step()) is None:
        pass
    evidence = tuple(one.evidence for one in bisect.subjects)
    return Played(evidence, outcome, bisect.clock, tuple(bisect.ended))


@dataclass(slots=True)
class _Playing:
    """A bisect under way. ``just``: the machine whose boot ended last."""

    subjects: list[Subject]
    labs: Sequence[SimulatedLab]
    gone: dict[str, float]
    faster_after: int
    clock: float = 0.0
    just: str | None = None
    running: list[_Running] = field(default_factory=list)
    ended: list[tuple[int, float]] = field(default_factory=list)

    def take_step(self) -> Outcome | None:
        """Decide, unless a machine is to go on with what it was asked for, and end one boot."""
        present = {one.machine for one in self.subjects if self._is_there(one.machine)}
        self.running = [one for one in self.running if self._machine(one.asked) in present]
        if self.just not in {self._machine(one.asked) for one in self.running}:
            outcome = self._decide(present)
            if outcome is not None:
                return outcome
        if not self.running:
            return Outcome(Kind.INCONCLUSIVE, (), 0.0, "It waits for a machine that is gone.")
        first = min(self.running, key=lambda one: (one.ends, one.asked.subject))
        self.running.remove(first)
        self.clock, self.just = first.ends, self._machine(first.asked)
        if self._is_there(self.just):
            self._measure(first)
            self.ended.append((first.asked.subject, self.clock))
        return None

    def _machine(self, asked: Asked) -> str:
        return self.subjects[asked.subject].machine

    def _is_there(self, machine: str) -> bool:
        return self.clock < self.gone.get(machine, inf)

    def _decide(self, present: set[str]) -> Outcome | None:
        effort = sum(one.evidence.effort for one in self.subjects)
        at_once = 1 + (effort // self.faster_after if self.faster_after else 0)
        busy = {self._machine(one.asked) for one in self.running}
        free = {machine: 0 if machine in busy else at_once for machine in sorted(present)}
        found = decide(self.subjects, [one.asked for one in self.running], free)
        begins = dict.fromkeys(present, self.clock)
        for asked in found.actions:
            machine = self._machine(asked)
            if machine in present:
                own = self.subjects[asked.subject]
                plan = with_builds(self.subjects, asked.subject)
                hours = hours_of(plan, own.evidence, asked.measure)
                begins[machine] += hours
                build = build_key(asked.measure, own.evidence)
                self.running.append(_Running(begins[machine], hours, build, asked))
        return found.outcome

    def _measure(self, one: _Running) -> None:
        """Add the boot that ended, which all labs of its machine have behind them."""
        at, measure = one.asked.subject, one.asked.measure
        own, lab = self.subjects[at], self.labs[at]
        turn = lab.booted
        boot = lab.boot(measure, one.build, own.plan.runs)
        for other, its in zip(self.subjects, self.labs, strict=True):
            if other.machine == own.machine:
                its.booted = turn + 1
        if len(self.subjects) > 1:
            boot = replace(boot, turn=turn)
        known = own.evidence
        evidence = replace(
            known, boots=(*known.boots, boot), pinned=(), hours=known.hours + one.hours
        )
        self.subjects[at] = replace(own, evidence=evidence)
