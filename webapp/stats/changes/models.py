"""Shapes that explain a stretch of revisions: one step, or a line that bends.

All functions take values on the log scale, shape (n,), and are exact for equal weights.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_SIDE = 2
"""Revisions on either side of a break: one revision alone is never a level."""

LEAST_RAMP = 10
"""Revisions that a drift must last before it is told from a step."""

TAIL_FREEDOM = 5.0
"""Degrees of freedom of the t density that weighs where a break lies: an odd revision
beside it must not pull it along."""


def best_split(values: Floats, weights: Floats) -> tuple[int, float]:
    """Return the best first index of the right side, and the gain in the sum of squares.

    The gain is wL wR / (wL + wR) (mR - mL)², the drop of the weighted sum of squares when two
    means replace one; needs at least 2 * LEAST_SIDE values.
    """
    mass = np.cumsum(weights)
    total = np.cumsum(weights * values)
    left, rest = mass[:-1], mass[-1] - mass[:-1]
    gap = (total[-1] - total[:-1]) / rest - total[:-1] / left
    gain = left * rest / mass[-1] * gap * gap
    inner = gain[LEAST_SIDE - 1 : len(gain) - (LEAST_SIDE - 1)]
    at = int(np.argmax(inner))
    return at + LEAST_SIDE, float(inner[at])


def best_bend(values: Floats) -> tuple[int, float, float]:
    """Return where a level line best bends into a ramp, the ramp's slope, and the gain.

    The ramp is 1 at the returned index and grows by one slope per revision. Least squares for
    every bend at once, from suffix sums; (0, 0, 0) when there are fewer than LEAST_RAMP values.
    """
    n = len(values)
    if n < LEAST_RAMP:
        return 0, 0.0, 0.0
    centred = values - values.mean()
    tails = np.cumsum(np.cumsum(centred[::-1]))[::-1]
    length = n - np.arange(n, dtype=float)
    sums = length * (length + 1) / 2
    squares = sums * (2 * length + 1) / 3 - sums * sums / n
    squares[squares <= 0] = np.inf
    gain = tails * tails / squares
    gain[n - LEAST_RAMP + 1 :] = 0.0
    at = int(np.argmax(gain))
    return at, float(tails[at] / squares[at]), float(gain[at])


def best_bend_of(values: Floats, slope: float) -> tuple[int, float]:
    """Return where a level line best bends into a ramp of a given slope, and the gain.

    With the slope given, the gain is that of best_bend less what the wrong slope loses.
    """
    n = len(values)
    centred = values - values.mean()
    tails = np.cumsum(np.cumsum(centred[::-1]))[::-1]
    length = n - np.arange(n, dtype=float)
    sums = length * (length + 1) / 2
    squares = sums * (2 * length + 1) / 3 - sums * sums / n
    gain = 2 * slope * tails - slope * slope * squares
    at = int(np.argmax(gain[1:])) + 1
    return at, float(gain[at])


def where(before: Floats, after: Floats, inflation: float) -> Floats:
    """Return the probability that the right side begins at each index 0..n (n: after the last).

    `before` and `after` are each value's residuals from the old and the new line, in standard
    deviations; the density is Student's t, and memory makes each revision count for less.
    """
    gain = np.log1p(after * after / TAIL_FREEDOM)
    gain -= np.log1p(before * before / TAIL_FREEDOM)
    gain *= -(TAIL_FREEDOM + 1) / 2 / inflation
    mass = np.zeros(len(gain) + 1)
    np.add.accumulate(gain[::-1], out=mass[-2::-1])
    mass -= np.maximum.reduce(mass)
    np.exp(mass, out=mass)
    mass /= np.add.reduce(mass)
    return mass


def shortest_range(mass: Floats, share: float) -> tuple[int, int]:
    """Return first and last index of the range around the best that holds `share` of `mass`.

    Grown from the best index towards the likelier neighbour.
    """
    low = high = int(np.argmax(mass))
    covered = float(mass[low])
    while covered < share and (low > 0 or high < len(mass) - 1):
        down = float(mass[low - 1]) if low > 0 else -1.0
        up = float(mass[high + 1]) if high < len(mass) - 1 else -1.0
        if up > down:
            high, covered = high + 1, covered + up
        else:
            low, covered = low - 1, covered + down
    return low, high
