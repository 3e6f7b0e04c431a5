"""The hypotheses of a bisect and their evidence: who made the step, and what the lab did meanwhile.

* no step, or one at a cut between measured revisions, each in every state of the lab (steady,
  trend, walk) and with one step of the lab at any boot;
* two steps in a steady lab. Their sum has the prior of one step, N(d, s²), so that a step larger
  than alerted does not look like two; their difference is N(0, h²).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from webapp.stats.arrays import Floats, Indices
from webapp.stats.bisection.noise import WITHIN_FACTORS, build_ratios
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import FOLLOWS, STEP_WEIGHT, Timeline

TINY = float(np.finfo(np.float64).tiny)
EFFECT_SPREAD = 0.25
"""Prior standard deviation of the step as a share of the alerted effect. Alerts pick large
estimates (the winner's curse), so the true step is often smaller; but a step far below the
alerted one is not what the search is for, and would hide among the noise of any candidate."""
WIDE_SPREAD, WIDE_CHANCE = 4.0, 0.02
"""The same for an alert whose size is no evidence, and the chance of that. Without it a step of
four times the alerted size looks like two steps, and one of half of it is placed badly."""
SPREADS = ((EFFECT_SPREAD, 1 - WIDE_CHANCE), (WIDE_SPREAD, WIDE_CHANCE))
DIFFERENCE_SPREAD = 1.5
"""h: prior standard deviation of the difference of two steps as a share of the alerted effect: a
loss of 3 % with a gain of 1 % behind it differ by twice the 2 % that were alerted."""
STEPS_BESIDE, SPREAD_BESIDE = 0.5, 1.0
"""Chance that the culprit moves a companion that can step as well, and the standard deviation of
that as a share of the alerted step, of either sign. Without it a companion with the culprit's step
would look like a machine that changed, and hide the culprit."""
LAB_STEP_BOOTS = 3.0
"""Standard deviation of the lab's own step: the alerted one's size, or so many of a boot's."""


class Fit(NamedTuple):
    """``log_z`` of each hypothesis, with ``mean`` and ``variance`` of the size of its (first)
    column.
    """

    log_z: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True, slots=True)
class Columns:
    """⟨·, ·⟩ of Q sets of k columns, (C, Q) each: ``square[a][b]`` (b ≤ a) of two of a set,
    ``moment[a]`` of each with the values. ``base`` (C,) as of `Products`.
    """

    base: Floats
    square: list[list[Floats]]
    moment: list[Floats]

    def fit(self, means: Sequence[float], precision: Floats) -> Fit:
        """With sizes N(``means`` (k,), K), K⁻¹ the ``precision`` (k, k): (C, Q).

        K⁻¹ + G is eliminated column by column from the last one: what is left of the first is the
        precision of its size.
        """
        count, moment = len(means), [each.copy() for each in self.moment]
        square = [[self.square[a][b] + precision[a, b] for b in range(a + 1)] for a in range(count)]
        for a, b in [(a, b) for a in range(count) for b in range(count) if means[b]]:
            moment[a] -= self.square[max(a, b)][min(a, b)] * means[b]
        gain: Floats = np.zeros(moment[0].shape)
        for mean, own, left in zip(means, self.moment, moment, strict=True):
            if mean:
                gain += mean * (own + left)
        det: Floats = np.ones(1) / np.linalg.det(precision)
        for last in reversed(range(count)):
            pivot = np.maximum(square[last][last], TINY, out=square[last][last])
            size, det = moment[last] / pivot, det * pivot
            gain += moment[last] * size
            for a in range(last):
                moment[a] -= square[last][a] * size
                for b in range(a + 1):
                    square[a][b] -= square[last][a] * square[last][b] / pivot
        log_z = self.base[:, None] + 0.5 * (gain - np.log(det))
        return Fit(log_z, means[0] + size, 1 / pivot)


@dataclass(frozen=True, slots=True)
class Products:
    """⟨·, ·⟩ of the values and of P columns: ``base`` (C,) is log Z without any column.

    ``square`` (C, P, P), ``moment`` (C, P).
    """

    base: Floats
    square: Floats
    moment: Floats

    def of(self, *numbers: Indices) -> Columns:
        """Of Q sets of columns: the numbers (Q,) of the first, of the second, …"""
        lines, count = self.moment.shape
        flat = self.square.reshape(lines, count * count)
        square = [
            [flat.take(a * count + b, axis=1) for b in numbers[: at + 1]]
            for at, a in enumerate(numbers)
        ]
        return Columns(self.base, square, [self.moment.take(each, axis=1) for each in numbers])


@dataclass(frozen=True, slots=True)
class Joint:
    """All hypotheses with at most one step of one series: log evidence with the priors of noise and
    lab, ``log`` (S, M + 2, X).

    S nodes of the noise; the gaps 0 … M between the M measured slots, and no step; X states of the
    lab: those of the line, then its step at each of U positions, of which ``prior`` (X,) is the
    logarithm. ``mean`` and ``variance``, of the same shape, are of the size of the step.
    ``steady``: products of the steady lab, with the columns of ``after``.
    """

    plan: Plan
    data: Tally
    line: Timeline
    log: Floats
    mean: Floats
    variance: Floats
    prior: Floats
    steady: Products

    def log_sizes(
        self, columns: Columns, priors: Iterable[tuple[float, Sequence[float], Floats]]
    ) -> Floats:
        """Log evidence (Q,) of steps at ``columns`` of ``steady`` whose sizes have a mixture of
        ``priors``: chance, means and precision.
        """
        nodes = np.log(self.data.nodes.weight)[:, None]
        return log_sum(
            np.concatenate(
                [
                    columns.fit(means, precision).log_z + (nodes + log(chance))
                    for chance, means, precision in priors
                ]
            )
        )

    def log_pairs(self, first: Indices, second: Indices) -> Floats:
        """Log evidence (Q,) of two steps, at both columns of ``steady`` with these numbers."""
        effect, priors = self.plan.effect, []
        difference = np.array([[1.0, -1.0], [-1.0, 1.0]]) / (DIFFERENCE_SPREAD * effect) ** 2
        for share, chance in SPREADS:
            total = np.ones((2, 2)) / (share * effect) ** 2
            priors.append((chance, (effect / 2, effect / 2), total + difference))
        return self.log_sizes(self.steady.of(first, second), priors)


def weigh(plan: Plan, data: Tally, line: Timeline) -> Joint:
    """All hypotheses with at most one step."""
    covariances = line.covariances(plan, build_ratios(data.nodes), line.states)
    after, steps, levels = line.after(), line.lab_steps, line.levels()
    nodes, cuts, places = len(data.nodes.weight), after.shape[1], steps.shape[1]
    beside = line.after(beside=True) if line.can_step.any() else after[:, :0]
    known = np.hstack([after, beside])
    steady = products(covariances[:, 0], line.value, np.hstack([known, steps]), levels)
    moving = covariances[:, 1:].reshape(-1, *covariances.shape[2:])
    parts = []
    for made in (steady, products(moving, line.value, known, levels)):
        fit = _of_one_step(plan, line, made, np.arange(cuts))
        states = len(made.base) // nodes
        of_nodes = (each.reshape(nodes, states, cuts).swapaxes(1, 2) for each in fit)
        parts.append(_framed(plan, made.base.reshape(nodes, states), of_nodes))
    first, second = (each.ravel() for each in np.indices((cuts, places)))
    begin, precision = known.shape[1], np.array([[lab_step_spread(plan) ** -2.0]])
    fit = _of_one_step(plan, line, steady, first, begin + second)
    of_nodes = (each.reshape(nodes, cuts, places) for each in fit)
    lab = steady.of(np.arange(begin, begin + places)).fit([0.0], precision)
    parts.append(_framed(plan, lab.log_z, of_nodes))
    log, mean, variance = (np.concatenate(each, axis=2) for each in zip(*parts, strict=True))
    prior = _lab_prior(line)
    log = log + np.log(data.nodes.weight)[:, None, None] + prior
    own = Products(steady.base, steady.square[:, :cuts, :cuts], steady.moment[:, :cuts])
    return Joint(plan, data, line, log, mean, variance, prior, own)


def lab_step_spread(plan: Plan) -> float:
    """Prior standard deviation of the lab's own step, log percent."""
    return max(abs(plan.effect), LAB_STEP_BOOTS * sqrt(plan.noise.boot_variance(plan.runs)))


def log_sum(logs: Floats, axis: int = 0) -> Floats:
    """log Σ exp along an axis; each line of it has a finite value."""
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


def mixed(fits: Sequence[tuple[float, Fit]]) -> Fit:
    """A mixture of priors with these chances: evidence, mean and variance."""
    logs = [log(chance) + fit.log_z for chance, fit in fits]
    top = reduce(np.maximum, logs)
    shares = [np.exp(each - top) for each in logs]
    total: Floats = sum(shares[1:], shares[0])
    parts = [(share / total, fit) for share, (_, fit) in zip(shares, fits, strict=True)]
    means = [share * fit.mean for share, fit in parts]
    mean: Floats = sum(means[1:], means[0])
    variance = [share * (fit.variance + (fit.mean - mean) ** 2) for share, fit in parts]
    return Fit(top + np.log(total), mean, sum(variance[1:], variance[0]))


def products(covariance: Floats, values: Floats, columns: Floats, levels: Floats) -> Products:
    """From (C, T, T), (T,), (T, P) and (T, q): of every covariance times each of `WITHIN_FACTORS`.

    The lines are ordered by factor first.
    """
    count, known = levels.shape
    sides = np.column_stack([levels, values, columns])
    _, log_det = np.linalg.slogdet(covariance)
    gram = np.matmul(sides.T, np.linalg.solve(covariance, sides))
    for _ in range(known):
        level = gram[:, 0, 0]
        log_det = log_det + np.log(level)
        gram = gram[:, 1:, 1:] - gram[:, 1:, :1] * gram[:, :1, 1:] / level[:, None, None]
    scale = np.array(WITHIN_FACTORS)[:, None]
    base = log_det + gram[:, 0, 0] / scale + (count - known) * np.log(scale)
    lines, shape = base.size, gram.shape[1] - 1
    return Products(
        base=-0.5 * base.ravel(),
        square=(gram[None, :, 1:, 1:] / scale[..., None, None]).reshape(lines, shape, shape),
        moment=(gram[None, :, 1:, 0] / scale[..., None]).reshape(lines, shape),
    )


def _lab_prior(line: Timeline) -> Floats:
    """Log prior (X,) of the states of the lab, then of its step at each place."""
    shares = [1.0] if line.is_alone else [FOLLOWS, 1 - FOLLOWS]
    each = line.lab_steps.shape[1] // len(shares)
    places = np.repeat(shares, each) * (STEP_WEIGHT / max(each, 1))
    return np.asarray(np.log(np.append([state.weight for state in line.states], places)))


def _of_one_step(plan: Plan, line: Timeline, made: Products, cut: Indices, *lab: Indices) -> Fit:
    """A step at each ``cut`` (Q,), with one of the ``lab`` (Q,) if given. Where companions can step
    the culprit moves them or not: their columns lie behind those of all cuts.
    """
    size = abs(plan.effect)
    further = [(each, lab_step_spread(plan)) for each in lab]
    kinds = [(1.0, further)]
    if line.can_step.any():
        beside = (cut + len(line.slots) - 1, SPREAD_BESIDE * size)
        kinds = [(1 - STEPS_BESIDE, further), (STEPS_BESIDE, [beside, *further])]
    fits = []
    for weight, others in kinds:
        columns = made.of(cut, *(each for each, _ in others))
        means = [plan.effect] + [0.0] * len(others)
        for share, chance in SPREADS:
            spreads = np.array([share * size, *(spread for _, spread in others)])
            fits.append((weight * chance, columns.fit(means, np.diag(spreads**-2))))
    return mixed(fits)


def _framed(plan: Plan, none: Floats, fit: Iterable[Floats]) -> tuple[Floats, ...]:
    """The gaps before and behind everything measured look like no step: axis 1 gets M + 2."""
    first = np.expand_dims(none, 1)
    sized = [
        np.full_like(first, size) for size in (plan.effect, (EFFECT_SPREAD * plan.effect) ** 2)
    ]
    outside = zip([first, *sized], fit, strict=True)
    return tuple(np.concatenate([end, inner, end, end], axis=1) for end, inner in outside)
