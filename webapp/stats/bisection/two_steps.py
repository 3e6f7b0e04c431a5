"""Evidence of two steps: levels μ0, μ0 + δ1, μ0 + δ1 + δ2.

Their sum has the prior of one step, N(d, s²), so that a step larger than alerted does not look
like two; their difference is N(0, h²). Hence each has the mean d/2 and the variance (s² + h²)/4,
and both the covariance (s² − h²)/4.

It is taken for pairs of different gaps between measured builds (two steps inside one gap look
like one), at the node of the noise that the evidence supports most.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.segments import Segments

Floats = NDArray[np.float64]
Cuts = NDArray[np.intp]

DIFFERENCE_SPREAD = 1.0
"""h: prior standard deviation of δ1 − δ2 as a share of the alerted effect."""


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """``log_z``: log evidence, −∞ without two gaps. ``cuts``: the most probable pair."""

    log_z: float
    cuts: tuple[int, int] | None


def two_steps(
    segments: Segments, node: int, gap_prior: Floats, effect: float, spread: float
) -> TwoSteps:
    """The evidence of two steps; ``gap_prior`` (B + 1,): prior of the candidates in each cut.

    ``spread``: s, the standard deviation of both steps together.
    """
    open_cuts = np.flatnonzero(gap_prior)
    open_cuts = open_cuts[(open_cuts > 0) & (open_cuts < len(gap_prior) - 1)]
    if len(open_cuts) < 2:
        return TwoSteps(-np.inf, None)
    i, j = _pairs(len(open_cuts))
    first, second = open_cuts[i], open_cuts[j]
    prior = 2 * gap_prior[first] * gap_prior[second]
    log_z = _log_pairs(segments, node, (first, second), effect, spread) + np.log(prior)
    best = int(np.argmax(log_z))
    top = float(log_z[best])
    total = top + float(np.log(np.exp(log_z - top).sum()))
    return TwoSteps(total, (int(first[best]), int(second[best])))


@cache
def _pairs(count: int) -> tuple[Cuts, Cuts]:
    return np.triu_indices(count, 1)


def _log_pairs(
    segments: Segments, node: int, cuts: tuple[Cuts, Cuts], effect: float, spread: float
) -> Floats:
    first, second = cuts
    weight, moment = segments.weight[node], segments.moment[node]
    ends = np.zeros_like(first), first, second, np.full_like(first, len(weight) - 1)
    w = [weight[end] - weight[start] for start, end in pairwise(ends)]
    m = [(moment[e] - moment[s]) / wk for (s, e), wk in zip(pairwise(ends), w, strict=True)]
    sum_variance, difference_variance = spread**2, (DIFFERENCE_SPREAD * effect) ** 2
    own = (sum_variance + difference_variance) / 4
    shared = (sum_variance - difference_variance) / 4
    # Covariance [[a, b], [b, c]] of both differences of neighbouring means.
    a, b, c = 1 / w[0] + 1 / w[1] + own, shared - 1 / w[1], 1 / w[1] + 1 / w[2] + own
    x, y = m[1] - m[0] - effect / 2, m[2] - m[1] - effect / 2
    det = a * c - b * b
    rss = segments.square[node] - sum(wk * mk * mk for wk, mk in zip(w, m, strict=True))
    quadratic = (c * x * x - 2 * b * x * y + a * y * y) / det
    volume = np.log(det * w[0] * w[1] * w[2])
    return np.asarray(segments.base[node] - 0.5 * (rss + quadratic + volume))
