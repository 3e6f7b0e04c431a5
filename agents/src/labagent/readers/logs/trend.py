"""Whether a series that should scatter around one level rises or falls.

The Mann-Kendall test (Mann 1945, Kendall 1975) with Sen's slope (1968), both by ranks, so that odd
seconds do not matter. What follows on each other is alike, which makes trends out of nothing: the
variance is that of a series of first-order autocorrelation φ, larger by (1 + φ)/(1 − φ). φ is
estimated from the ranks of what a parabola leaves: a straight line would leave the bend of a slow
approach to the level, and take it for autocorrelation.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import sub

MOST_BLOCKS = 100
"""A longer series is first put together into the means of so many blocks: the pairs of 100 are
4,950."""

FEWEST = 10
"""Values below which nothing is tested: even ten in perfect order stay below `DECISIVE`."""

DECISIVE = 4.7
"""Standard deviations that a trend needs. By simulation (tests/readers/logs/test_trend.py) at most
1 of 1000 series without a trend has it, of any length and with an autocorrelation up to 0.8."""

_MOST_PHI = 0.99
_ODD = 4.0
"""Scales from the median beyond which a value is odd: one of 16,000 of a normal distribution."""


@dataclass(frozen=True)
class Trend:
    """`change` is that of the line from the first value to the last, in the values' unit; `z` the
    standard deviations of Mann and Kendall's statistic with their sign; `phi` the autocorrelation.
    """

    change: float
    z: float
    phi: float

    @property
    def is_decisive(self) -> bool:
        """Whether it is more than scatter."""
        return abs(self.z) >= DECISIVE


def find_trend(values: Sequence[float], least_change: float = 0.0) -> Trend | None:
    """The trend of values in their order; None of fewer than `FEWEST`, where all are equal, or
    where it is smaller than ``least_change``, in the unit of the values."""
    if len(values) < FEWEST or len(set(values)) == 1:
        return None
    blocks = _blocks(values)
    if not _may_change(blocks, least_change):
        return None
    slope = _sen_slope(blocks)
    change = slope * (len(blocks) - 1)
    if abs(change) < least_change:
        return None
    rest = _bounded([value - slope * at for at, value in enumerate(blocks)])
    phi = _autocorrelation(_without_parabola(rest))
    deviation = math.sqrt(_variance(blocks) * (1 + phi) / (1 - phi))
    return Trend(change, _kendall(blocks) / deviation, phi)


def _blocks(values: Sequence[float]) -> list[float]:
    count = min(len(values), MOST_BLOCKS)
    edges = [len(values) * at // count for at in range(count + 1)]
    return [statistics.fmean(values[start:end]) for start, end in pairwise(edges)]


def _may_change(values: Sequence[float], least: float) -> bool:
    """Whether Sen's line may change by ``least`` or more; of most series it is quickly told that it
    does not. The median of the slopes of all pairs reaches a slope where half of them do, and
    those that do are the pairs in order once a line of that slope is taken off."""
    pairs = len(values) * (len(values) - 1) // 2
    step = least * (1 - 1e-9) / (len(values) - 1)
    rising = [value - step * at for at, value in enumerate(values)]
    falling = [-value - step * at for at, value in enumerate(values)]
    return 2 * _in_order(rising) >= pairs or 2 * _in_order(falling) >= pairs


def _in_order(values: Sequence[float]) -> int:
    """Pairs of which the later one is not the smaller."""
    count = 0
    before: list[float] = []
    for value in values:
        place = bisect_right(before, value)
        count += place
        before.insert(place, value)
    return count


def _sen_slope(values: Sequence[float]) -> float:
    slopes: list[float] = []
    for steps in range(1, len(values)):
        slopes += [rise / steps for rise in map(sub, values[steps:], values)]
    return statistics.median(slopes)


def _kendall(values: Sequence[float]) -> int:
    """How many more pairs rise than fall."""
    return sum(
        (later > value) - (later < value)
        for at, value in enumerate(values)
        for later in values[at + 1 :]
    )


def _variance(values: Sequence[float]) -> float:
    """Of `_kendall` in a series without trend and without memory, with ties (Kendall 1975)."""
    ties = Counter(values).values()
    terms = sum(_pairs_term(count) for count in ties)
    return (_pairs_term(len(values)) - terms) / 18


def _pairs_term(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


def _bounded(rest: Sequence[float]) -> list[float]:
    """Odd values moved to `_ODD` scales from the median: squares would bend the parabola to them.
    The scale is the median of absolute deviations, as a standard deviation (Hampel 1974)."""
    middle = statistics.median(rest)
    scale = 1.4826 * statistics.median(abs(value - middle) for value in rest)
    most = _ODD * scale
    return [min(max(value, middle - most), middle + most) for value in rest]


def _without_parabola(values: Sequence[float]) -> list[float]:
    """What the parabola of least squares leaves, by orthogonal polynomials."""
    middle = (len(values) - 1) / 2
    flat = [1.0] * len(values)
    line = [at - middle for at in range(len(values))]
    square = statistics.fmean(at * at for at in line)
    bend = [at * at - square for at in line]
    rest = list(values)
    for term in (flat, line, bend):
        share = _product(rest, term) / _product(term, term)
        rest = [value - share * one for value, one in zip(rest, term, strict=True)]
    return rest


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _autocorrelation(rest: Sequence[float]) -> float:
    """φ of lag 1 by ranks, from 0 on. In n values around a fitted parabola the estimate is too low
    by about (3 + 6φ)/n, as by (2 + 4φ)/n around a line (Marriott and Pope 1954)."""
    ranks = _ranks(rest)
    whole = sum(rank * rank for rank in ranks)
    if whole == 0:
        return 0.0
    found = sum(rank * after for rank, after in pairwise(ranks)) / whole
    count = len(ranks)
    return min(max((found + 3 / count) / (1 - 6 / count), 0.0), _MOST_PHI)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks around 0; equal values share theirs."""
    first: dict[float, int] = {}
    for at, value in enumerate(sorted(values)):
        first.setdefault(value, at)
    middle = (len(values) - 1) / 2
    counts = Counter(values)
    return [first[value] + (counts[value] - 1) / 2 - middle for value in values]
