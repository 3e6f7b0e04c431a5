"""Counts, such as packets dropped in a run: the exact test of two sums, and limits of their ratio.

Where one side has a zero, means of a few counts are far from normal. Given both sums together, the
second is binomial if both come from one Poisson rate (Przyborowski and Wilenski, 1940); limits of
the share, and so of the ratio of rates, by Clopper and Pearson (1934). Counts that scatter more
than Poisson's would pass too often, so this stands beside Student's t and never in its place.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

MOST = 2.0**53
"""Whole numbers below are exact in a double."""


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
