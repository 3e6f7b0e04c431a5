"""What the lab seems to have done: its state, and its shift at each boot."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.hypotheses import SPREAD_BESIDE, Joint, lab_step_spread
from webapp.stats.bisection.lab_states import STATES, STEP_WEIGHT
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import Timeline

Floats = NDArray[np.float64]


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


def likeliest(
    plan: Plan, data: Tally, line: Timeline, joint: Joint, chance: Floats
) -> tuple[float, Lab]:
    """The level before the step from the line's origin, and the lab.

    ``chance`` (S, M + 2, X) is that of each hypothesis with at most one step.
    """
    states, positions = np.split(chance.sum(axis=(0, 1)), [len(line.states)])
    steps = line.lab_steps()[line.own]
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
    boots = scale * line.covariances(plan, builds)[0, state if state < len(states) else 0]
    if state < len(states):
        variance = scale * plan.noise.boot_variance(plan.runs)
        lab = variance * line.kernel(states[state])
    else:
        column = line.lab_steps()[:, state - len(states)]
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
