"""The Mann–Whitney test, exact for small sets with or without ties.

Mann and Whitney, 1947; ties by midranks and the permutation distribution of the rank sum.
"""

from dataclasses import dataclass
from math import comb, erfc, sqrt

import numpy as np
from numpy.typing import NDArray

MOST_EXACT = 40
"""Up to this many samples on both sides together the p-value is exact."""


@dataclass(frozen=True, slots=True)
class RankTest:
    """``u`` counts the pairs in which the second side is larger, ties as one half.

    ``p`` is two-sided: the share of all ways to deal the samples to the sides whose rank sum is at
    least as far from its mean. ``exact`` is False where the normal approximation stands in for it.
    """

    u: float
    p: float
    exact: bool


def rank_test(a: NDArray[np.float64], b: NDArray[np.float64]) -> RankTest:
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


def _doubled_midranks(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Twice the midranks, so that they are whole, and the sizes of the groups of equal values."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(sizes) - sizes + 1
    return doubled[group].astype(np.int64), sizes.astype(np.float64)


def _exact_p(doubled: NDArray[np.int64], n1: int) -> float:
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


def _normal_p(u: float, n1: int, n2: int, ties: NDArray[np.float64]) -> float:
    n = n1 + n2
    correction = float((ties**3 - ties).sum()) / (n * (n - 1))
    variance = n1 * n2 / 12 * (n + 1 - correction)
    distance = max(abs(u - n1 * n2 / 2) - 0.5, 0.0)
    return erfc(distance / sqrt(2 * variance)) if variance > 0 else 1.0
