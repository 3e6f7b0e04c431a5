"""The hypotheses of a bisect and their evidence: who made the step, and what the lab did meanwhile.

* no step, or one at a cut between measured revisions, each in every state of the lab (steady,
  trend, walk) and with one step of the lab at any boot;
* two steps in a steady lab. Their sum has the prior of one step, N(d, s²), so that a step larger
  than alerted does not look like two; their difference is N(0, h²).
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.lab_states import STATES, STEP_WEIGHT
from webapp.stats.bisection.marginal import (
    Fit,
    PairPrior,
    Products,
    one_column,
    products,
    two_columns,
)
from webapp.stats.bisection.noise import WITHIN_FACTORS, build_ratios
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import Timeline

Floats = NDArray[np.float64]

EFFECT_SPREAD = 0.25
"""Prior standard deviation of the step as a share of the alerted effect. Alerts pick large
estimates (the winner's curse), so the true step is often smaller; but a step far below the
alerted one is not what the search is for, and would hide among the noise of any candidate."""

WIDE_SPREAD, WIDE_CHANCE = 4.0, 0.02
"""The same for an alert whose size says nothing, and the chance of that. Without it a step of
four times the alerted size looks like two steps, and one of half of it is placed badly."""

SPREADS = ((EFFECT_SPREAD, 1 - WIDE_CHANCE), (WIDE_SPREAD, WIDE_CHANCE))

DIFFERENCE_SPREAD = 1.0
"""h: prior standard deviation of the difference of two steps as a share of the alerted effect."""

LAB_STEP_BOOTS = 3.0
"""Standard deviation of the lab's own step: the alerted one's size, or so many of a boot's."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Log evidence with the priors of noise and lab: ``log`` (S, M + 2, X).

    S nodes of the noise; the gaps 0 … M between the M measured slots, and no step; X states of the
    lab: those of `STATES`, then its step at each of U positions. ``effect``, of the same shape, is
    the size of the step. ``steady``: products of the steady lab, with the columns of ``after``.
    """

    log: Floats
    effect: Fit
    steady: Products


def weigh(plan: Plan, data: Tally, line: Timeline) -> Joint:
    """All hypotheses with at most one step."""
    covariances = line.covariances(plan, build_ratios(data.nodes))
    factors = np.array(WITHIN_FACTORS)
    after, steps = line.after(), line.lab_steps()
    moving = covariances[:, 1:].reshape(-1, *covariances.shape[2:])
    steady = products(covariances[:, 0], factors, line.value, np.hstack([after, steps]))
    parts = [_in_states(plan, steady, after.shape[1], 1)]
    parts += [
        _in_states(
            plan, products(moving, factors, line.value, after), after.shape[1], len(STATES) - 1
        )
    ]
    parts += [_with_lab_steps(plan, steady, after.shape[1], steps.shape[1])]
    log, mean, variance = (np.concatenate(each, axis=2) for each in zip(*parts, strict=True))
    log = log + np.log(data.nodes.weight)[:, None, None] + _lab_prior(steps.shape[1])
    return Joint(log, Fit(log, mean, variance), steady)


def _lab_prior(positions: int) -> Floats:
    known = [state.weight for state in STATES]
    return np.asarray(np.log(np.array(known + [STEP_WEIGHT / max(positions, 1)] * positions)))


def _in_states(plan: Plan, made: Products, count: int, states: int) -> tuple[Floats, ...]:
    """Of the first ``count`` columns of (S · L) products: (S, M + 2, L) each."""
    fit = mixed(
        [
            (chance, one_column(made.of(slice(count)), plan.effect, share * abs(plan.effect)))
            for share, chance in SPREADS
        ]
    )
    framed = _framed(plan, made.base, fit)
    return tuple(
        np.moveaxis(each.reshape(len(each) // states, states, each.shape[1]), 1, 2)
        for each in framed
    )


def _with_lab_steps(plan: Plan, made: Products, count: int, positions: int) -> tuple[Floats, ...]:
    """Each gap with each place of the lab's step: (S, M + 2, U) each."""
    size = lab_step_spread(plan)
    lab = one_column(made.of(slice(count, None)), 0.0, size)
    first, second = (each.ravel() for each in np.indices((count, positions)))
    found = []
    for share, chance in SPREADS:
        prior = PairPrior((plan.effect, 0.0), (share * plan.effect) ** 2, 0.0, size**2)
        found.append((chance, two_columns(made, first, count + second, prior)))
    fit = mixed(found)
    shape = (len(lab.log_z), count, positions)
    inner = Fit(*(each.reshape(shape) for each in (fit.log_z, fit.mean, fit.variance)))
    return _framed(plan, lab.log_z, inner)


def lab_step_spread(plan: Plan) -> float:
    """Prior standard deviation of the lab's own step, log percent."""
    return max(abs(plan.effect), LAB_STEP_BOOTS * sqrt(plan.noise.boot_variance(plan.runs)))


def _framed(plan: Plan, none: Floats, fit: Fit) -> tuple[Floats, ...]:
    """The gaps before and behind everything measured look like no step: axis 1 gets M + 2."""
    first = np.expand_dims(none, 1)
    sized = [
        np.full_like(first, size) for size in (plan.effect, (EFFECT_SPREAD * plan.effect) ** 2)
    ]
    outside = zip([first, *sized], (fit.log_z, fit.mean, fit.variance), strict=True)
    return tuple(np.concatenate([end, inner, end, end], axis=1) for end, inner in outside)


def mixed(fits: list[tuple[float, Fit]]) -> Fit:
    """A mixture of priors with these chances: evidence, mean and variance."""
    logs = np.stack([fit.log_z + np.log(chance) for chance, fit in fits])
    total = np.logaddexp.reduce(logs, axis=0)
    share = np.exp(logs - total)
    means = np.stack([fit.mean for _, fit in fits])
    mean = (share * means).sum(axis=0)
    variances = np.stack([np.broadcast_to(fit.variance, total.shape) for _, fit in fits])
    return Fit(total, mean, (share * (variances + (means - mean) ** 2)).sum(axis=0))


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """``log_z``: log evidence with the gaps' priors; −∞ without two gaps. ``gaps``: the likeliest
    pair.
    """

    log_z: float
    gaps: tuple[int, int] | None


def two_steps(plan: Plan, data: Tally, steady: Products, gap_prior: Floats) -> TwoSteps:
    """Two steps in different gaps of a steady lab (two inside one gap look like one)."""
    inner = np.flatnonzero(gap_prior[1:-1])
    if len(inner) < 2:
        return TwoSteps(-np.inf, None)
    i, j = np.triu_indices(len(inner), 1)
    first, second = inner[i], inner[j]
    prior = np.log(2 * STATES[0].weight * gap_prior[first + 1] * gap_prior[second + 1])
    found = []
    for share, chance in SPREADS:
        total, apart = (share * plan.effect) ** 2, (DIFFERENCE_SPREAD * plan.effect) ** 2
        own, shared = (total + apart) / 4, (total - apart) / 4
        half = (plan.effect / 2, plan.effect / 2)
        found.append(
            (chance, two_columns(steady, first, second, PairPrior(half, own, shared, own)))
        )
    log_z = mixed(found).log_z + np.log(data.nodes.weight)[:, None] + prior
    by_pair = np.logaddexp.reduce(log_z, axis=0)
    best = int(np.argmax(by_pair))
    return TwoSteps(
        float(np.logaddexp.reduce(by_pair)), (int(first[best]) + 1, int(second[best]) + 1)
    )
