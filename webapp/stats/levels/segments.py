"""Levels: the stretches of a series without a change, by a loss that no lone revision can pay."""

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale
from webapp.stats.levels.curve import LEAD, bases, fitted, variances_of_gaps
from webapp.stats.levels.partition import Floats, partition
from webapp.stats.levels.scatter import (
    EFFICIENCY,
    FINEST,
    first_inflation,
    inflation_of,
    stretches,
    variance_of,
)

PENALTY = 12.0
"""What a change of level costs, in variances of one revision. From the rows without a change
(`calm`, `stepping`): with 10 steps among noise have twice the false ones, with 14 clean steps a
lower F1."""

YOUNG = 60
"""Revisions below which a change costs less, for it has fewer places: twice the logarithm of their
ratio, so that the chance of a false one anywhere stays what it is."""

CAP = 16.0
"""What one revision costs at most, however far off, in the same unit: less than two changes cost,
so that one revision alone is never a level; two agreeing ones are, where both are far off."""

LEAST = 2
"""Revisions of a level."""

STATE_WIDTH = 0.25
"""Distance of neighbouring levels that are tried, in standard deviations: half of it is lost at
most, 1/64 of a variance a revision."""

LEFT_OUT = 4.0
"""Standard deviations from its level at which a revision is left out, whole, of the mean."""

EFFICIENT = 0.91
"""Efficiency of a mean with biweights that are zero at `LEFT_OUT` (Beaton and Tukey 1974): one
revision moves the mean of eleven by a tenth of its deviation at most."""

LEVELS_LEAD = 12.0
"""Twice the log likelihood by which memory must explain a series better than levels that return.
With 4 more insertions into `returning` overturn everything; AR(1) in `calm` guards the other
side."""

PASSES = 4
"""Times that levels and scatter are estimated by turns."""

CURVE_PASSES = 3
"""Times that a curve and the levels beside it are, at most."""

GUESS, GUESS_HALVES = 2.0, 6.0
"""Degrees of freedom of the guess that builds scatter as runs do, and revisions after which half
is left; it fades as in `changes.noise`."""


@dataclass(frozen=True, slots=True)
class Level:
    """Revisions `first` to before `stop` at log level `level`, whose mean has `variance`.

    `count` of them were not left out. Where the series moves by and by, the curve comes on top.
    """

    first: int
    stop: int
    level: float
    variance: float
    count: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a series, and how its revisions scatter around them.

    `scatter` is the standard deviation of each revision, `inflation` what memory makes of the
    variance of a mean, `freedom` the degrees of freedom; `residuals` are in standard deviations.
    `calm` are the first revisions of stretches of equal scatter, `curve` how the series moves by
    and by, and `of_curve` what it adds to the variance of each gap between two levels.
    """

    levels: tuple[Level, ...]
    scatter: Floats
    inflation: float
    freedom: float
    residuals: Floats
    calm: tuple[int, ...]
    curve: Floats
    of_curve: tuple[float, ...]


def levels_of(locations: Floats, within: Floats, share: float) -> Levels | None:
    """Return the levels of log `locations`, (revisions,); None where too little is known.

    `within` is the variance of one sample inside a build, revision by revision (0: not known),
    `share` one over the samples of a typical revision: the guess where differences are few.
    """
    count = len(locations)
    if count < scale.LEAST_REVISIONS:
        return None
    calm = stretches(locations, within)
    guesses = _guesses(within, share, calm)
    scatter, freedom = _scatter(np.diff(locations), calm, guesses)
    if freedom < scale.LEAST_FREEDOM:
        return None
    state, starts = _levels_or_memory(locations, _State(scatter, 1.0, freedom, calm, guesses))
    curve, basis = _best_curve(locations, state, starts)
    if basis is not None:
        starts = _by_turns(locations - curve, state)
    _, residuals = _means(locations - curve, state.scatter, starts)
    of_curve = np.zeros(len(starts) - 1)
    if basis is not None:
        weights = np.where(np.abs(residuals) < LEFT_OUT, 1 / state.scatter, 0.0)
        of_curve = state.inflation * variances_of_gaps(weights, basis, starts)
    return Levels(
        tuple(_levels(locations - curve, state, residuals, starts)),
        state.scatter,
        state.inflation,
        freedom,
        residuals,
        tuple(calm),
        curve,
        tuple(of_curve.tolist()),
    )


@dataclass(slots=True)
class _State:
    """What is known of a series' noise while its levels are looked for."""

    scatter: Floats
    inflation: float
    freedom: float
    calm: list[int]
    guesses: list[tuple[float, float]]


def _levels_or_memory(locations: Floats, state: _State) -> tuple[_State, list[int]]:
    """Return where levels begin, and the noise then, whichever of two beginnings explains more.

    Levels that return and memory look alike: what is found depends on which is allowed for first.
    """
    remembers = replace(state, inflation=first_inflation(locations))
    starts = _by_turns(locations, state)
    if remembers.inflation <= 1.0:
        return state, starts
    others = _by_turns(locations, remembers)
    if _unexplained(locations, remembers, others) + LEVELS_LEAD < _unexplained(
        locations, state, starts
    ):
        return remembers, others
    return state, starts


def _unexplained(locations: Floats, state: _State, starts: list[int]) -> float:
    """What levels and the memory around them leave, as twice the negative log likelihood.

    Of innovations of an AR(1) process whose coefficient is that of the residuals.
    """
    means, residuals = _means(locations, state.scatter, starts)
    off = locations - means
    kept = np.abs(residuals) < LEFT_OUT
    pairs = kept[1:] & kept[:-1]
    now, before = off[1:][pairs], off[:-1][pairs]
    if not len(now):
        return 0.0
    rho = max(float(now @ before) / max(float(before @ before), FINEST**2), 0.0)
    left = float(((now - rho * before) ** 2).mean())
    return len(now) * log(max(left, FINEST**2)) + PENALTY * (len(starts) - 1)


def _guesses(within: Floats, share: float, calm: list[int]) -> list[tuple[float, float]]:
    """The variance of a revision in each stretch if builds scatter as runs do, and its weight."""
    parts = (within[first:stop] for first, stop in zip(calm, [*calm[1:], len(within)], strict=True))
    known = [float(np.median(part[part > 0])) if (part > 0).any() else 0.0 for part in parts]
    return [(one * (1 + share), GUESS if one else 0.0) for one in known]


def _by_turns(locations: Floats, state: _State) -> list[int]:
    """Estimate levels, scatter and memory by turns; return where levels begin."""
    for _ in range(PASSES):
        starts = _starts(locations, state)
        means, residuals = _means(locations, state.scatter, starts)
        former = state.inflation, float(state.scatter[-1])
        state.inflation = inflation_of(np.clip(residuals, -LEFT_OUT, LEFT_OUT))
        inside = np.abs(residuals) < LEFT_OUT
        state.scatter = _around(locations - means, inside, starts, state)
        now = state.inflation, float(state.scatter[-1])
        if np.allclose(former, now, rtol=0.01):
            break
    return starts


def _best_curve(
    locations: Floats, state: _State, starts: list[int]
) -> tuple[Floats, Floats | None]:
    """The curve that explains the series better than the levels alone, which begin at `starts`, and
    its basis; 0 and None where none does.
    """
    chosen: tuple[Floats, Floats | None] = np.zeros(len(locations)), None
    best = _unexplained(locations, state, starts) - LEAD
    steps = PENALTY * (len(starts) - 1)
    _, residuals = _means(locations, state.scatter, starts)
    kept = np.abs(residuals) < LEFT_OUT
    for basis, price in bases(len(locations), len(starts) - 1):
        # With all the levels it explains the most that it can: not worth looking for fewer, where
        # even as if none were left to pay for it would be worse.
        beside = fitted(locations, 1 / state.scatter, basis, starts, kept)
        if _unexplained(locations - beside, state, starts) - steps + price >= best:
            continue
        # A slope against the steps hides without them; a wave hides beside too many.
        for first in ([0], starts):
            curve, left = _curve(locations, state, basis, first)
            cost = _unexplained(locations - curve, state, left) + price
            if cost < best:
                best, chosen = cost, (curve, basis)
    return chosen


def _curve(
    locations: Floats, state: _State, basis: Floats, starts: list[int]
) -> tuple[Floats, list[int]]:
    """The curve of `basis` beside the levels that are left with it, and where those begin.

    It is fitted beside levels that begin at `starts` first.
    """
    _, residuals = _means(locations, state.scatter, starts)
    kept = np.ones(len(locations), dtype=bool) if len(starts) == 1 else np.abs(residuals) < LEFT_OUT
    for _ in range(CURVE_PASSES):
        curve = fitted(locations, 1 / state.scatter, basis, starts, kept)
        former, starts, kept_before = starts, _starts(locations - curve, state), kept
        _, residuals = _means(locations - curve, state.scatter, starts)
        kept = np.abs(residuals) < LEFT_OUT
        if starts == former and np.array_equal(kept, kept_before):
            break
    return curve, starts


def _scatter(
    differences: Floats, calm: list[int], guesses: list[tuple[float, float]]
) -> tuple[Floats, float]:
    """The standard deviation of each revision by differences alone, and degrees of freedom."""
    count = len(differences) + 1
    scatter = np.empty(count)
    freedom = 0.0
    for first, stop, guess in zip(calm, [*calm[1:], count], guesses, strict=True):
        squares = differences[first : stop - 1] ** 2 / 2
        own = EFFICIENCY * len(squares)
        variance, freedom = _with_guess(variance_of(squares), own, guess)
        scatter[first:stop] = sqrt(variance)
    return scatter, freedom


def _with_guess(variance: float, own: float, guess: tuple[float, float]) -> tuple[float, float]:
    expected, weight = guess
    weight /= 1 + (1.5 * own / GUESS_HALVES) ** 2
    freedom = own + weight
    if not freedom:
        return FINEST**2, 0.0
    return max((own * variance + weight * expected) / freedom, FINEST**2), freedom


def _starts(locations: Floats, state: _State) -> list[int]:
    """Where levels begin."""
    scatter = state.scatter
    price = PENALTY - 2 * log(max(YOUNG / len(locations), 1.0))
    penalty = scale.as_student(sqrt(price), state.freedom)
    cap = CAP * penalty / PENALTY
    width = STATE_WIDTH * float(scatter.min())
    cells = np.unique(np.round(locations / width))
    states = np.unique(np.concatenate([cells + i for i in range(-2, 3)])) * width
    off = (locations[:, None] - states) / scatter[:, None]
    starts, _ = partition(np.minimum(off * off, cap), penalty * state.inflation, LEAST)
    return starts


def _means(locations: Floats, scatter: Floats, starts: list[int]) -> tuple[Floats, Floats]:
    """The level of each revision, and its residual in standard deviations."""
    levels, _ = _each_mean(locations, scatter, starts)
    means = np.repeat(levels, np.diff([*starts, len(locations)]))
    return means, (locations - means) / scatter


def _each_mean(values: Floats, scatter: Floats, starts: list[int]) -> tuple[Floats, Floats]:
    """Return the level of each stretch as it was measured, and its variance without memory.

    Values far from it weigh less, and nothing from `LEFT_OUT` on: a whole revision is left out.
    """
    sizes = np.diff([*starts, len(values)])
    level = np.repeat(np.arange(len(starts)), sizes)
    ordered = values[np.lexsort((values, level))]
    first = np.array(starts)
    middle = (ordered[first + (sizes - 1) // 2] + ordered[first + sizes // 2]) / 2
    weights, far = scatter**-2.0, LEFT_OUT * scatter
    for _ in range(3):
        off = (values - middle[level]) / far
        biweights = weights * np.maximum(1 - off * off, 0.0) ** 2
        total = np.add.reduceat(biweights, first)
        sums = np.add.reduceat(biweights * values, first)
        middle = np.divide(sums, total, out=middle, where=total > 0)
    kept = np.add.reduceat(np.where(np.abs(values - middle[level]) < far, weights, 0.0), first)
    most = np.maximum.reduceat(weights, first)
    return middle, 1 / (EFFICIENT * np.where(kept > 0, kept, most))


def _around(
    residuals: Floats, inside: NDArray[np.bool_], starts: list[int], state: _State
) -> Floats:
    """The standard deviation of each revision around its level."""
    count = len(residuals)
    scatter = np.empty(count)
    begins = np.zeros(count, dtype=bool)
    begins[starts] = True
    stops = [*state.calm[1:], count]
    for first, stop, guess in zip(state.calm, stops, state.guesses, strict=True):
        kept = residuals[first:stop][inside[first:stop]]
        own = max(len(kept) - max(int(begins[first:stop].sum()), 1), 0)
        variance = variance_of(kept**2) * len(kept) / own if own else 0.0
        variance, _ = _with_guess(variance, EFFICIENCY * own, guess)
        scatter[first:stop] = sqrt(variance)
    return scatter


def _levels(locations: Floats, state: _State, residuals: Floats, starts: list[int]) -> list[Level]:
    means, variances = _each_mean(locations, state.scatter, starts)
    kept = np.add.reduceat((np.abs(residuals) < LEFT_OUT).astype(np.intp), starts)
    stops = [*starts[1:], len(locations)]
    return [
        Level(
            first, stop, level, variance * _inflation_of_mean(state.inflation, max(count, 1)), count
        )
        for first, stop, level, variance, count in zip(
            starts, stops, means.tolist(), variances.tolist(), kept.tolist(), strict=True
        )
    ]


def _inflation_of_mean(inflation: float, count: int) -> float:
    """What memory makes of the variance of a mean of `count` revisions (of AR(1) in the limit)."""
    a = (inflation - 1) / (inflation + 1)
    return float(inflation - 2 * a * (1 - a**count) / (count * (1 - a) ** 2))
