"""Whether a change is the same on every machine: the test of heterogeneity of several changes.

Cochran's Q takes standard errors for known, and calls equal changes different in 9 to 31 of 100
cases where each was estimated from three units a side. The test of Alexander and Govern
(1994) counts their degrees of freedom: each change's distance from the weighted mean, in standard
errors, is Student's t; made a normal deviate, its squares sum to chi-squared. At 5 %, five of a
hundred equal ones are called different at most (`tests/stats/compare/test_across.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, log1p, sqrt

from scipy import special

from webapp.stats.sensitivity import DEFAULT_CONFIDENCE, critical_t

LEAST_CHANGES = 2
OFF_THE_MIDDLE = 1e-6
"""Of half the width of an interval: what rounding may move the middle of one on logarithms."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A change on natural logarithms, its standard error and the degrees of freedom of that."""

    change: float
    error: float
    df: float


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How likely ``changes`` differ as much by chance where all are the same: ``p``.

    ``statistic`` is chi-squared with one degree of freedom less than there are changes, ``common``
    their mean, weighted by their errors, in percent.
    """

    changes: int
    common: float
    statistic: float
    p: float


def estimate_of(
    percent: float | None,
    low: float | None,
    high: float | None,
    df: float | None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Estimate | None:
    """The estimate behind a change with its interval, in percent.

    None where there is no interval or no scatter, and where it was not computed on logarithms, so
    that the change is not in the middle: of sets with zeros.
    """
    if percent is None or low is None or high is None or df is None or df < 1:
        return None
    if not (low > -100 and percent > -100 and isfinite(high)):
        return None
    bottom, top = log1p(low / 100), log1p(high / 100)
    half, change = (top - bottom) / 2, log1p(percent / 100)
    if half <= 0 or abs((top + bottom) / 2 - change) > OFF_THE_MIDDLE * half:
        return None
    return Estimate(change, half / critical_t(df, confidence), df)


def heterogeneity(estimates: Sequence[Estimate]) -> Heterogeneity | None:
    """The test of Alexander and Govern on two or more independent changes; None for fewer."""
    if len(estimates) < LEAST_CHANGES:
        return None
    least = min(one.error for one in estimates)
    weights = [(least / one.error) ** 2 for one in estimates]
    total = fsum(weights)
    pairs = list(zip(weights, estimates, strict=True))
    mean = fsum(weight * one.change for weight, one in pairs) / total
    statistic = fsum(_normal((one.change - mean) / one.error, one.df) ** 2 for one in estimates)
    return Heterogeneity(
        changes=len(estimates),
        common=100 * float(special.expm1(mean)),
        statistic=statistic,
        p=float(special.chdtrc(len(estimates) - 1, statistic)),
    )


def _normal(t: float, df: float) -> float:
    """Student's ``t`` as the normal deviate of the same chance: the approximation of Hill (1970)
    that the test is defined by.
    """
    a = df - 0.5
    b = 48 * a * a
    c = sqrt(a * log1p(t * t / df))
    above = 4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c
    below = 10 * b * b + 8 * b * c**4 + 1000 * b
    return c + (c**3 + 3 * c) / b - above / below
