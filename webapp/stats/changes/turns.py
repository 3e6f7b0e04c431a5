"""Where levels begin, and how revisions scatter and remember around them: by turns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale
from webapp.stats.changes.noise import EFFICIENCY
from webapp.stats.changes.points import FINEST, Floats
from webapp.stats.changes.scatter import (
    Guess,
    inflation_of,
    partition,
    variance_of,
    with_guess,
)

LEAD = 4.0
"""Twice the log likelihood by which a curve must be better than steps alone: where the two cannot
be distinguished, it is steps."""

LEFT_OUT = 4.0
"""Standard deviations from its level at which a revision is left out, whole, of the mean."""

EFFICIENT = 0.91
"""Efficiency of a mean with biweights that are zero at `LEFT_OUT` (Beaton and Tukey 1974)."""

PENALTY = 13.0
"""What a change of level costs, in variances of one revision. From simulated series alone
(`standing`, `calm`, `stepping`): with 12 a machine that wanders has a third more false ones, with
14 its steps are found less often than asked."""

YOUNG = 60
"""Revisions below which a change costs less, for it has fewer places: twice the logarithm of their
ratio, so that the chance of a false one anywhere stays what it is."""

CAP = 17.3
"""What one revision costs at most, however far off, in the same unit: less than two changes cost,
so that one revision alone is never a level; two agreeing ones are, where both are far off."""

LEAST = 2
"""Revisions of a level."""

FEW_ODD, ODD = 2, 0.04
"""Revisions, and share of all, that may be left out of their levels. Where more are, odd ones
recur, and two neighbours that agree come by chance: they are no level either, as no revision then
costs more than a change. Heavy tails leave out one or two in a hundred."""

STATE_WIDTH, BESIDE = 0.25, 2
"""Distance of neighbouring levels that are tried, in standard deviations (half of it is lost at
most, 1/64 of a variance a revision), and how many on either side of each revision are."""

MOST_CELLS = 100_000
"""Levels between the lowest and the highest revision up to which they are looked up in a table."""

PASSES, SAME_BY, FINEST_MOVE = 4, 0.01, 1e-8
"""Times that levels and scatter are estimated by turns, at most; and share of themselves, and
standard deviation besides, by which scatter and memory may still move when they are settled."""


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
    """Return the levels of `values`, (revisions,), that begin at `starts`.

    `scatter` is the standard deviation of each revision. Values far from a level weigh less, and
    nothing from `LEFT_OUT` on. The first guess is the median.
    """
    stops = [*starts[1:], len(values)]
    ordered = values.copy()
    medians = []
    for start, stop in zip(starts, stops, strict=True):
        ordered[start:stop].sort()
        medians.append((ordered[(start + stop - 1) // 2] + ordered[(start + stop) // 2]) / 2)
    first, centres = np.array(starts), np.array(medians)
    level = numbers_of(starts, len(values))
    off = biweighted(values, scatter, level, centres, partial(np.add.reduceat, indices=first))
    residuals = off / scatter
    return Fit(values, starts, centres, off, residuals, np.abs(residuals) < LEFT_OUT)


def numbers_of(starts: list[int], count: int) -> NDArray[np.intp]:
    """Return the number of each revision's level, (count,), where levels begin at `starts`."""
    begins = np.zeros(count, dtype=np.intp)
    begins[starts[1:]] = 1
    return begins.cumsum()


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


@dataclass(slots=True)
class NoiseState:
    """What is known of a series' noise while its levels are looked for."""

    scatter: Floats
    inflation: float
    freedom: Floats
    calm: list[int]
    guesses: list[Guess]
    jumps: Floats
    price: float
    doubt: Floats
    cap: float = CAP


def by_turns(locations: Floats, state: NoiseState) -> list[int]:
    """Estimate levels, scatter and memory by turns; return where levels begin.

    A turn that misses a step finds it again as memory, which hides more steps in the next turn. So
    an earlier turn counts where its levels and memory explain the series better, by `LEAD` in twice
    the log likelihood. `state` then holds the noise around these levels.
    """
    turns: list[tuple[Fit, float, Floats]] = []
    for _ in range(PASSES):
        former = state.inflation, float(state.scatter[-1])
        fit = fit_levels(locations, state.scatter, starts_of(locations, state))
        if state.cap == CAP and (~fit.inside).sum() > max(FEW_ODD, ODD * len(locations)):
            state.cap = PENALTY
            fit = fit_levels(locations, state.scatter, starts_of(locations, state))
        state.inflation = inflation_of(_drawn_in(fit.residuals))
        state.scatter = _around(fit, state)
        turns.append((fit, state.inflation, state.scatter))
        now = state.inflation, float(state.scatter[-1])
        moves = (abs(b - a) - SAME_BY * abs(b) for a, b in zip(former, now, strict=True))
        if max(moves) <= FINEST_MOVE:
            break
    if any(one.starts != fit.starts for one, _, _ in turns):
        costs = [cost_of(one, scatter) for one, _, scatter in turns]
        if min(costs) < costs[-1] - LEAD:
            fit, state.inflation, state.scatter = turns[int(np.argmin(costs))]
    return fit.starts


def cost_of(fit: Fit, scatter: Floats) -> float:
    """Return what levels and the memory around them leave as twice the negative log likelihood, and
    what levels cost: of innovations of an AR(1) process, no revision counting as further off than
    `LEFT_OUT`.
    """
    off = _drawn_in(fit.off / scatter)[None]
    left = float(unexplained(off, np.ones_like(off, dtype=bool))[0])
    left += 2 * float(np.log(scatter).sum())
    return left + price_of(len(scatter)) * (len(fit.starts) - 1)


def _drawn_in(residuals: Floats) -> Floats:
    return np.minimum(np.maximum(residuals, -LEFT_OUT), LEFT_OUT)


def scatter_of(differences: Floats, calm: list[int], guesses: list[Guess]) -> tuple[Floats, Floats]:
    """Return the standard deviation of each revision by differences, and its degrees of freedom."""
    count = len(differences) + 1
    scatter, freedom = np.empty(count), np.empty(count)
    for first, stop, guess in zip(calm, [*calm[1:], count], guesses, strict=True):
        squares = differences[first : stop - 1] ** 2 / 2
        own = EFFICIENCY * len(squares)
        variance, freedom[first:stop] = with_guess(variance_of(squares), own, guess)
        scatter[first:stop] = sqrt(variance)
    return scatter, freedom


def price_of(count: int) -> float:
    """Return what a change of level costs in a series of `count` revisions."""
    return PENALTY - 2 * log(max(YOUNG / count, 1.0))


def doubt_of(freedom: Floats, calm: list[int]) -> Floats:
    """Return by what the scatter of each revision is multiplied for what is known of it so far: so
    that a gap which just pays has the normal score that it would have if the scatter were known.
    """
    price = price_of(len(freedom))
    return np.array(
        [sqrt(scale.as_student(sqrt(price), one) / price) for one in freedom[calm].tolist()]
    ).repeat(np.diff([*calm, len(freedom)]))


def starts_of(locations: Floats, state: NoiseState) -> list[int]:
    """Return where levels of `locations` begin, by what is known of their noise."""
    price, scatter = state.price, state.scatter * state.doubt
    width = STATE_WIDTH * float(scatter.min())
    off = np.subtract.outer(locations, _cells(np.round(locations / width)) * width)
    off /= scatter[:, None]
    off *= off
    np.minimum(off, state.cap * price / PENALTY, out=off)
    prices = np.maximum(price * state.inflation - state.jumps, price)
    return partition(off, prices, LEAST)[0]


def _cells(occupied: Floats) -> Floats:
    """Return the numbers of the occupied cells (whole numbers) and of those beside them."""
    least = float(occupied.min())
    span = float(occupied.max()) - least
    if span > MOST_CELLS:
        cells = np.unique(occupied)
        return np.unique(np.concatenate([cells + i for i in range(-BESIDE, BESIDE + 1)]))
    is_near = np.zeros(int(span) + 2 * BESIDE + 1, dtype=bool)
    at = (occupied - least).astype(np.intp)
    for i in range(2 * BESIDE + 1):
        is_near[at + i] = True
    return np.asarray(np.flatnonzero(is_near) + (least - BESIDE), dtype=np.float64)


def _around(fit: Fit, state: NoiseState) -> Floats:
    """The standard deviation of each revision around its level."""
    count = len(fit.off)
    scatter = np.empty(count)
    begins = np.zeros(count, dtype=bool)
    begins[fit.starts] = True
    stops = [*state.calm[1:], count]
    for first, stop, guess in zip(state.calm, stops, state.guesses, strict=True):
        kept = fit.off[first:stop][fit.inside[first:stop]]
        own = max(len(kept) - max(int(begins[first:stop].sum()), 1), 0)
        variance = variance_of(kept**2) * len(kept) / own if own else 0.0
        variance, _ = with_guess(variance, EFFICIENCY * own, guess)
        scatter[first:stop] = sqrt(variance)
    return scatter


def unexplained(off: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return what levels and the memory around them leave, as twice the negative log likelihood,
    row by row: `off` are the distances from levels, (rows, revisions), those not `inside` left out.

    Of innovations of an AR(1) process whose coefficient is that of the distances.
    """
    pairs = inside[:, 1:] & inside[:, :-1]
    now, before = off[:, 1:] * pairs, off[:, :-1] * pairs
    count = np.add.reduce(pairs, axis=1)
    squares = np.einsum("ij,ij->i", before, before)
    rho = np.einsum("ij,ij->i", now, before) / np.maximum(squares, FINEST**2)
    innovations = now - np.maximum(rho, 0.0)[:, None] * before
    left = np.einsum("ij,ij->i", innovations, innovations) / np.maximum(count, 1)
    return np.asarray(count * np.log(np.maximum(left, FINEST**2)))
