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

from webapp.stats.bisection.noise import WITHIN_FACTORS, build_ratios
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import FOLLOWS, STEP_WEIGHT, Timeline

Floats = NDArray[np.float64]
EFFECT_SPREAD = 0.25
"""Prior standard deviation of the step as a share of the alerted effect. Alerts pick large
estimates (the winner's curse), so the true step is often smaller; but a step far below the
alerted one is not what the search is for, and would hide among the noise of any candidate."""
WIDE_SPREAD, WIDE_CHANCE = 4.0, 0.02
"""The same for an alert whose size says nothing, and the chance of that. Without it a step of
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


@dataclass(frozen=True, slots=True)
class Products:
    """⟨·, ·⟩ of the values and of P columns: ``base`` (C,) is log Z without any column.

    ``square`` (C, P, P), ``moment`` (C, P).
    """

    base: Floats
    square: Floats
    moment: Floats

    def of(self, columns: slice) -> "Products":
        """The same for some of the columns."""
        return Products(self.base, self.square[:, columns, columns], self.moment[:, columns])


@dataclass(frozen=True, slots=True)
class Fit:
    """``log_z`` of each hypothesis, with ``mean`` and ``variance`` of the size of its (first)
    column.
    """

    log_z: Floats
    mean: Floats
    variance: Floats


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


@dataclass(frozen=True, slots=True)
class Pairs:
    """⟨·, ·⟩ of Q pairs of columns, (C, Q) each: ``g`` and ``h`` of each column with itself, ``c``
    of both, ``y`` and ``z`` with the values.
    """

    base: Floats
    g: Floats
    h: Floats
    c: Floats
    y: Floats
    z: Floats

    @classmethod
    def of(cls, made: Products, first: NDArray[np.intp], second: NDArray[np.intp]) -> "Pairs":
        """Of the columns with the numbers ``first`` and ``second`` (Q,)."""
        square, moment = made.square, made.moment
        c = square[:, first, second]
        own = square[:, first, first], square[:, second, second]
        return cls(made.base, *own, c, moment[:, first], moment[:, second])


@dataclass(frozen=True, slots=True)
class PairPrior:
    """Of two sizes: means, and covariance [[``own``, ``shared``], [``shared``, ``second``]]."""

    means: tuple[float, float]
    own: float
    shared: float
    second: float


def weigh(plan: Plan, data: Tally, line: Timeline) -> Joint:
    """All hypotheses with at most one step."""
    covariances = line.covariances(plan, build_ratios(data.nodes), line.states)
    factors = np.array(WITHIN_FACTORS)
    after, beside, steps = line.after(), _beside(line), line.lab_steps
    moving = covariances[:, 1:].reshape(-1, *covariances.shape[2:])
    known = line.value, np.hstack([after, beside]), line.levels()
    every = np.hstack([after, beside, steps])
    steady = products(covariances[:, 0], factors, line.value, every, line.levels())
    count = after.shape[1]
    parts = [
        _in_states(plan, steady, count, 1, steps.shape[1]),
        _in_states(plan, products(moving, factors, *known), count, len(line.states) - 1),
        _with_lab_steps(plan, steady, count, steps.shape[1]),
    ]
    log, mean, variance = (np.concatenate(each, axis=2) for each in zip(*parts, strict=True))
    log = log + np.log(data.nodes.weight)[:, None, None] + lab_prior(line, steps.shape[1])
    return Joint(log, Fit(log, mean, variance), steady.of(slice(count)))


def lab_prior(line: Timeline, positions: int) -> Floats:
    """Log prior (X,) of the states of the lab, then of its step at each of so many places."""
    known = [state.weight for state in line.states]
    shares = [1.0] if line.is_alone else [FOLLOWS, 1 - FOLLOWS]
    each = positions // len(shares)
    places = [share * STEP_WEIGHT / max(each, 1) for share in shares for _ in range(each)]
    return np.asarray(np.log(np.array(known + places)))


def lab_step_spread(plan: Plan) -> float:
    """Prior standard deviation of the lab's own step, log percent."""
    return max(abs(plan.effect), LAB_STEP_BOOTS * sqrt(plan.noise.boot_variance(plan.runs)))


def log_sum(logs: Floats, axis: int = 0) -> Floats:
    """log Σ exp along an axis; each line of it has a finite value."""
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


def mixed(fits: list[tuple[float, Fit]]) -> Fit:
    """A mixture of priors with these chances: evidence, mean and variance."""
    logs = [fit.log_z + np.log(chance) for chance, fit in fits]
    top = logs[0]
    for each in logs[1:]:
        top = np.maximum(top, each)
    shares = [np.exp(each - top) for each in logs]
    total = sum(shares[1:], shares[0])
    shares = [share / total for share in shares]
    weighed = list(zip(shares, (fit for _, fit in fits), strict=True))
    mean = sum((share * fit.mean for share, fit in weighed), np.float64(0))
    variance = sum(
        (share * (fit.variance + (fit.mean - mean) ** 2) for share, fit in weighed), np.float64(0)
    )
    return Fit(top + np.log(total), np.asarray(mean), np.asarray(variance))


def pair_evidence(
    plan: Plan,
    data: Tally,
    steady: Products,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
) -> Floats:
    """Log evidence (Q,) of steps at both columns of ``steady`` with these numbers."""
    found = []
    pairs = Pairs.of(steady, first, second)
    for share, chance in SPREADS:
        total, apart = (share * plan.effect) ** 2, (DIFFERENCE_SPREAD * plan.effect) ** 2
        own, shared = (total + apart) / 4, (total - apart) / 4
        half = (plan.effect / 2, plan.effect / 2)
        prior = PairPrior(half, own, shared, own)
        found.append((chance, two_columns(pairs, prior)))
    log_z = mixed(found).log_z + np.log(data.nodes.weight)[:, None]
    return np.asarray(np.logaddexp.reduce(log_z, axis=0))


def products(
    covariance: Floats, factors: Floats, values: Floats, columns: Floats, levels: Floats
) -> Products:
    """From (C, T, T), (F,), (T,), (T, P) and (T, q): of every covariance times every factor.

    The F · C lines are ordered by factor first.
    """
    count, known = levels.shape
    sides = np.column_stack([levels, values, columns])
    _, log_det = np.linalg.slogdet(covariance)
    gram = np.matmul(sides.T, np.linalg.solve(covariance, sides))
    gram, log_level = _without_levels(gram, known)
    scale = factors[:, None]
    base = log_det + log_level + gram[:, 0, 0] / scale + (count - known) * np.log(scale)
    lines, shape = base.size, gram.shape[1] - 1
    return Products(
        base=-0.5 * base.ravel(),
        square=(gram[None, :, 1:, 1:] / scale[..., None, None]).reshape(lines, shape, shape),
        moment=(gram[None, :, 1:, 0] / scale[..., None]).reshape(lines, shape),
    )


def one_column(made: Products, size: float, spread: float) -> Fit:
    """Each column on its own with the size N(``size``, ``spread``²): (C, P)."""
    g = np.maximum(np.diagonal(made.square, axis1=1, axis2=2), 0.0)
    b = made.moment - size * g
    shrink = 1 + spread**2 * g
    rss = size * size * g - 2 * size * made.moment
    log_z = made.base[:, None] - 0.5 * (rss + np.log(shrink) - spread**2 * b * b / shrink)
    return Fit(log_z, size + spread**2 * b / shrink, spread**2 / shrink)


def two_columns(pairs: Pairs, prior: PairPrior) -> Fit:
    """Both columns of each pair with sizes of ``prior``: (C, Q)."""
    d, e = prior.means
    g, h, c, y, z = pairs.g, pairs.h, pairs.c, pairs.y, pairs.z
    b1, b2 = y - d * g - e * c, z - d * c - e * h
    rss = d * d * g + e * e * h + 2 * d * e * c - 2 * (d * y + e * z)
    det_prior = prior.own * prior.second - prior.shared**2
    k11, k22, k12 = prior.second, prior.own, -prior.shared
    a11, a22, a12 = k11 / det_prior + g, k22 / det_prior + h, k12 / det_prior + c
    det = np.maximum(a11 * a22 - a12 * a12, np.finfo(np.float64).tiny)
    size1, size2 = (a22 * b1 - a12 * b2) / det, (a11 * b2 - a12 * b1) / det
    gain = b1 * size1 + b2 * size2
    log_z = pairs.base[:, None] - 0.5 * (rss + np.log(det * det_prior) - gain)
    return Fit(log_z, d + size1, a22 / det)


def columns_apart(made: Products, chosen: NDArray[np.intp], means: Floats, spreads: Floats) -> Fit:
    """Sets of k columns, ``chosen`` (Q, k), with independent sizes N(``means``, ``spreads``²),
    each (k,): (C, Q).

    K⁻¹ + G is eliminated column by column from the last one, for all sets at once: what is left of
    the first is the precision of its size.
    """
    count = chosen.shape[1]
    square = [
        [made.square[:, chosen[:, a], chosen[:, b]] for b in range(a + 1)] for a in range(count)
    ]
    moment = [made.moment[:, chosen[:, a]] for a in range(count)]
    rss: Floats = np.zeros(moment[0].shape)
    for a, b in [(a, b) for a in range(count) for b in range(count) if means[b]]:
        shift = square[max(a, b)][min(a, b)] * means[b]
        rss += means[a] * (shift - 2 * made.moment[:, chosen[:, a]]) if a == b else means[a] * shift
        moment[a] = moment[a] - shift
    rest = rss + 2 * float(np.log(spreads).sum())
    for last in reversed(range(count)):
        pivot = square[last][last] + 1 / spreads[last] ** 2
        rest += np.log(pivot) - moment[last] * moment[last] / pivot
        for a in range(last):
            share = square[last][a] / pivot
            moment[a] = moment[a] - share * moment[last]
            for b in range(a + 1):
                square[a][b] = square[a][b] - share * square[last][b]
    return Fit(made.base[:, None] - 0.5 * rest, means[0] + moment[0] / pivot, 1 / pivot)


def _beside(line: Timeline) -> Floats:
    """Columns of the companions' own step at each cut; none where no companion can step."""
    return line.after(beside=True) if line.can_step.any() else np.zeros((len(line.value), 0))


def _in_states(
    plan: Plan, made: Products, count: int, states: int, others: int = 0
) -> tuple[Floats, ...]:
    """Of the first ``count`` columns of (S · L) products: (S, M + 2, L) each.

    Before the last ``others`` columns there may be those of a step of the companions.
    """
    can_step = made.square.shape[-1] - others > count
    own = np.arange(count)
    pairs = Pairs.of(made, own, own + count) if can_step else None
    found = []
    for share, chance in SPREADS:
        spread = share * abs(plan.effect)
        clean = one_column(made.of(slice(count)), plan.effect, spread)
        found.append((chance * (1 - STEPS_BESIDE if can_step else 1.0), clean))
        if pairs:
            both = two_columns(pairs, _prior_beside(plan, share))
            found.append((chance * STEPS_BESIDE, both))
    fit = mixed(found)
    framed = _framed(plan, made.base, fit)
    return tuple(
        np.moveaxis(each.reshape(len(each) // states, states, each.shape[1]), 1, 2)
        for each in framed
    )


def _with_lab_steps(plan: Plan, made: Products, count: int, positions: int) -> tuple[Floats, ...]:
    """Each gap with each place of the lab's step: (S, M + 2, U) each."""
    size = lab_step_spread(plan)
    begin = made.square.shape[-1] - positions
    lab = one_column(made.of(slice(begin, None)), 0.0, size)
    first, second = (each.ravel() for each in np.indices((count, positions)))
    pairs = Pairs.of(made, first, begin + second)
    found = []
    for share, chance in SPREADS:
        prior = PairPrior((plan.effect, 0.0), (share * plan.effect) ** 2, 0.0, size**2)
        clean = two_columns(pairs, prior)
        found.append((chance * (1 - STEPS_BESIDE if begin > count else 1.0), clean))
        if begin > count:
            chosen = np.stack([first, count + first, begin + second], axis=1)
            spreads = np.array([share, SPREAD_BESIDE, size / abs(plan.effect)]) * abs(plan.effect)
            every = columns_apart(made, chosen, np.array([plan.effect, 0.0, 0.0]), spreads)
            found.append((chance * STEPS_BESIDE, every))
    fit = mixed(found)
    shape = (len(lab.log_z), count, positions)
    inner = Fit(*(each.reshape(shape) for each in (fit.log_z, fit.mean, fit.variance)))
    return _framed(plan, lab.log_z, inner)


def _prior_beside(plan: Plan, share: float) -> PairPrior:
    """Of the step, and of that of the companions at the same commit, which is not known."""
    variances = (share * plan.effect) ** 2, (SPREAD_BESIDE * plan.effect) ** 2
    return PairPrior((plan.effect, 0.0), variances[0], 0.0, variances[1])


def _framed(plan: Plan, none: Floats, fit: Fit) -> tuple[Floats, ...]:
    """The gaps before and behind everything measured look like no step: axis 1 gets M + 2."""
    first = np.expand_dims(none, 1)
    sized = [
        np.full_like(first, size) for size in (plan.effect, (EFFECT_SPREAD * plan.effect) ** 2)
    ]
    outside = zip([first, *sized], (fit.log_z, fit.mean, fit.variance), strict=True)
    return tuple(np.concatenate([end, inner, end, end], axis=1) for end, inner in outside)


def _without_levels(gram: Floats, known: int) -> tuple[Floats, Floats]:
    """The products of what is behind the first ``known`` sides, these taken out; log|N'V⁻¹N|."""
    log_level = np.zeros(len(gram))
    for _ in range(known):
        level = gram[:, 0, 0]
        log_level = log_level + np.log(level)
        gram = gram[:, 1:, 1:] - gram[:, 1:, :1] * gram[:, :1, 1:] / level[:, None, None]
    return gram, log_level
