"""What the evidence says: chances of each candidate, of no step, and of two steps.

H_j, "c_j is the first bad one": levels μ0 before, μ0 + δ from c_j on; μ0 has a flat prior, δ a
normal one around the alerted effect (sd `EFFECT_SPREAD` of it). Given the noise, builds are
independent with mean m and precision w, so a segment enters by W = Σw, Σwm and Σwm² alone, and

    log Z(cut) = ½ Σ log w − ½ RSS − ½ log D − ½ (x − d)² W0·W1/D,   D = W0 + W1 + τ²·W0·W1

where x is the difference of the weighted means and RSS the scatter around them: cumulative sums
give every cut between measured builds at once. H_j has the Z of the cut that it falls into; the
cut behind the last build is "no step". Z is then summed over the nodes of the noise.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.bisection.tally import Tally, tally

Floats = NDArray[np.float64]

EFFECT_SPREAD = 0.25
"""Prior standard deviation of δ as a share of the alerted effect. Alerts pick large estimates
(the winner's curse), so the true step is often smaller, seldom of the other sign."""

TWO_STEPS_PRIOR = 0.05
"""Chance that the interval holds two steps, given that there is any."""


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Chances: ``candidates`` (N,) + ``none`` = 1, as if there were at most one step.

    ``two``: the chance of two steps, against all else. ``two_gaps``: their most probable places,
    each the candidates (first, last) between two measured builds; None where fewer than two gaps
    are open. ``effect`` with its standard deviation, and ``good_level``: log percent.
    ``boot_sd``, ``build_sd``: the noise as believed now. ``gap_of`` (N,): candidates with the same
    number are told apart by no boot so far.
    """

    candidates: Floats
    none: float
    two: float
    effect: float
    effect_sd: float
    good_level: float
    boot_sd: float
    build_sd: float
    two_gaps: tuple[tuple[int, int], tuple[int, int]] | None
    gap_of: NDArray[np.intp]

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


@dataclass(frozen=True, slots=True)
class _Segments:
    """Cumulative Σw, Σwm of builds: shape (S, B + 1); ``square`` is Σwm², shape (S,)."""

    weight: Floats
    moment: Floats
    square: Floats
    base: Floats


def posterior(plan: Plan, evidence: Evidence) -> Posterior:
    """The posterior from the raw evidence; without any boot, the prior.

    Raises `OutOfRangeError` when no candidate is left or a build stands for different revisions.
    """
    return posterior_of(plan, tally(plan, evidence))


def posterior_of(plan: Plan, data: Tally) -> Posterior:
    """The same from evidence that is reduced already."""
    segments = _segments(data)
    one = _log_cuts(segments, plan.effect, EFFECT_SPREAD * abs(plan.effect))
    gap_of = np.searchsorted(data.place, np.arange(1, plan.bad + 1))
    gap_prior = np.bincount(gap_of, weights=data.prior, minlength=one.shape[1])
    pairs = np.flatnonzero(gap_prior)
    pairs = pairs[(pairs > 0) & (pairs < one.shape[1] - 1)]
    first, second = _pairs(len(pairs))
    cuts = pairs[first], pairs[second]
    two = _log_pairs(segments, *cuts, plan.effect)
    top = max(float(one.max()), float(two.max(initial=-np.inf)))
    weight = data.nodes.weight[:, None]
    z_one, z_two = weight * np.exp(one - top), weight * np.exp(two - top)
    pair_prior = 2 * gap_prior[cuts[0]] * gap_prior[cuts[1]]
    shares = _Shares(plan.doubt)
    gaps = shares.one * z_one.sum(axis=0)
    candidates = gaps[gap_of] * data.prior
    none = shares.none * float(z_one[:, -1].sum())
    by_pair = shares.two * z_two.sum(axis=0) * pair_prior
    total, both = float(candidates.sum()) + none, float(by_pair.sum())
    by_gap = shares.one * z_one * gap_prior
    return Posterior(
        candidates=candidates / total,
        none=none / total,
        two=both / (total + both),
        two_gaps=_gaps(cuts, by_pair, gap_of),
        gap_of=gap_of,
        **_figures(plan, data, segments, by_gap),
    )


class _Shares:
    """Prior chances of the three kinds of truth."""

    def __init__(self, doubt: float) -> None:
        self.none = doubt
        self.two = (1 - doubt) * TWO_STEPS_PRIOR
        self.one = (1 - doubt) * (1 - TWO_STEPS_PRIOR)


def log_ratio(plan: Plan, data: Tally, step: float) -> float:
    """Log of how much better a step of ``step`` explains both ends than no step does.

    Uses the builds at the good and the bad end alone (Wald's λ, with the levels and the noise
    integrated out). 0 while one end was not measured.
    """
    ends = (data.place == 0) | (data.place == data.first_bad)
    segments = _segments(data, ends)
    cut = int((data.place == 0).sum())
    log_z = [_log_cuts(segments, effect, 0.0)[:, cut] for effect in (step, 0.0)]
    top = max(float(z.max()) for z in log_z)
    with_step, without = (float(data.nodes.weight @ np.exp(z - top)) for z in log_z)
    smallest = np.finfo(np.float64).tiny
    return float(np.log(max(with_step, smallest)) - np.log(max(without, smallest)))


def _segments(data: Tally, chosen: NDArray[np.bool_] | None = None) -> _Segments:
    weights = data.weights if chosen is None else data.weights[:, chosen]
    mean = data.mean if chosen is None else data.mean[chosen]
    moments = weights * mean
    return _Segments(
        weight=_from_zero(weights),
        moment=_from_zero(moments),
        square=moments @ mean,
        base=data.base + 0.5 * np.log(weights).sum(axis=1),
    )


def _from_zero(values: Floats) -> Floats:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _sides(segments: _Segments) -> tuple[Floats, Floats, Floats, Floats]:
    """W0, W1 and the means of both sides (0 for an empty side) of each cut, shape (S, B + 1)."""
    w0, s0 = segments.weight, segments.moment
    w1, s1 = w0[:, -1:] - w0, s0[:, -1:] - s0
    w1[:, -1] = 0.0
    m0 = np.divide(s0, w0, out=np.zeros_like(w0), where=w0 > 0)
    m1 = np.divide(s1, w1, out=np.zeros_like(w1), where=w1 > 0)
    return w0, w1, m0, m1


def _log_cuts(segments: _Segments, effect: float, spread: float) -> Floats:
    """log Z of one step behind the first 0 … B builds, shape (S, B + 1)."""
    w0, w1, m0, m1 = _sides(segments)
    rss = segments.square[:, None] - w0 * m0 * m0 - w1 * m1 * m1
    both = w0 * w1
    d = w0 + w1 + spread * spread * both
    d = np.where(d > 0, d, 1.0)
    off = m1 - m0 - effect
    return np.asarray(segments.base[:, None] - 0.5 * (rss + np.log(d) + off * off * both / d))


def _log_pairs(
    segments: _Segments, first: NDArray[np.intp], second: NDArray[np.intp], effect: float
) -> Floats:
    """log Z of two steps, each normal around half the effect, behind so many builds: (S, P)."""
    ends = np.zeros_like(first), first, second, np.full_like(first, segments.weight.shape[1] - 1)
    w, m = [], []
    for start, end in pairwise(ends):
        w.append(segments.weight[:, end] - segments.weight[:, start])
        m.append((segments.moment[:, end] - segments.moment[:, start]) / w[-1])
    tau = (EFFECT_SPREAD * effect) ** 2
    inverse = [1 / each for each in w]
    a, b, c = inverse[0] + inverse[1] + tau, -inverse[1], inverse[1] + inverse[2] + tau
    x, y = m[1] - m[0] - effect / 2, m[2] - m[1] - effect / 2
    det = a * c - b * b
    rss = segments.square[:, None] - sum(wk * mk * mk for wk, mk in zip(w, m, strict=True))
    quadratic = (c * x * x - 2 * b * x * y + a * y * y) / det
    log_volume = np.log(det * w[0] * w[1] * w[2])
    return np.asarray(segments.base[:, None] - 0.5 * (rss + quadratic + log_volume))


@cache
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(count, 1)


def _gaps(
    cuts: tuple[NDArray[np.intp], NDArray[np.intp]], by_pair: Floats, gap_of: NDArray[np.intp]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if not len(by_pair):
        return None
    best = int(np.argmax(by_pair))
    first, second = (np.flatnonzero(gap_of == cut[best]) + 1 for cut in cuts)
    return (int(first[0]), int(first[-1])), (int(second[0]), int(second[-1]))


def _figures(plan: Plan, data: Tally, segments: _Segments, by_gap: Floats) -> dict[str, float]:
    """Means over one-step hypotheses and noise nodes, ``by_gap`` of shape (S, B + 1)."""
    chance = by_gap / by_gap.sum()
    w0, w1, m0, m1 = _sides(segments)
    total = np.where(w0 + w1 > 0, w0 + w1, 1.0)
    known = w0 * w1 / total
    prior = 1 / (EFFECT_SPREAD * plan.effect) ** 2
    mean = (known * (m1 - m0) + prior * plan.effect) / (known + prior)
    effect = float((chance * mean).sum())
    variance = float((chance * (1 / (known + prior) + (mean - effect) ** 2)).sum())
    level = (w0 * m0 + w1 * (m1 - mean)) / total
    node = chance.sum(axis=1)
    return {
        "effect": effect,
        "effect_sd": sqrt(variance),
        "good_level": data.origin + float((chance * level).sum()),
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs) * float(node @ data.nodes.within)),
        "build_sd": sqrt(float(node @ data.nodes.build)),
    }
