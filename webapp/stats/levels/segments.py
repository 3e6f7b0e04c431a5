"""Levels: the stretches of a series without a change, by a loss that no lone revision can pay."""

from dataclasses import dataclass
from math import inf, isclose, log, sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale
from webapp.stats.changes.points import FINEST
from webapp.stats.levels.curve import LEAD, curves_of, fitted, variances_of_gaps
from webapp.stats.levels.fitting import LEFT_OUT, Fit, fit_levels, variances_of
from webapp.stats.levels.partition import Floats, partition_of_sums, sums_of
from webapp.stats.levels.rollouts import rollouts, straightened
from webapp.stats.levels.scatter import (
    EFFICIENCY,
    Guess,
    guesses_of,
    inflation_of,
    inflation_of_mean,
    jumps_of,
    stretches,
    variance_of,
    with_guess,
)
from webapp.stats.levels.screen import Screen, unexplained

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

BESIDE = 2
"""Levels that are tried on either side of each revision."""

MOST_CELLS = 100_000
"""Levels between the lowest and the highest revision up to which they are looked up in a table."""

PASSES = 4
"""Times that levels and scatter are estimated by turns, at most."""

SAME_BY, FINEST_MOVE = 0.01, 1e-8
"""Share of itself, and standard deviation besides, by which scatter and memory may still move when
their estimates are taken for settled."""

CURVE_PASSES = 3
"""Times that a curve and the levels beside it are, at most."""

HOPELESS = 6 * PENALTY
"""What a wave may cost more, after a turn, than the best that is known, to have another turn: most
of the time of a series of steps went into waves that explain nothing. Of 400 series, a third of
them with waves or odd revisions, none ends otherwise than without; with four times it are 3, with
twice it 9."""

SPARED = 2 * PENALTY
"""What a curve with one level less may leave unexplained more than with all of them, for fewer
levels to be looked for beside it. Of 800 series, half of them with slopes or waves, none ends
otherwise than where they are always looked for; with half of it two do."""

FREED = 4 * PENALTY
"""What steps that a curve does not need may make it cost, at most, beside the best that is known,
for them to be looked for. Of 600 series with slopes, waves, steps and walks, two waves beside many
steps end otherwise than where this and `SPARED` are no limits."""


@dataclass(frozen=True, slots=True)
class Level:
    """Revisions `first` to before `stop` at log level `level`, whose mean has `variance`, with
    `freedom` degrees of freedom.

    `count` of them were not left out. Where the series moves by and by, the curve comes on top.
    """

    first: int
    stop: int
    level: float
    variance: float
    freedom: float
    count: int


def freedom_between(before: Level, after: Level) -> float:
    """Return the degrees of freedom of the variance of the gap between two levels.

    Where both scatter alike they share one estimate; else by Welch (1947).
    """
    if isclose(before.freedom, after.freedom):
        return before.freedom
    one, other = before.variance, after.variance
    return (one + other) ** 2 / (one * one / before.freedom + other * other / after.freedom)


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a series, and how its revisions scatter around them.

    `scatter` is the standard deviation of each revision, `freedom` its degrees of freedom (both are
    those of a stretch of equal scatter), `inflation` what memory makes of the variance of a mean;
    `residuals` are in standard deviations.
    `calm` are the first revisions of stretches of equal scatter, `curve` how the series moves by
    and by, and `of_curve` what it adds to the variance of each gap between two levels. Levels whose
    numbers are in `rollouts` were reached over these revisions (first, and the one after the last).
    """

    levels: tuple[Level, ...]
    scatter: Floats
    inflation: float
    freedom: Floats
    residuals: Floats
    calm: tuple[int, ...]
    curve: Floats
    of_curve: tuple[float, ...]
    rollouts: dict[int, tuple[int, int]]


def levels_of(
    locations: Floats, within: Floats, share: float, finest: float = FINEST
) -> Levels | None:
    """Return the levels of log `locations`, (revisions,); None where too little is known.

    `within` is the variance of one sample inside a build, revision by revision (0: not known),
    `share` one over the samples of a typical revision: the guess where differences are few.
    `finest` is the smallest standard deviation of a revision that is believed.
    """
    count = len(locations)
    if count < scale.LEAST_REVISIONS:
        return None
    calm = stretches(locations, within, finest)
    guesses = guesses_of(within, share, calm, finest)
    scatter, freedom = _scatter(np.diff(locations), calm, guesses)
    if freedom.max() < scale.LEAST_FREEDOM:
        return None
    state = _State(scatter, 1.0, freedom, calm, guesses, jumps_of(locations, scatter))
    starts = _by_turns(locations, state)
    fit = fit_levels(locations, state.scatter, starts)
    curve, basis = _best_curve(locations, state, fit)
    if basis is not None:
        starts = _by_turns(locations - curve, state)
        fit = fit_levels(locations - curve, state.scatter, starts)
        # These levels need not be those that the curve was fitted beside; sizes are of both.
        curve = fitted(locations, 1 / state.scatter, basis, starts, fit.inside)
        fit = fit_levels(locations - curve, state.scatter, starts)
    price = _price(len(locations))
    costs = price * state.inflation, CAP * price / PENALTY
    moves = rollouts(fit, state.scatter, state.jumps > 0, costs)
    if moves:
        values, starts = straightened(fit.values, fit, moves)
        fit = fit_levels(values, state.scatter, starts)
    of_curve = np.zeros(len(fit.starts) - 1)
    if basis is not None:
        weights = np.where(fit.inside, 1 / state.scatter, 0.0)
        of_curve = state.inflation * variances_of_gaps(weights, basis, fit.starts)
    return Levels(
        tuple(_levels(state, fit)),
        state.scatter,
        state.inflation,
        freedom,
        fit.residuals,
        tuple(calm),
        curve,
        tuple(of_curve.tolist()),
        {fit.starts.index((one.first + one.stop) // 2): (one.first, one.stop) for one in moves},
    )


@dataclass(slots=True)
class _State:
    """What is known of a series' noise while its levels are looked for."""

    scatter: Floats
    inflation: float
    freedom: Floats
    calm: list[int]
    guesses: list[Guess]
    jumps: Floats


def _unexplained(fit: Fit) -> float:
    """What levels leave (`unexplained`), and what they cost."""
    left = unexplained(fit.off[None], fit.inside[None])
    return float(left[0]) + PENALTY * (len(fit.starts) - 1)


def _by_turns(locations: Floats, state: _State) -> list[int]:
    """Estimate levels, scatter and memory by turns; return where levels begin."""
    for _ in range(PASSES):
        starts = _starts(_sums(locations, state), state)
        fit = fit_levels(locations, state.scatter, starts)
        former = state.inflation, float(state.scatter[-1])
        drawn_in = np.minimum(np.maximum(fit.residuals, -LEFT_OUT), LEFT_OUT)
        state.inflation = inflation_of(drawn_in)
        state.scatter = _around(fit, state)
        now = state.inflation, float(state.scatter[-1])
        if all(_is_close(one, other) for one, other in zip(former, now, strict=True)):
            break
    return starts


def _is_close(former: float, now: float) -> bool:
    """Whether another turn would move it by about a percent at most."""
    return abs(former - now) <= SAME_BY * abs(now) + FINEST_MOVE


def _best_curve(locations: Floats, state: _State, alone: Fit) -> tuple[Floats, Floats | None]:
    """The curve that explains the series better than the levels `alone`, and its basis; 0 and None
    where none does.
    """
    chosen: tuple[Floats, Floats | None] = np.zeros(len(locations)), None
    best = _unexplained(alone) - LEAD
    curves = curves_of(locations, 1 / state.scatter, alone.inside, len(alone.starts) - 1)
    if not curves:
        return chosen
    screen = Screen(locations, state.scatter, alone, [basis for basis, _ in curves])
    for number, ((basis, price), most) in enumerate(zip(curves, screen.beside_all(), strict=True)):
        # With all the levels it explains the most that it can: not worth looking for fewer, where
        # even as if none were left to pay for it would be worse.
        if most + price >= best:
            continue
        pays = most + PENALTY * (len(alone.starts) - 1) + price < best
        if not pays and min(screen.beside_fewer(number)) - most >= SPARED:
            continue
        # A slope against the steps hides without them; a wave hides beside too many.
        everything = np.ones(len(locations), dtype=bool)
        for first, kept in (([0], everything), (alone.starts, alone.inside)):
            worst = inf if basis.shape[1] == 1 else best - price + HOPELESS
            curve, left = _curve(locations, state, basis, (first, kept), worst)
            cost = _unexplained(left) + price
            # Half of a wave with a step either way beside it would pass for a wave and a half.
            is_trend = basis.shape[1] == 1
            if is_trend and cost - min(PENALTY * (len(left.starts) - 1), FREED) < best:
                curve, left = _spared(locations, state, basis, (curve, left))
                cost = _unexplained(left) + price
            if cost < best:
                best, chosen = cost, (curve, basis)
    return chosen


def _spared(
    locations: Floats, state: _State, basis: Floats, found: tuple[Floats, Fit]
) -> tuple[Floats, Fit]:
    """The trend `basis` and its levels, without those that cost more than they explain.

    By turns curve and levels share between them what either could explain: a slope that was fitted
    beside steps too many stays too flat, and keeps them.
    """
    curve, fit = found
    while len(fit.starts) > 1:
        joined = Screen(locations, state.scatter, fit, [basis]).beside_fewer(0)
        at = int(np.argmin(joined)) + 1
        if joined[at - 1] + PENALTY * (len(fit.starts) - 2) >= _unexplained(fit) + SPARED:
            break
        starts = [*fit.starts[:at], *fit.starts[at + 1 :]]
        other, fewer = _curve(locations, state, basis, (starts, fit.inside), inf)
        if _unexplained(fewer) >= _unexplained(fit):
            break
        curve, fit = other, fewer
    return curve, fit


def _curve(
    locations: Floats,
    state: _State,
    basis: Floats,
    first: tuple[list[int], NDArray[np.bool_]],
    most: float,
) -> tuple[Floats, Fit]:
    """The curve of `basis`, and the levels that are left with it.

    It is fitted first beside levels that begin as `first` says, to the revisions that are kept.
    What leaves more than `most` unexplained after a turn has no other.
    """
    starts, kept = first
    for _ in range(CURVE_PASSES):
        curve = fitted(locations, 1 / state.scatter, basis, starts, kept)
        former, kept_before = starts, kept
        flat = locations - curve
        starts = _starts(_sums(flat, state), state)
        fit = fit_levels(flat, state.scatter, starts)
        kept = fit.inside
        is_settled = starts == former and np.array_equal(kept, kept_before)
        if is_settled or (most < inf and _unexplained(fit) > most):
            break
    return curve, fit


def _scatter(differences: Floats, calm: list[int], guesses: list[Guess]) -> tuple[Floats, Floats]:
    """The standard deviation of each revision by differences alone, and its degrees of freedom."""
    count = len(differences) + 1
    scatter, freedom = np.empty(count), np.empty(count)
    for first, stop, guess in zip(calm, [*calm[1:], count], guesses, strict=True):
        squares = differences[first : stop - 1] ** 2 / 2
        own = EFFICIENCY * len(squares)
        variance, freedom[first:stop] = with_guess(variance_of(squares), own, guess)
        scatter[first:stop] = sqrt(variance)
    return scatter, freedom


def _price(count: int) -> float:
    """What a change of level costs in a series of `count` revisions."""
    return PENALTY - 2 * log(max(YOUNG / count, 1.0))


def _unsure(state: _State, price: float) -> Floats:
    """By what the scatter of each revision is multiplied for what is known of it so far: so that a
    gap which just pays has the normal score that it would have if the scatter were known.
    """
    return np.array(
        [sqrt(scale.as_student(sqrt(price), one) / price) for one in state.freedom[state.calm]]
    ).repeat(np.diff([*state.calm, len(state.scatter)]))


def _sums(locations: Floats, state: _State) -> Floats:
    """What revisions cost at each level that is tried, added up along the series."""
    price = _price(len(locations))
    scatter = state.scatter * _unsure(state, price)
    width = STATE_WIDTH * float(scatter.min())
    off = np.subtract.outer(locations, _cells(np.round(locations / width)) * width)
    off /= scatter[:, None]
    off *= off
    return sums_of(np.minimum(off, CAP * price / PENALTY, out=off))


def _cells(occupied: Floats) -> Floats:
    """Return the numbers of the cells that are occupied (whole numbers) and of those beside them,
    two on either side.
    """
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


def _starts(sums: Floats, state: _State) -> list[int]:
    """Where levels begin, given the `_sums` of a series."""
    price = _price(len(state.scatter))
    prices = np.maximum(price * state.inflation - state.jumps, price)
    starts, _ = partition_of_sums(sums, prices, LEAST)
    return starts


def _around(fit: Fit, state: _State) -> Floats:
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


def _levels(state: _State, fit: Fit) -> list[Level]:
    starts, variances = fit.starts, variances_of(fit, state.scatter)
    kept = np.add.reduceat(fit.inside.astype(np.intp), starts).tolist()
    inflations = [inflation_of_mean(state.inflation, max(count, 1)) for count in kept]
    rows = zip(
        starts,
        [*starts[1:], len(fit.values)],
        fit.centres.tolist(),
        (variances * inflations).tolist(),
        _freedoms(state, starts),
        kept,
        strict=True,
    )
    return [Level(*row) for row in rows]


def _freedoms(state: _State, starts: list[int]) -> list[float]:
    """The degrees of freedom behind each level: by weight, where its scatter changed."""
    weights = state.scatter**-2.0
    together = np.add.reduceat(weights * state.freedom, starts)
    found: list[float] = (together / np.add.reduceat(weights, starts)).tolist()
    return found
