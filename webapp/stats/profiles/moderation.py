"""Variances of many functions, each from few boots, moderated towards functions of like share.

The empirical Bayes of Smyth (2004), "Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments", with a prior that follows the share as in the
``limma-trend`` of Law et al. (2014): a variance s² of d degrees of freedom estimates a true one
that is a scaled inverse chi-squared variable, of d₀ degrees of freedom, around a trend s₀². The
moderated variance (d₀ s₀² + d s²) / (d₀ + d) has d₀ + d degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from webapp.stats.profiles.calls import Bools
from webapp.stats.profiles.costs import Floats

MOST_FREEDOM = 60.0
"""The most degrees of freedom that functions of like share lend: they scatter together.

Nor more than all of theirs over the parameters of the trend, which is itself an estimate.
"""

FEWEST = 8
"""With fewer functions to learn from, each has its own variance alone."""

CURVED = 40
"""From so many functions on the logarithm of the trend is a parabola, else a line."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The trend of log variance on log share (a polynomial), and its degrees of freedom."""

    trend: tuple[float, ...]
    freedom: float
    inside: tuple[float, float]

    def at(self, share: Floats) -> Floats:
        """The variance expected at each share."""
        position = np.clip(_log(share), *self.inside)
        found: Floats = np.exp(np.polyval(np.array(self.trend), position))
        return found


def learned(variance: Floats, freedom: Floats, share: Floats, chosen: Bools) -> Prior:
    """The prior that ``chosen`` functions suggest.

    All are (F): variances, their degrees of freedom, shares (0 to 1). The degrees of freedom of
    the prior are 0 where there are too few functions to learn from.
    """
    use = chosen & (freedom > 0) & (variance > 0) & (share > 0)
    count = int(use.sum())
    if count < FEWEST:
        return Prior((0.0,), 0.0, (0.0, 0.0))
    half = freedom[use] / 2
    logs = np.log(variance[use]) - digamma(half) + np.log(half)
    position = _log(share[use])
    degree = 2 if count >= CURVED else 1
    trend = np.polyfit(position, logs, degree)
    rest = logs - np.polyval(trend, position)
    spread = float((rest**2).sum() / (count - degree - 1) - polygamma(1, half).mean())
    most = min(MOST_FREEDOM, float(freedom[use].sum()) / (degree + 1))
    lent = min(2 * _trigamma_inverse(spread), most) if spread > 0 else most
    trend[-1] += float(digamma(lent / 2) - np.log(lent / 2))
    return Prior(tuple(trend.tolist()), lent, (float(position.min()), float(position.max())))


def moderated(variance: Floats, freedom: Floats, expected: Floats, lent: float) -> Floats:
    """The moderated variances; where nothing is known at all, NaN."""
    total = freedom + lent
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (lent * expected + freedom * variance) / total
    return found


def _log(share: Floats) -> Floats:
    position: Floats = np.log(np.maximum(share, 1e-9))
    return position


def _trigamma_inverse(value: float) -> float:
    """The x with trigamma(x) = ``value`` > 0, by Newton's method (Smyth 2004, appendix)."""
    if value > 1e7:
        return float(1 / np.sqrt(value))
    at = 0.5 + 1 / value
    for _ in range(50):
        found = float(polygamma(1, at))
        step = found * (1 - found / value) / float(polygamma(2, at))
        at += step
        if -step / at < 1e-8:
            break
    return at
