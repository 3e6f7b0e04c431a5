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
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from webapp.stats.bisection import hypotheses
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import STATES, STEP_WEIGHT, Timeline

Indices = NDArray[np.intp]

SHARE = 0.5
"""Of the alerted step: a second change of this size is looked for before one commit is named."""

ERROR = 0.12
"""α and β of that test. It has begun long before a commit leads, so that errors are rarer."""

BOUND = log((1 - ERROR) / ERROR)
"""The log likelihood ratio that decides it, either way."""

NOT_RULED_OUT = 0.95
"""What is said of the size of another change holds with this probability, if there is one."""

Floats = NDArray[np.float64]
TWO_STEPS_PRIOR = 0.05
"""Chance that the interval holds two steps, given that there is any."""
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Of another change, a normal mixture: ``mean`` and ``sd`` (log percent), ``weight`` (K,)."""

    mean: Floats
    sd: Floats
    weight: Floats

    def largest(self) -> float:
        """The size, log percent of either sign, below which it is with `NOT_RULED_OUT`."""
        low, high = 0.0, float((np.abs(self.mean) + 5 * self.sd).max(initial=0.0))
        for _ in range(40):
            size = (low + high) / 2
            below = ndtr((size - self.mean) / self.sd) - ndtr((-size - self.mean) / self.sd)
            low, high = (low, size) if self.weight @ below >= NOT_RULED_OUT else (size, high)
        return high


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


NONE = Remainder()


@dataclass(frozen=True, slots=True, eq=False)
class Steady:
    """What the boots of one series say where its machine stayed as it was.

    ``products`` of the columns of its cuts; ``gap_of`` (N,): the gap between measured slots of each
    candidate; ``log_one``: log evidence of all hypotheses with one step at most.
    """

    data: Tally
    products: hypotheses.Products
    gap_of: Indices
    log_one: float


def remainder_of(plan: Plan, seen: Steady, likeliest: int) -> Remainder:
    """What a step at the candidate ``likeliest`` leaves."""
    top, last = int(seen.gap_of[likeliest - 1]), seen.products.square.shape[-1] + 1
    gap_prior = np.bincount(seen.gap_of, seen.data.prior, last + 1)
    others = np.array([gap for gap in range(1, last) if gap != top and gap_prior[gap]], np.intp)
    if not (len(others) and 0 < top < last and gap_prior[top]):
        return NONE
    pairs = hypotheses.Pairs.of(seen.products, others - 1, np.full(len(others), top - 1))
    prior = np.log(gap_prior[others] / gap_prior[others].sum())
    by_place = np.logaddexp(*(_evidence(plan, seen, pairs, sign) for sign in (-1, 1)))
    by_place = by_place - log(2) + prior
    known = log(STATES[0].weight * (1 - plan.doubt) * float(gap_prior[top]))
    ratio = float(np.logaddexp.reduce(by_place)) + known - seen.log_one
    inside = np.flatnonzero(seen.gap_of == others[int(np.argmax(by_place))]) + 1
    between = int(inside[0]), int(inside[-1])
    return Remainder(ratio, between, lambda: _sizes(plan, seen, pairs, prior).largest())


def _evidence(plan: Plan, seen: Steady, pairs: hypotheses.Pairs, sign: int) -> Floats:
    """Log evidence (Q,) of a second step of one sign at the first columns of ``pairs``, with the
    first step at the others; both together are the alerted step, as in `hypotheses.pair_evidence`.
    """
    size = sign * SHARE * abs(plan.effect)
    spread = (hypotheses.EFFECT_SPREAD * size) ** 2
    found = []
    for share, chance in hypotheses.SPREADS:
        total = (share * plan.effect) ** 2
        prior = hypotheses.PairPrior((size, plan.effect - size), spread, -spread, total + spread)
        found.append((chance, hypotheses.two_columns(pairs, prior)))
    log_z = hypotheses.mixed(found).log_z + np.log(seen.data.nodes.weight)[:, None]
    return np.asarray(np.logaddexp.reduce(log_z, axis=0))


def _sizes(plan: Plan, seen: Steady, pairs: hypotheses.Pairs, chance: Floats) -> Sizes:
    """Of a change at each of the first columns, of which nothing is assumed, nor of the step."""
    free = (hypotheses.WIDE_SPREAD * plan.effect) ** 2
    prior = hypotheses.PairPrior((0.0, plan.effect), free, 0.0, free)
    fit = hypotheses.two_columns(pairs, prior)
    log_z = fit.log_z + np.log(seen.data.nodes.weight)[:, None] + chance
    weight = np.exp(log_z - log_z.max())
    return Sizes(fit.mean.ravel(), np.sqrt(fit.variance).ravel(), (weight / weight.sum()).ravel())


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
        "effect_sd": hypotheses.EFFECT_SPREAD * abs(plan.effect),
        "good_level": 0.0,
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs)),
        "build_sd": plan.noise.build,
        "lab": UNKNOWN,
        "rest": NONE,
    }


def figures(
    plan: Plan, data: Tally, line: Timeline, joint: hypotheses.Joint, chance: Floats
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
    plan: Plan, data: Tally, line: Timeline, joint: hypotheses.Joint, chance: Floats
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
    plan: Plan, data: Tally, line: Timeline, joint: hypotheses.Joint, chance: Floats
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
        lab = hypotheses.lab_step_spread(plan) ** 2 * np.outer(column, column)
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
    return np.asarray((hypotheses.SPREAD_BESIDE * plan.effect) ** 2 * np.outer(column, column))
