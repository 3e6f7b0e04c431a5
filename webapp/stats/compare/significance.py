"""Tests of a difference: what Student's t can see, and two exact tests that stand beside it, of
ranks and of counts such as packets dropped in a run.

Of ranks: Mann and Whitney, 1947, for small sets with or without ties; ties by midranks and the
permutation distribution of the rank sum.

Of counts: where one side has a zero, means of a few counts are far from normal. Given both sums
together, the second is binomial if both come from one Poisson rate (Przyborowski and Wilenski,
1940); limits of the share, and so of the ratio of rates, by Clopper and Pearson (1934). Counts that
scatter more than Poisson's would pass too often, so the test never takes the place of Student's t.
"""

from dataclasses import dataclass
from functools import cache
from math import comb, erfc, isfinite, sqrt

import numpy as np
from scipy import special

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Floats, Ints

CONFIDENCES = (80.0, 90.0, 95.0, 98.0, 99.0)
"""Two-sided levels, percent, for verdicts; ministat's 99.5 is not the level it names and is left
out."""


DEFAULT_CONFIDENCE = 95.0
DEFAULT_POWER = 80.0
"""Percent of repetitions in which an effect of the stated size is seen."""

# Linear interpolation over 1/df: relative errors below 1e-6 and 1e-5 (tests hold them to it).
_CRITICAL_NODES = 4097
_SHIFT_NODES = 1025


def require_confidence(confidence: float) -> float:
    """``confidence`` itself when it is one of `CONFIDENCES`; else raises `OutOfRangeError`."""
    if confidence not in CONFIDENCES:
        offered = ", ".join(f"{level:g}" for level in CONFIDENCES)
        raise OutOfRangeError(f"no verdict at confidence {confidence:g}: use {offered}")
    return confidence


def require_margin(margin: float) -> float:
    """``margin`` itself when it is a finite percentage ≥ 0; else raises `OutOfRangeError`."""
    if not (isfinite(margin) and margin >= 0):
        raise OutOfRangeError(f"margin {margin:g} %: it must be 0 or more")
    return margin


def critical_t(df: float, confidence: float) -> float:
    """Two-sided critical value of Student's t for ``df`` (≥ 1, need not be whole)."""
    return float(special.stdtrit(df, 0.5 + confidence / 200))


def two_sided_p(t: float, df: float) -> float:
    """The chance that Student's t for ``df`` (≥ 1) lies at least ``t`` (≥ 0) from zero."""
    return 2 * float(special.stdtr(df, -t))


def visible_shift(df: float, confidence: float, power: float = DEFAULT_POWER) -> float:
    """The true shift, in standard errors, that a two-sided t-test sees with ``power`` percent.

    It is the non-centrality δ with P(T'(df, δ) > t) = power for the critical t, and not the usual
    sum of two quantiles, which is a seventh too small for one degree of freedom. The far tail
    (4e-5 at 95 % and 50 % power, 5e-3 at 80 %) is left out.
    """
    return float(special.nctdtrinc(df, 1 - power / 100, critical_t(df, confidence)))


def critical_ts(df: Floats, confidence: float) -> Floats:
    """`critical_t` for an array of degrees of freedom ≥ 1, from a table."""
    return _look_up(_critical_table(confidence), 1 / df)


def visible_shifts(df: Floats, confidence: float) -> Floats:
    """`visible_shift` with the default power for an array of degrees of freedom, from a table."""
    return _look_up(_shift_table(confidence), 1 / df)


def _look_up(table: Floats, fraction: Floats) -> Floats:
    """Interpolate in a table over equal steps of 0…1; `numpy.interp` takes ten times as long."""
    steps = len(table) - 1
    scaled = fraction * steps
    left = np.minimum(scaled.astype(np.intp), steps - 1)
    low = table[left]
    between: Floats = low + (scaled - left) * (table[left + 1] - low)
    return between


@cache
def _critical_table(confidence: float) -> Floats:
    df = 1 / _inverse_df(_CRITICAL_NODES)
    return np.asarray(special.stdtrit(df, 0.5 + confidence / 200), np.float64)


@cache
def _shift_table(confidence: float) -> Floats:
    df = 1 / _inverse_df(_SHIFT_NODES)
    critical = special.stdtrit(df, 0.5 + confidence / 200)
    shifts = special.nctdtrinc(df, 1 - DEFAULT_POWER / 100, critical)
    return np.asarray(shifts, np.float64)


def _inverse_df(nodes: int) -> Floats:
    """0 to 1 in equal steps; infinitely many degrees of freedom are a billion."""
    return np.maximum(np.linspace(0, 1, nodes), 1e-9)


MOST_EXACT = 40
"""Up to this many samples on both sides together the p-value is exact."""


MOST_COUNTED = 2.0**53
"""Whole numbers below are exact in a double."""


@dataclass(frozen=True, slots=True)
class RankTest:
    """``u`` counts the pairs in which the second side is larger, ties as one half.

    ``p`` is two-sided: the share of all ways to deal the samples to the sides whose rank sum is at
    least as far from its mean. ``exact`` is False where the normal approximation stands in for it.
    """

    u: float
    p: float
    exact: bool


def rank_test(a: Floats, b: Floats) -> RankTest:
    """Compare two non-empty arrays of finite samples by their ranks.

    Above `MOST_EXACT` samples p is the normal approximation, corrected for ties and continuity.
    """
    doubled, ties = _doubled_midranks(np.concatenate([a, b]))
    u = float(doubled[len(a) :].sum()) / 2 - len(b) * (len(b) + 1) / 2
    exact = len(doubled) <= MOST_EXACT
    p = _exact_p(doubled, len(a)) if exact else _normal_p(u, len(a), len(b), ties)
    return RankTest(u, p, exact)


def smallest_p(n1: int, n2: int) -> float:
    """The smallest two-sided p that sets of these sizes can reach, whatever their samples."""
    return min(1.0, 2 / comb(n1 + n2, n1))


def _doubled_midranks(values: Floats) -> tuple[Ints, Floats]:
    """Twice the midranks, so that they are whole, and the sizes of the groups of equal values."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(sizes) - sizes + 1
    return doubled[group].astype(np.int64), sizes.astype(np.float64)


def _exact_p(doubled: Ints, n1: int) -> float:
    """Count, for each rank sum, the choices of ``n1`` samples that have it (in doubles: C(40, 20)
    is below 2**53)."""
    observed = int(doubled[:n1].sum())
    total = int(doubled.sum())
    ways = np.zeros((n1 + 1, total + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank]
    mean = n1 * (len(doubled) + 1)
    sums = np.arange(total + 1)
    extreme = np.abs(sums - mean) >= abs(observed - mean)
    return float(ways[n1, extreme].sum() / ways[n1].sum())


def _normal_p(u: float, n1: int, n2: int, ties: Floats) -> float:
    n = n1 + n2
    correction = float((ties**3 - ties).sum()) / (n * (n - 1))
    variance = n1 * n2 / 12 * (n + 1 - correction)
    distance = max(abs(u - n1 * n2 / 2) - 0.5, 0.0)
    return erfc(distance / sqrt(2 * variance)) if variance > 0 else 1.0


def counts_p(total_a: Floats, n_a: Floats, total_b: Floats, n_b: Floats) -> Floats:
    """The two-sided p-value of each row: twice the smaller tail, at most 1.

    ``total_*`` are sums of ``n_*`` counts, all of one length.
    """
    share = n_b / (n_a + n_b)
    with np.errstate(invalid="ignore"):
        below = np.where(total_a > 0, special.betaincc(total_b + 1, total_a, share), 1.0)
        above = np.where(total_b > 0, special.betainc(total_b, total_a + 1, share), 1.0)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)), np.float64)


def counts_limits(
    total_a: Floats, n_a: Floats, total_b: Floats, n_b: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Limits of the rate of B relative to A's, percent of A's rate; infinite where A counts none.

    They exclude 0 where `counts_p` is below 1 − ``confidence`` / 100.
    """
    tail = (1 - confidence / 100) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(total_b > 0, special.betaincinv(total_b, total_a + 1, tail), 0.0)
        high = np.where(total_a > 0, special.betaincinv(total_b + 1, total_a, 1 - tail), 1.0)
        ratios = [np.where(share < 1, share / (1 - share), np.inf) for share in (low, high)]
    lowest, highest = (100 * (ratio * n_a / n_b - 1) for ratio in ratios)
    return np.asarray(lowest, np.float64), np.asarray(highest, np.float64)
