"""Series that move by and by: a trend or a slow wave, where it explains more than steps do."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webapp.stats.levels.partition import Floats

TREND_PRICE, TERM_PRICE = 6.0, 6.0
"""What a trend, and each term of a wave, must save in twice the log likelihood. A step costs twice
as much, for it also has a place. With 12 for a trend, one in four series that lose 5 % over 200
revisions is not told by the 120th (`slow`); `stepping` guards the other side."""

LEAD = 4.0
"""Twice the log likelihood by which a curve must be better than steps alone: where the two cannot
be told apart, it is steps."""

TERMS = (4, 8, 12)
"""Numbers of cosines that are tried: with n revisions the k-th has a period of 2 n / k."""

REVISIONS_A_TERM = 12
"""Revisions that there must be for each: shorter waves are levels."""

KEPT = 64
"""Lengths of series whose curves are kept: at most 75 kB each."""

WAVE_PRICE = 38.0
"""What a wave of one period costs: more than its terms and a place for the period (25), for levels
that return at equal distances look like one. With 30 one in four changes between levels of
thirty revisions is no longer told (`returning`); with 40 more is told of waves (`slow`)."""

A_WAVE = 3
"""What is estimated of it: two terms, and the period."""

LEAST_PERIODS = 2
"""Times that it must have been there: a single hump is a level that came and went."""

FINER = 8
"""Periods that are tried for each one more in the whole series: at most 1/16 of a period is missed
in all, which leaves 1/78 of the wave's variance."""

LEAST_STEPS = 2
"""Steps from which on a wave may explain them better; a trend may explain one."""


def curves_of(
    values: Floats, weights: Floats, kept: NDArray[np.bool_], steps: int
) -> list[tuple[Floats, float]]:
    """Return the curves to try for `values` that have so many steps, each with its price: `bases`,
    and behind the trend a wave of one period (`wave_of`), where the series is long enough.

    `weights` are reciprocals of standard deviations; revisions that are not `kept` do not count.
    """
    curves = bases(len(values), steps)
    wave = wave_of(values, weights, kept) if steps >= LEAST_STEPS else None
    return curves if wave is None else [curves[0], (wave, WAVE_PRICE), *curves[1:]]


def wave_of(values: Floats, weights: Floats, kept: NDArray[np.bool_]) -> Floats | None:
    """Return cosine and sine, (revisions, 2), of the period that explains most of `values`.

    It is the highest peak of the periodogram (Schuster 1898). None where the series does not hold
    two of the shortest ones that are tried. Arguments are those of `curves_of`.
    """
    count = len(values)
    most = count * FINER // (A_WAVE * REVISIONS_A_TERM)
    least = LEAST_PERIODS * FINER
    weight = np.where(kept, weights * weights, 0.0)
    total = float(weight.sum())
    if most < least or not total:
        return None
    centred = weight * (values - float(weight @ values) / total)
    power = np.abs(np.fft.rfft(centred, FINER * count)[least : most + 1])
    often = (least + int(power.argmax())) / FINER
    angle = 2 * np.pi * often * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def bases(count: int, steps: int) -> list[tuple[Floats, float]]:
    """Return the curves to try for `count` revisions with so many steps, each with its price.

    A curve is a matrix of shape (revisions, terms).
    """
    if not steps:
        return []
    curves = _bases(count)
    return curves if steps >= LEAST_STEPS else curves[:1]


@lru_cache(maxsize=KEPT)
def _bases(count: int) -> list[tuple[Floats, float]]:
    """All of them: the trend, then the waves. Nobody writes to them."""
    index = (np.arange(count) + 0.5) / count
    curves = [((index - 0.5)[:, None], TREND_PRICE)]
    for terms in TERMS:
        if terms * REVISIONS_A_TERM <= count:
            waves = np.cos(np.pi * index[:, None] * np.arange(1, terms + 1))
            curves.append((waves, terms * TERM_PRICE))
    for curve, _ in curves:
        curve.setflags(write=False)
    return curves


def fitted(
    values: Floats, weights: Floats, basis: Floats, starts: list[int], kept: NDArray[np.bool_]
) -> Floats:
    """Return the curve of `basis` that fits values best beside levels that begin at `starts`.

    `weights` are reciprocals of standard deviations; revisions that are not `kept` do not count.
    """
    weight = np.where(kept, weights * weights, 0.0)
    # Levels are taken out of both sides first (Frisch and Waugh 1933): one column for each would
    # make a series of many levels cost a hundred times as much.
    both, _ = _within_levels(np.column_stack([basis, values]), weight, starts)
    both *= np.sqrt(weight)[:, None]
    solution = np.linalg.lstsq(both[:, :-1], both[:, -1], rcond=None)[0]
    return np.asarray(basis @ solution)


def variances_of_gaps(weights: Floats, basis: Floats, starts: list[int]) -> Floats:
    """Return what the error of a curve of `basis` adds to the variance of each gap between levels.

    `weights` are reciprocals of standard deviations, 0 where a revision does not count. The means
    of levels are independent of the curve's coefficients, which are estimated inside levels: the
    gap of two has the variance of both means and that of what the curve makes of their distance.
    """
    within, means = _within_levels(basis, weights * weights, starts)
    within *= weights[:, None]
    covariance = np.linalg.pinv(within.T @ within)
    apart = np.diff(means, axis=0)
    return np.asarray(np.einsum("ij,jk,ik->i", apart, covariance, apart))


def _within_levels(columns: Floats, weight: Floats, starts: list[int]) -> tuple[Floats, Floats]:
    """Return columns less their weighted mean of each level, and those means, (levels, columns)."""
    level = np.searchsorted(starts, np.arange(len(columns)), side="right") - 1
    total = np.maximum(np.bincount(level, weight), np.finfo(float).tiny)
    means = np.stack([np.bincount(level, weight * one) / total for one in columns.T], axis=1)
    return columns - means[level], means
