"""What is known: chances of each candidate, of no step, of two, and of what the lab does.

The chances of the candidates are those of all subjects (`joint`); step, levels, noise and lab are
the figures of one of them.
"""

from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.hypotheses import (
    EFFECT_SPREAD,
    SPREAD_BESIDE,
    Joint,
    lab_step_spread,
)
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.remainder import NONE, Remainder
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import STATES, STEP_WEIGHT, Timeline

Floats = NDArray[np.float64]
TWO_STEPS_PRIOR = 0.05
"""Chance that the interval holds two steps, given that there is any."""
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Lab:
    """Chances: ``moves`` (a trend or a walk), ``steps`` (one step).

    ``step_after``: boots of the bisect before its likeliest step (0: before the first one).
    ``shift``: of each boot of the bisect by the likeliest explanation, log percent. ``scatter``:
    the standard deviation of boots over what history says.
    """

    moves: float
    steps: float
    step_after: int
    shift: tuple[float, ...]
    scatter: float

    @property
    def unsteady(self) -> float:
        """The chance that it did not stay as it was."""
        return self.moves + self.steps

    @property
    def moved(self) -> float:
        """Where the lab stands at the last boot, against where it stood at the first."""
        return self.shift[-1] - self.shift[0] if self.shift else 0.0

    @property
    def step(self) -> float:
        """The lab's own step at its likeliest place, by the likeliest explanation."""
        if not self.shift:
            return 0.0
        before = self.shift[self.step_after - 1] if self.step_after else 0.0
        return self.shift[min(self.step_after, len(self.shift) - 1)] - before


UNKNOWN = Lab(1 - STATES[0].weight - STEP_WEIGHT, STEP_WEIGHT, 0, (), 1.0)
"""Before any boot."""


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Chances: ``candidates`` (N,) + ``none`` = 1, as if there were at most one step.

    ``equal`` (N,): those of the candidates if all had begun with the same weight. ``two``: the
    chance of two steps, against all else. ``two_gaps``: their most probable places, each the
    candidates (first, last) between two measured builds; None where fewer than two gaps are open.
    ``effect`` with its standard deviation, and ``good_level``: log percent. ``boot_sd``,
    ``build_sd``: the noise as believed now. ``gap_of`` (N,): candidates with the same number are
    told apart by no boot so far. ``rest``: what the likeliest candidate leaves to a second one.
    """

    candidates: Floats
    equal: Floats
    none: float
    two: float
    effect: float
    effect_sd: float
    good_level: float
    boot_sd: float
    build_sd: float
    two_gaps: tuple[tuple[int, int], tuple[int, int]] | None
    gap_of: NDArray[np.intp]
    lab: Lab
    rest: Remainder

    @property
    def top(self) -> int:
        """The most probable candidate, 1 … N; the earlier one of equals."""
        return int(np.argmax(self.candidates)) + 1

    @property
    def entropy(self) -> float:
        """Bits that are still missing to know which candidate, or none, it is."""
        chances = np.append(self.candidates, self.none)
        chances = chances[chances > 0] / chances.sum()
        return float(-(chances * np.log2(chances)).sum())


def chance_of_two(doubt: float, log_two: float, log_one: float) -> float:
    """The chance of two steps, from the log evidence of two and that of everything else."""
    if log_two == -inf:
        return 0.0
    share = (1 - doubt) * TWO_STEPS_PRIOR
    odds = log_two + log(share / (1 - share)) - log_one
    return 1 / (1 + exp(-odds)) if odds > -700 else 0.0


def ranges(
    gaps: tuple[int, int] | None, gap_of: NDArray[np.intp]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The candidates (first, last) in each of two gaps."""
    if gaps is None:
        return None
    first, second = (np.flatnonzero(gap_of == gap) + 1 for gap in gaps)
    return (int(first[0]), int(first[-1])), (int(second[0]), int(second[-1]))


def figures_before(plan: Plan) -> dict[str, Any]:
    """What is believed of a subject before any of its boots: what its plan expects."""
    return {
        "effect": plan.effect,
        "effect_sd": EFFECT_SPREAD * abs(plan.effect),
        "good_level": 0.0,
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs)),
        "build_sd": plan.noise.build,
        "lab": UNKNOWN,
        "rest": NONE,
    }


def figures(
    plan: Plan, data: Tally, line: Timeline, joint: Joint, chance: Floats
) -> dict[str, Any]:
    """Means over all hypotheses, ``chance`` (S, M + 2, X) of each."""
    steps = chance[:, :-1] / max(float(chance[:, :-1].sum()), TINY)
    mean, variance = joint.effect.mean[:, :-1], joint.effect.variance[:, :-1]
    effect = float((steps * mean).sum())
    node = chance.sum(axis=(1, 2))
    within = float(node @ data.nodes.within)
    level, lab = _likeliest(plan, data, line, joint, chance)
    return {
        "effect": effect,
        "effect_sd": sqrt(float((steps * (variance + (mean - effect) ** 2)).sum())),
        "good_level": line.origin + level,
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs) * within),
        "build_sd": sqrt(float(node @ data.nodes.build)),
        "lab": lab,
    }


def _likeliest(
    plan: Plan, data: Tally, line: Timeline, joint: Joint, chance: Floats
) -> tuple[float, Lab]:
    """The level before the step from the line's origin, and the lab.

    ``chance`` (S, M + 2, X) is that of each hypothesis with at most one step.
    """
    states, positions = np.split(chance.sum(axis=(0, 1)), [len(line.states)])
    steps = line.lab_steps[line.own]
    at = int(positions.argmax()) if len(positions) else 0
    fresh = line.fresh & line.own
    begins = int(fresh.sum() - steps[:, at].sum()) if len(positions) else 0
    level, shift = _shift(plan, data, line, joint, chance)
    node = chance.sum(axis=(1, 2))
    lab = Lab(
        moves=float(states[1:].sum()),
        steps=float(positions.sum()),
        step_after=begins,
        shift=tuple(shift[fresh].tolist()),
        scatter=sqrt(float(node @ data.nodes.within)),
    )
    return level, lab


def _shift(
    plan: Plan, data: Tally, line: Timeline, joint: Joint, chance: Floats
) -> tuple[float, Floats]:
    """The level, and the expected shift of all T rows, by the one likeliest hypothesis."""
    node, gap, state = (int(at) for at in np.unravel_index(int(chance.argmax()), chance.shape))
    scale = float(data.nodes.within[node])
    builds = data.nodes.build[node : node + 1] / scale
    states = line.states
    own = states[state] if state < len(states) else states[0]
    boots = scale * line.covariances(plan, builds, [own])[0, 0]
    if state < len(states):
        variance = scale * plan.noise.boot_variance(plan.runs)
        lab = variance * line.kernel(own)
    else:
        column = line.lab_steps[:, state - len(states)]
        lab = lab_step_spread(plan) ** 2 * np.outer(column, column)
        boots = boots + lab
    values = line.value
    if 0 < gap < len(line.slots):
        values = values - joint.effect.mean[node, gap, state] * line.after()[:, gap - 1]
        if line.can_step.any():
            boots = boots + _stepping_beside(plan, line, gap)
    levels = line.levels()
    solved = np.linalg.solve(boots, np.column_stack([levels, values]))
    known = np.linalg.solve(levels.T @ solved[:, :-1], levels.T @ solved[:, -1])
    return float(known[0]), lab @ (solved[:, -1] - solved[:, :-1] @ known)


def _stepping_beside(plan: Plan, line: Timeline, gap: int) -> Floats:
    """Covariance of what the culprit may have done to the companions."""
    column = line.after(beside=True)[:, gap - 1]
    return np.asarray((SPREAD_BESIDE * plan.effect) ** 2 * np.outer(column, column))
