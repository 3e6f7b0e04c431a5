"""One range of revisions against another: by their levels, with a variance that knows builds and
memory.

Each measured revision is one value: what its build, its boots and its runs scatter is all in how
revisions scatter within the ranges. Neighbours may resemble one another, so the variance of a mean
is that of an AR(1) series whose memory is estimated from both ranges, corrected for its bias
(Marriott and Pope 1954) and taken one standard error larger, for short ranges do not determine it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, isfinite, sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from webapp.stats.arrays import Floats
from webapp.stats.false_discovery import LEVEL, gate

FEWEST = 5
"""Measured revisions of a range, at least: with fewer its scatter is a guess."""

MOST_MEMORY = 0.9
"""Beyond it a mean of so few revisions is next to no evidence."""

LEFT_OUT = 5.0
"""Robust standard deviations from its range's median at which a revision is left out, whole: an
excursion is no level."""

ENOUGH = 10
"""Revisions from which on one may be left out: of fewer the scatter does not show which is an
outlier."""

MAD_TO_SD = 1.4826
LEAST_SCATTER = 1e-6
"""Of logarithms: equal values are no proof that nothing scatters."""


@dataclass(frozen=True, slots=True)
class Range:
    """The level of a range, in the metric's unit, from `count` revisions without the `left_out`."""

    level: float
    count: int
    left_out: int


@dataclass(frozen=True, slots=True)
class RangeChange:
    """`b` against `a` in percent with the 95 % interval; `p_value` is two-sided, with `freedom`
    degrees of freedom; `memory` is the AR(1) coefficient that was allowed for.
    """

    a: Range
    b: Range
    pct: float
    low_pct: float
    high_pct: float
    p_value: float
    memory: float
    freedom: float


def compare_ranges(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> list[RangeChange | None]:
    """Return the second range against the first of each series: one value a revision in order along
    the tree, (revisions,). All series are read together, for few revisions do not determine their
    memory and others of the same tree help.

    Values of zero or less do not count. None where a range has fewer than `FEWEST` left.
    """
    kept = [[_kept(one) for one in pair] for pair in pairs]
    enough = [min(len(values) for values, _ in sides) >= FEWEST for sides in kept]
    of_all = _memory(
        [
            one / max(float(np.std(one)), LEAST_SCATTER)
            for sides, is_enough in zip(kept, enough, strict=True)
            if is_enough
            for one in _residuals(sides)
        ]
    )
    return [
        _compared(sides, max(of_all, _memory(_residuals(sides)))) if is_enough else None
        for sides, is_enough in zip(kept, enough, strict=True)
    ]


def _residuals(sides: Sequence[tuple[Floats, int]]) -> list[Floats]:
    return [kept - kept.mean() for kept, _ in sides]


def _compared(sides: Sequence[tuple[Floats, int]], memory: float) -> RangeChange:
    inflations = [_inflation(len(kept), memory) for kept, _ in sides]
    variance = _scatter(_residuals(sides), inflations)
    error = sqrt(
        sum(variance * by / len(kept) for (kept, _), by in zip(sides, inflations, strict=True))
    )
    # As many revisions as the means of independent ones would need.
    effective = sum(len(kept) / by for (kept, _), by in zip(sides, inflations, strict=True))
    freedom = max(effective - 2, 2.0)
    gap = float(sides[1][0].mean() - sides[0][0].mean())
    margin = float(stdtrit(freedom, 0.975)) * error
    levels = [Range(exp(float(kept.mean())), len(kept), left_out) for kept, left_out in sides]
    pct, low, high = (100 * expm1(log) for log in (gap, gap - margin, gap + margin))
    p_value = 2 * float(stdtr(freedom, -abs(gap) / error))
    return RangeChange(levels[0], levels[1], pct, low, high, p_value, memory, freedom)


def verdicts(
    changes: Sequence[RangeChange | None], gains: Sequence[bool], margin_pct: float
) -> list[str]:
    """Return ``better``, ``worse``, ``equivalent`` or ``cannot tell`` of each, gated over all.

    `gains`: of each, whether the level of `b` is the better one. Better and worse pass the gate
    of Benjamini and Hochberg at 5 %; equivalent ones lie within `margin_pct` to both sides (95 %).
    """
    known = [one for one in changes if one is not None]
    passed = iter(gate([one.p_value for one in known], LEVEL))
    verdicts = []
    for one, is_gain in zip(changes, gains, strict=True):
        if one is None:
            verdicts.append("cannot tell")
            continue
        is_equivalent = -margin_pct < one.low_pct and one.high_pct < margin_pct
        if next(passed).passes and not is_equivalent:
            verdicts.append("better" if is_gain else "worse")
        else:
            verdicts.append("equivalent" if is_equivalent else "cannot tell")
    return verdicts


def _kept(values: Sequence[float]) -> tuple[Floats, int]:
    """The logarithms that count, and how many revisions are left out."""
    logs = np.log([value for value in values if value > 0 and isfinite(value)])
    if len(logs) < ENOUGH:
        return logs, 0
    off = np.abs(logs - np.median(logs))
    sd = max(MAD_TO_SD * float(np.median(off)), LEAST_SCATTER)
    kept = logs[off <= LEFT_OUT * sd]
    return kept, len(logs) - len(kept)


def _memory(residuals: Sequence[Floats]) -> float:
    """The AR(1) coefficient to allow for: the estimate of both ranges without its bias towards
    less, and one standard error more; between 0 and `MOST_MEMORY`.
    """
    count = sum(len(one) for one in residuals)
    square = sum(float(one @ one) for one in residuals)
    if square <= 0:
        return 0.0
    found = sum(float(one[1:] @ one[:-1]) for one in residuals) / square
    ranges = len(residuals)
    unbiased = (found * count + ranges) / max(count - 3 * ranges, 1)
    return float(np.clip(unbiased + 1 / sqrt(count), 0.0, MOST_MEMORY))


def _inflation(count: int, memory: float) -> float:
    """How many times larger the variance of a mean is than that of independent revisions."""
    lags = np.arange(1, count)
    return float(1 + 2 * np.sum((1 - lags / count) * memory**lags))


def _scatter(residuals: Sequence[Floats], inflations: Sequence[float]) -> float:
    """The variance of one revision. What neighbours share their range's mean takes away."""
    square = sum(float(one @ one) for one in residuals)
    freedom = sum(len(one) - by for one, by in zip(residuals, inflations, strict=True))
    return max(square / max(freedom, 1.0), LEAST_SCATTER**2)
