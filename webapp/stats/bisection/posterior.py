"""What is known: chances of each candidate, of no step, of two, and of what the lab does; and what
the named commit leaves unexplained: a second change of either sign in the same range.

The chances of the candidates are those of all subjects (`joint`); step, levels, noise and lab are
the figures of one of them.

Once a commit leads, a search boots little else, and a smaller step elsewhere stays among the noise
of a few boots. The chance of two steps leaves the size of the second open, so that it hardly falls:
a tiny one can never be excluded. The remainder has a size: a sequential probability ratio test
(Wald 1945) of a second step of `SHARE` of the alerted one, of either sign, in any other gap between
measured revisions, against everything with one step at most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, log, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr

from webapp.stats.arrays import Floats, Indices
from webapp.stats.bisection import hypotheses
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.timeline import STATES, STEP_WEIGHT

SHARE = 0.5
"""Of the alerted step: a second change of this size is looked for before one commit is named."""

ERROR = 0.12
"""α and β of that test. It has begun long before a commit leads, so that errors are rarer."""

BOUND = log((1 - ERROR) / ERROR)
"""The log likelihood ratio that decides it, either way."""

NOT_RULED_OUT = 0.95
"""The interval of the size of another change holds with this probability, if there is one."""

TWO_STEPS_PRIOR = 0.05
"""Chance that the interval holds two steps, given that there is any."""


@dataclass(frozen=True, slots=True, eq=False)
class Remainder:
    """``ratio``: log likelihood ratio of a second step; −∞ where no other gap is open.

    ``between``: the candidates (first, last) of its likeliest gap. ``largest``: how large any other
    change can still be, log percent of either sign (taken at an end alone).
    """

    ratio: float = -inf
    between: tuple[int, int] | None = None
    largest: Callable[[], float] = float

    @property
    def is_open(self) -> bool:
        """Neither a second step nor its absence is decided."""
        return -BOUND < self.ratio < BOUND


def remainder_of(joint: hypotheses.Joint, likeliest: int) -> Remainder:
    """What a step at the candidate ``likeliest`` leaves in one series on a steady machine.

    Both steps together are the alerted one, as in `Joint.log_pairs`.
    """
    plan, data, last = joint.plan, joint.data, len(joint.line.slots)
    gap_of = np.searchsorted(joint.line.slots, np.arange(1, plan.bad + 1))
    top, gap_prior = int(gap_of[likeliest - 1]), np.bincount(gap_of, data.prior, last + 1)
    others = np.array([gap for gap in range(1, last) if gap != top and gap_prior[gap]], np.intp)
    if not (len(others) and 0 < top < last and gap_prior[top]):
        return Remainder()
    columns = joint.steady.of(others - 1, np.full(len(others), top - 1))
    by_sign = []
    for size in (-SHARE * abs(plan.effect), SHARE * abs(plan.effect)):
        own, priors = np.diag([(hypotheses.EFFECT_SPREAD * size) ** -2, 0.0]), []
        for share, chance in hypotheses.SPREADS:
            total = np.ones((2, 2)) / (share * plan.effect) ** 2
            priors.append((chance, (size, plan.effect - size), own + total))
        by_sign.append(joint.log_sizes(columns, priors))
    prior = np.log(gap_prior[others] / gap_prior[others].sum())
    by_place = np.logaddexp(*by_sign) - log(2) + prior
    with np.errstate(divide="ignore"):
        log_prior = np.log(np.append((1 - plan.doubt) * gap_prior, plan.doubt))
    one = float(hypotheses.log_sum((hypotheses.log_sum(joint.log) + log_prior[:, None]).ravel()))
    known = log(STATES[0].weight * (1 - plan.doubt) * float(gap_prior[top]))
    inside = np.flatnonzero(gap_of == others[int(np.argmax(by_place))]) + 1
    return Remainder(
        float(np.logaddexp.reduce(by_place)) + known - one,
        (int(inside[0]), int(inside[-1])),
        partial(_largest_other, joint, columns, prior),
    )


def _largest_other(joint: hypotheses.Joint, columns: hypotheses.Columns, prior: Floats) -> float:
    """Of a change at each of the first columns, of which nothing is assumed, nor of the step."""
    effect = joint.plan.effect
    fit = columns.fit((0.0, effect), np.eye(2) / (hypotheses.WIDE_SPREAD * effect) ** 2)
    log_z = fit.log_z + np.log(joint.data.nodes.weight)[:, None] + prior
    weight = np.exp(log_z - log_z.max())
    return largest_size(fit.mean, np.sqrt(fit.variance), weight / weight.sum())


def largest_size(mean: Floats, sd: Floats, weight: Floats) -> float:
    """The size, of either sign, below which a mixture of normal densities has `NOT_RULED_OUT`."""
    low, high = 0.0, float((np.abs(mean) + 5 * sd).max(initial=0.0))
    for _ in range(40):
        size = (low + high) / 2
        below = weight * (ndtr((size - mean) / sd) - ndtr((-size - mean) / sd))
        low, high = (low, size) if below.sum() >= NOT_RULED_OUT else (size, high)
    return high


@dataclass(frozen=True, slots=True)
class Lab:
    """Chances: ``moves`` (a trend or a walk), ``steps`` (one step).

    ``step_after``: boots of the bisect before its likeliest step (0: before the first one).
    ``shift``: of each boot of the bisect by the likeliest explanation, log percent. ``scatter``:
    the standard deviation of boots over that of the history.
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


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Chances: ``candidates`` (N,) + ``none`` = 1, as if there were at most one step.

    ``equal`` (N,): those of the candidates if all had begun with the same weight. ``two``: the
    chance of two steps, against all else. ``two_gaps``: their most probable places, each the
    candidates (first, last) between two measured builds; None where fewer than two gaps are open.
    ``effect`` with its standard deviation, and ``good_level``: log percent. ``boot_sd``,
    ``build_sd``: the noise as believed now. ``gap_of`` (N,): candidates with the same number are
    separated by no boot so far. ``rest``: what the likeliest candidate leaves to a second one.
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
    gap_of: Indices
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


def figures_before(plan: Plan) -> dict[str, Any]:
    """Fields of a `Posterior` before any boot of a subject: what its plan expects."""
    return {
        "effect": plan.effect,
        "effect_sd": hypotheses.EFFECT_SPREAD * abs(plan.effect),
        "good_level": 0.0,
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs)),
        "build_sd": plan.noise.build,
        "lab": Lab(1 - STATES[0].weight - STEP_WEIGHT, STEP_WEIGHT, 0, (), 1.0),
        "rest": Remainder(),
    }


def figures(joint: hypotheses.Joint, chance: Floats) -> dict[str, Any]:
    """The same as means over all hypotheses, ``chance`` (S, M + 2, X) of each; without ``rest``."""
    plan, line = joint.plan, joint.line
    steps = chance[:, :-1] / max(float(chance[:, :-1].sum()), hypotheses.TINY)
    mean, variance = joint.mean[:, :-1], joint.variance[:, :-1]
    effect = float((steps * mean).sum())
    node = chance.sum(axis=(1, 2))
    within = float(node @ joint.data.nodes.within)
    level, shift = _level_and_shift(joint, chance)
    states, places = np.split(chance.sum(axis=(0, 1)), [len(line.states)])
    fresh, begins = line.fresh & line.own, 0
    if len(places):
        begins = int(fresh.sum() - line.lab_steps[line.own, int(places.argmax())].sum())
    return {
        "effect": effect,
        "effect_sd": sqrt(float((steps * (variance + (mean - effect) ** 2)).sum())),
        "good_level": line.origin + level,
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs) * within),
        "build_sd": sqrt(float(node @ joint.data.nodes.build)),
        "lab": Lab(
            moves=float(states[1:].sum()),
            steps=float(places.sum()),
            step_after=begins,
            shift=tuple(shift[fresh].tolist()),
            scatter=sqrt(within),
        ),
    }


def _level_and_shift(joint: hypotheses.Joint, chance: Floats) -> tuple[float, Floats]:
    """The level before the step from the line's origin, and the expected shift of all T rows, by
    the one likeliest hypothesis.
    """
    plan, line, nodes = joint.plan, joint.line, joint.data.nodes
    node, gap, state = (int(at) for at in np.unravel_index(int(chance.argmax()), chance.shape))
    scale = float(nodes.within[node])
    own = line.states[state if state < len(line.states) else 0]
    boots = scale * line.covariances(plan, nodes.build[node : node + 1] / scale, [own])[0, 0]
    if state < len(line.states):
        lab = scale * plan.noise.boot_variance(plan.runs) * line.kernel(own)
    else:
        column = line.lab_steps[:, state - len(line.states)]
        lab = hypotheses.lab_step_spread(plan) ** 2 * np.outer(column, column)
        boots = boots + lab
    values = line.value
    if 0 < gap < len(line.slots):
        values = values - joint.mean[node, gap, state] * line.after()[:, gap - 1]
        beside = line.after(beside=True)[:, gap - 1]
        boots = boots + (hypotheses.SPREAD_BESIDE * plan.effect) ** 2 * np.outer(beside, beside)
    levels = line.levels()
    solved = np.linalg.solve(boots, np.column_stack([levels, values]))
    known = np.linalg.solve(levels.T @ solved[:, :-1], levels.T @ solved[:, -1])
    return float(known[0]), lab @ (solved[:, -1] - solved[:, :-1] @ known)
