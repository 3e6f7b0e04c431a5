"""The levels of stretches that are given: as measured, and no odd revision moves them far."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from webapp.stats.levels.partition import Floats

LEFT_OUT = 4.0
"""Standard deviations from its level at which a revision is left out, whole, of the mean."""

EFFICIENT = 0.91
"""Efficiency of a mean with biweights that are zero at `LEFT_OUT` (Beaton and Tukey 1974): one
revision moves the mean of eleven by a tenth of its deviation at most."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Levels that begin at `starts`, one each in `centres`, and what of `values` they leave.

    `off` is the distance of each revision from its level, `residuals` the same in standard
    deviations; those that are not `inside` of `LEFT_OUT` are left out.
    """

    values: Floats
    starts: list[int]
    centres: Floats
    off: Floats
    residuals: Floats
    inside: NDArray[np.bool_]


def fit_levels(values: Floats, scatter: Floats, starts: list[int]) -> Fit:
    """Return the levels that begin at `starts`, as `values` were measured, (revisions,).

    `scatter` is the standard deviation of each revision. Values far from a level weigh less, and
    nothing from `LEFT_OUT` on: a whole revision is left out. The first guess is the median.
    """
    stops = [*starts[1:], len(values)]
    ordered = values.copy()
    medians = []
    for start, stop in zip(starts, stops, strict=True):
        ordered[start:stop].sort()
        medians.append((ordered[(start + stop - 1) // 2] + ordered[(start + stop) // 2]) / 2)
    first, centres = np.array(starts), np.array(medians)
    level = np.repeat(np.arange(len(starts)), np.diff([*starts, len(values)]))
    off = biweighted(values, scatter, level, centres, partial(np.add.reduceat, indices=first))
    residuals = off / scatter
    return Fit(values, starts, centres, off, residuals, np.abs(residuals) < LEFT_OUT)


def biweighted(
    values: Floats,
    scatter: Floats,
    level: NDArray[np.intp],
    centres: Floats,
    sums: Callable[[Floats], Floats],
) -> Floats:
    """Return the distances of `values`, (…, revisions), from their levels.

    `centres`, (…, levels), are first guesses, and overwritten; revision i is of the level
    `level[i]`. `sums` adds up, level by level, what there is for each revision.
    """
    weights, far = scatter**-2.0, LEFT_OUT * scatter
    for _ in range(3):
        off = values - centres.take(level, axis=-1)
        off /= far
        off *= off
        biweights = np.subtract(1, off, out=off)
        np.maximum(biweights, 0.0, out=biweights)
        biweights *= biweights
        biweights *= weights
        total = sums(biweights)
        biweights *= values
        np.divide(sums(biweights), total, out=centres, where=total > 0)
    return np.asarray(values - centres.take(level, axis=-1))


def variances_of(fit: Fit, scatter: Floats) -> Floats:
    """Return the variance of each level, (levels,), if revisions had no memory."""
    weights, far = scatter**-2.0, LEFT_OUT * scatter
    kept = np.add.reduceat(np.where(np.abs(fit.off) < far, weights, 0.0), fit.starts)
    most = np.maximum.reduceat(weights, fit.starts)
    return np.asarray(1 / (EFFICIENT * np.where(kept > 0, kept, most)))
