"""Levels: the stretches of a series without a change, by a loss that no lone revision can pay."""

from dataclasses import dataclass
from math import inf, isclose

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale
from webapp.stats.changes.points import FINEST
from webapp.stats.levels.curve import LEAD, curves_of, fitted, variances_of_gaps
from webapp.stats.levels.fitting import Fit, fit_levels, variances_of
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.rollouts import MOVE_PRICE, Rollout, rollouts, straightened
from webapp.stats.levels.scatter import guesses_of, inflation_of_mean, jumps_of, stretches
from webapp.stats.levels.screen import Screen, unexplained
from webapp.stats.levels.turns import (
    CAP,
    PENALTY,
    State,
    by_turns,
    cost_of,
    doubt_of,
    price_of,
    scatter_of,
    starts_of,
)

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
    scatter, freedom = scatter_of(np.diff(locations), calm, guesses)
    if freedom.max() < scale.LEAST_FREEDOM:
        return None
    jumps, price = jumps_of(locations, scatter), price_of(count)
    doubt = doubt_of(freedom, calm)
    state = State(scatter, 1.0, freedom, calm, guesses, jumps, price, doubt)
    starts = by_turns(locations, state)
    fit = fit_levels(locations, state.scatter, starts)
    curve, basis = _best_curve(locations, state, fit)
    if basis is not None:
        starts = by_turns(locations - curve, state)
        fit = fit_levels(locations - curve, state.scatter, starts)
        # These levels need not be those that the curve was fitted beside; sizes are of both.
        curve = fitted(locations, 1 / state.scatter, basis, starts, fit.inside)
        fit = fit_levels(locations - curve, state.scatter, starts)
    costs = price * state.inflation, CAP * price / PENALTY
    moves = rollouts(fit, state.scatter, state.jumps > 0, costs)
    moves = [one for one in moves if _pays(one, fit, state)]
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


def _pays(move: Rollout, fit: Fit, state: State) -> bool:
    """Whether it explains the series better than its steps do, memory around them included: two
    steps of a machine that wanders look like a move.
    """
    values, starts = straightened(fit.values, fit, [move])
    other = fit_levels(values, state.scatter, starts)
    return cost_of(other, state.scatter) + MOVE_PRICE < cost_of(fit, state.scatter)


def _unexplained(fit: Fit) -> float:
    """What levels leave (`unexplained`), and what they cost."""
    left = unexplained(fit.off[None], fit.inside[None])
    return float(left[0]) + PENALTY * (len(fit.starts) - 1)


def _best_curve(locations: Floats, state: State, alone: Fit) -> tuple[Floats, Floats | None]:
    """The curve that explains the series better than the levels `alone`, and its basis; 0 and None
    where none does.
    """
    chosen: tuple[Floats, Floats | None] = np.zeros(len(locations)), None
    best = _unexplained(alone) - LEAD
    curves = curves_of(locations, 1 / state.scatter, alone.inside, len(alone.starts) - 1)
    if not curves:
        return chosen
    screen = Screen(locations, state.scatter, alone, [basis for basis, _ in curves])
    mosts, of_steps = screen.beside_all(), PENALTY * (len(alone.starts) - 1)
    # All at once: each call costs far more than another row in it.
    unsure = [
        number
        for number, ((_, price), most) in enumerate(zip(curves, mosts, strict=True))
        if most + price < best <= most + of_steps + price
    ]
    fewer = dict(zip(unsure, screen.beside_fewer(unsure), strict=True))
    for number, ((basis, price), most) in enumerate(zip(curves, mosts, strict=True)):
        # With all the levels it explains the most that it can: not worth looking for fewer, where
        # even as if none were left to pay for it would be worse.
        if most + price >= best:
            continue
        pays = most + of_steps + price < best
        if not pays and min(fewer.get(number) or screen.beside_fewer([number])[0]) - most >= SPARED:
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
    locations: Floats, state: State, basis: Floats, found: tuple[Floats, Fit]
) -> tuple[Floats, Fit]:
    """The trend `basis` and its levels, without those that cost more than they explain.

    By turns curve and levels share between them what either could explain: a slope that was fitted
    beside steps too many stays too flat, and keeps them.
    """
    curve, fit = found
    while len(fit.starts) > 1:
        (joined,) = Screen(locations, state.scatter, fit, [basis]).beside_fewer([0])
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
    state: State,
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
        starts = starts_of(flat, state)
        fit = fit_levels(flat, state.scatter, starts)
        kept = fit.inside
        is_settled = starts == former and np.array_equal(kept, kept_before)
        if is_settled or (most < inf and _unexplained(fit) > most):
            break
    return curve, fit


def _levels(state: State, fit: Fit) -> list[Level]:
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


def _freedoms(state: State, starts: list[int]) -> list[float]:
    """The degrees of freedom behind each level: by weight, where its scatter changed."""
    weights = state.scatter**-2.0
    together = np.add.reduceat(weights * state.freedom, starts)
    found: list[float] = (together / np.add.reduceat(weights, starts)).tolist()
    return found
