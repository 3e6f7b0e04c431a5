"""Critical values and intervals, without importing SciPy.

A shell command should not wait for SciPy, so the quantiles of Student's t, which ``ministat(1)``
tabulates, are found from the closed form that the distribution has for whole degrees of freedom
(Abramowitz and Stegun, 26.7.3 and 26.7.4).
"""

from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

from webapp.stats import OutOfRangeError

TWO_SIDED_95 = 1.959964
"""That of 97.5 %: half the width of a 95 % interval, in standard errors."""
POWER_80 = 0.841621
"""That of 80 %: what a test that sees four effects in five adds to its critical value."""
LEVELS = (80.0, 90.0, 95.0, 98.0, 99.0, 99.5)
"""Two-sided levels, percent, by the names that ministat gives them."""
LARGEST_TABULATED_DF = 100
"""Degrees of freedom above this use the normal distribution."""
_UPPER_QUANTILE = {80.0: 0.9, 90.0: 0.95, 95.0: 0.975, 98.0: 0.99, 99.0: 0.995, 99.5: 0.999}
_NORMAL = {80.0: 1.282, 90.0: 1.645, 95.0: 1.960, 98.0: 2.326, 99.0: 2.576, 99.5: 3.090}
# The column ministat calls 99.5 holds the quantile .999 (99.8 % two-sided), except for these.
_PRINTED_99_5 = {1: 318.313, 7: 4.782, 8: 4.499, 9: 4.296, 10: 4.143, 11: 4.024, 12: 3.929}
_BISECTIONS = 60


def true_level(confidence: float) -> float:
    """The two-sided level, percent, that ``confidence`` really stands for (99.5 is 99.8)."""
    return round(200 * _UPPER_QUANTILE[_known(confidence)] - 100, 6)


@cache
def critical_value(df: int, confidence: float) -> float:
    """Student's t for ``df`` degrees of freedom, to three decimals, as ministat's table has it.

    ``confidence`` is one of `LEVELS`. Raises `OutOfRangeError` for another level or ``df < 1``.
    """
    if df < 1:
        raise OutOfRangeError(f"{df} degrees of freedom: at least 1 is needed")
    if df > LARGEST_TABULATED_DF:
        return _NORMAL[_known(confidence)]
    if confidence == 99.5 and df in _PRINTED_99_5:
        return _PRINTED_99_5[df]
    return round(_quantile(df, 2 * _UPPER_QUANTILE[_known(confidence)] - 1), 3)


def _known(confidence: float) -> float:
    if confidence not in _UPPER_QUANTILE:
        offered = ", ".join(f"{level:g}" for level in LEVELS)
        raise OutOfRangeError(f"no support for confidence level {confidence:g}: use {offered}")
    return confidence


def _quantile(df: int, central: float) -> float:
    """The t with P(|T| < t) = ``central``, by bisection over the angle atan(t / sqrt(df))."""
    low, high = 0.0, pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _central_probability(middle, df) < central:
            low = middle
        else:
            high = middle
    return tan((low + high) / 2) * sqrt(df)


def _central_probability(angle: float, df: int) -> float:
    """P(|T| < tan(angle)·sqrt(df)): Abramowitz and Stegun 26.7.3 (odd df) and 26.7.4 (even)."""
    odd = df % 2
    cosine = cos(angle)
    term = cosine if odd else 1.0
    series = 0.0
    for k in range(2 + odd, df + 1, 2):
        series += term
        term *= cosine * cosine * (k - 1) / k
    if odd:
        return 2 / pi * (angle + sin(angle) * series)
    return sin(angle) * series


CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Proportion:
    """``count`` of ``total``; ``low`` and ``high`` bound the share behind it, from 0 to 1."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share observed, from 0 to 1."""
        return self.count / self.total


def proportion(count: int, total: int, confidence: float = CONFIDENCE) -> Proportion | None:
    """The share of ``count`` in ``total`` with its interval; None of nothing: it is unknown.

    Wilson's score interval (1927, JASA 22, 209-212): the shares p with
    ``|count/total - p| <= z sqrt(p (1 - p) / total)``. Unlike Wald's it stays within 0 and 1 and
    has a width when all or none were counted. Raises OutOfRangeError.
    """
    if not 0 <= count <= total:
        raise OutOfRangeError(f"{count} of {total} is no share")
    if not 0 < confidence < 1:
        raise OutOfRangeError(f"{confidence} is no confidence between 0 and 1")
    if not total:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = count / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / total + spread / (4 * total))
    return Proportion(count, total, max(0.0, centre - half), min(1.0, centre + half))
