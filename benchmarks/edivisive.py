"""E-divisive, slowly: the reference that MongoDB's and Otava's detectors come from.

Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
data", Journal of the American Statistical Association 109 (2014), for one dimension and alpha 1:
the split that maximises the scaled energy distance, tested by permutations inside its segment,
and so on in the parts.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST = 2
"""Values on either side of a change."""


def changes(
    values: Floats, level: float = 0.01, permutations: int = 199, seed: int = 1
) -> list[int]:
    """Return the first index after each change, ascending."""
    rng = np.random.default_rng(seed)
    segments, found = [(0, len(values))], []
    while segments:
        first, last = segments.pop()
        if last - first < 2 * LEAST:
            continue
        part = values[first:last]
        distances = np.abs(part[:, None] - part[None, :])
        at, statistic = _best(distances)
        if not _is_significant(distances, statistic, level, permutations, rng):
            continue
        found.append(first + at)
        segments += [(first, first + at), (first + at, last)]
    return sorted(found)


def _best(distances: Floats) -> tuple[int, float]:
    """Return the best split and its statistic, equation (7) of the paper with kappa = n.

    Q = m n / (m + n) (2 E|X - Y| - E|X - X'| - E|Y - Y'|), the last two over distinct pairs.
    """
    n = len(distances)
    inside = np.cumsum(np.cumsum(distances, axis=0), axis=1)
    m = np.arange(LEAST, n - LEAST + 1)
    left = inside[m - 1, m - 1]
    both = inside[m - 1, n - 1]
    total = inside[n - 1, n - 1]
    between = both - left
    right = total - left - 2 * between
    k = n - m
    statistic = 2 * between / (m * k) - left / (m * (m - 1)) - right / (k * (k - 1))
    statistic = m * k / n * statistic
    best = int(np.argmax(statistic))
    return int(m[best]), float(statistic[best])


def _is_significant(
    distances: Floats, statistic: float, level: float, permutations: int, rng: np.random.Generator
) -> bool:
    """Return whether (beaten + 1) / (permutations + 1) is at most the level.

    Stops as soon as it cannot be any more, which changes no answer.
    """
    beaten = 0
    for _ in range(permutations):
        order = rng.permutation(len(distances))
        beaten += _best(distances[np.ix_(order, order)])[1] >= statistic
        if beaten + 1 > level * (permutations + 1):
            return False
    return True
