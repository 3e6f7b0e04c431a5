"""A simulated lab, and a bisect played in it to the end: for forecasts and for the tables.

Values are in log percent. A lab knows the truth: the level of each revision. It draws the effect
of each build once, that of each boot and run anew, everything from one generator.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.case import Measure
from webapp.stats.bisection.decision import decide
from webapp.stats.bisection.ending import Outcome
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.plan import Boot, Evidence, Plan

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


def step_levels(commits: int, culprit: int | None, step: float) -> Floats:
    """Levels of the revisions 0 … N with a step at the culprit (None: without any)."""
    levels = np.zeros(commits + 1)
    if culprit is not None:
        levels[culprit:] = step
    return levels


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


def _measured(
    plan: Plan, evidence: Evidence, lab: SimulatedLab, actions: tuple[Measure, ...]
) -> list[Boot]:
    return [lab.boot(each, build_key(each, evidence), plan.runs) for each in actions]


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
