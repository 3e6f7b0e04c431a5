"""Levels: the stretches of a series without a change, by a loss that no lone revision can pay, and
the moves over several revisions between them.
"""

from dataclasses import dataclass
from math import inf, isclose

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale, turns
from webapp.stats.changes.curves import (
    best_curve,
    fitted,
    index_of_bend,
    unexplained,
    variances_of_gaps,
)
from webapp.stats.changes.points import FINEST, Floats
from webapp.stats.changes.scatter import guesses_of, inflation_of_mean, jumps_of, stretches

SHORTEST, LONGEST = 3, 28
"""Revisions between both levels of a move: with fewer it is a step whose place is not sure, with
more a slow loss or gain, or levels of their own."""

MOVE_PRICE = 7.0
"""What a move costs more than a step, in variances of one revision: it has a second place."""

EARLIER, LATER = 7, 3
"""Revisions by which a move may begin before the first step that it replaces, and after it; and end
after the last one, and before it."""

AROUND = 32
"""Revisions of each level that take part."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """From level `before` to level `after`, `gap` apart, by and by: revisions `first` to before
    `stop` are of neither, and lie on the line between both.
    """

    before: int
    after: int
    first: int
    stop: int
    gap: float


def rollouts(fit: turns.Fit, state: turns.NoiseState) -> list[Rollout]:
    """Return the moves that explain `fit` better than its levels do, in order, none beside another,
    by what is known of the noise around it.
    """
    found: list[Rollout] = []
    number = 0
    while number < len(fit.starts) - 1:
        move = _from(fit, state, number)
        if move is not None:
            found.append(move)
        number = number + 1 if move is None else move.after
    return found


def straightened(values: Floats, fit: turns.Fit, moves: list[Rollout]) -> tuple[Floats, list[int]]:
    """Return `values` as if every move had been a step half way, and where levels begin then."""
    values, starts = values.copy(), dict.fromkeys(fit.starts)
    for move in moves:
        for number in range(move.before + 1, move.after + 1):
            starts.pop(fit.starts[number], None)
        middle = (move.first + move.stop) // 2
        starts[middle] = None
        line = _line(move.stop - move.first)
        is_after = np.arange(move.first, move.stop) >= middle
        values[move.first : move.stop] += move.gap * (is_after - line)
    return values, sorted(starts)


def _line(length: int) -> Floats:
    """The share of a move that each of its revisions has come."""
    return np.arange(1, length + 1) / (length + 1)


def _from(fit: turns.Fit, state: turns.NoiseState, number: int) -> Rollout | None:
    """The longest move that begins with level `number`; None where levels explain more."""
    starts = fit.starts
    for last in range(len(starts) - 1, number, -1):
        between = starts[number + 1 : last + 1]
        if between[-1] - between[0] > LONGEST or (state.jumps[between] > 0).any():
            continue
        steps = np.diff(fit.centres[number : last + 1])
        if (steps > 0).all() or (steps < 0).all():
            move = _best(fit, state, number, last)
            if move is not None:
                return move
    return None


def _best(fit: turns.Fit, state: turns.NoiseState, number: int, last: int) -> Rollout | None:
    """The best move from level `number` to level `last`."""
    price, cap = state.price * state.inflation, state.cap * state.price / turns.PENALTY
    starts = [*fit.starts, len(fit.values)]
    low = max(starts[number], starts[number + 1] - AROUND)
    high = min(starts[last + 1], starts[last] + AROUND)
    rows = slice(low, high)
    each = state.scatter[rows]
    off = fit.off[rows] / each
    steps = float(np.minimum(off * off, cap).sum()) + price * (last - number)
    firsts, stops = _ends(starts, number, last)
    if not len(firsts):
        return None
    share = np.add.outer(1.0 - firsts, np.arange(low, high))
    share /= (stops + 1 - firsts)[:, None]
    np.minimum(np.maximum(share, 0.0, out=share), 1.0, out=share)
    gaps, left = _fitted(fit.values[rows], np.where(fit.inside[rows], each**-2.0, 0.0), share)
    left /= each
    left *= left
    left = np.add.reduce(np.minimum(left, cap, out=left), axis=1)
    at = int(left.argmin())
    if left[at] + price + MOVE_PRICE >= steps:
        return None
    return Rollout(number, last, int(firsts[at]), int(stops[at]), float(gaps[at]))


def _fitted(values: Floats, weights: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return the gap of the two levels between which `values`, (revisions,), have come by `share`,
    (moves, revisions), by least squares, and what each move leaves of them.
    """
    mass, total = max(float(weights.sum()), FINEST), float(weights @ values)
    moved = share @ weights
    squares = np.maximum((share * share) @ weights - moved * moved / mass, FINEST * mass)
    gaps = (share @ (weights * values) - moved * (total / mass)) / squares
    left = values - share * gaps[:, None]
    left -= ((total - gaps * moved) / mass)[:, None]
    return gaps, left


def _ends(starts: list[int], number: int, last: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where a move from level `number` to `last` may begin, and where it may end, pair by pair."""
    # No further than half of a level: the next move may begin in its other half.
    first_half = (starts[number] + starts[number + 1]) // 2 + 1
    last_half = (starts[last] + starts[last + 1]) // 2
    firsts = np.arange(max(starts[number + 1] - EARLIER, first_half), starts[number + 1] + LATER)
    stops = np.arange(starts[last] - LATER, min(starts[last] + EARLIER, last_half) + 1)
    firsts, stops = (one.ravel() for one in np.meshgrid(firsts, stops, indexing="ij"))
    kept = (stops - firsts >= SHORTEST) & (stops - firsts <= LONGEST)
    return firsts[kept], stops[kept]


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
    `bend` is the revision at which the curve bends, if it is a trend that does.
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
    bend: int | None = None


def levels_of(
    locations: Floats, within: Floats, share: float, finest: float = FINEST
) -> Levels | None:
    """Return the levels of log `locations`, (revisions,); None where too little is known.

    `within` is the variance of one sample inside a build, revision by revision (NaN: not known),
    `share` one over the samples of a typical revision: the guess where differences are few.
    `finest` is the smallest standard deviation of a revision that is believed.
    """
    calm = stretches(locations, within, finest)
    guesses = guesses_of(within, share, calm, finest)
    scatter, freedom = turns.scatter_of(np.diff(locations), calm, guesses)
    if freedom.max() < scale.LEAST_FREEDOM:
        return None
    jumps, price = jumps_of(locations, scatter), turns.price_of(len(locations))
    doubt = turns.doubt_of(freedom, calm)
    state = turns.NoiseState(scatter, 1.0, freedom, calm, guesses, jumps, price, doubt)
    starts = turns.by_turns(locations, state)
    fit = turns.fit_levels(locations, state.scatter, starts)
    moves = _paying(fit, state)
    curve, basis = best_curve(locations, state, fit, _cost_of(moves, fit, state))
    if basis is not None:
        starts = turns.by_turns(locations - curve, state)
        fit = turns.fit_levels(locations - curve, state.scatter, starts)
        # These levels need not be those that the curve was fitted beside; sizes are of both.
        curve = fitted(locations, 1 / state.scatter, basis, starts, fit.inside)
        fit = turns.fit_levels(locations - curve, state.scatter, starts)
        moves = _paying(fit, state)
    if moves:
        values, starts = straightened(fit.values, fit, moves)
        fit = turns.fit_levels(values, state.scatter, starts)
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
        index_of_bend(basis),
    )


def _paying(fit: turns.Fit, state: turns.NoiseState) -> list[Rollout]:
    return [one for one in rollouts(fit, state) if _pays(one, fit, state)]


def _cost_of(moves: list[Rollout], fit: turns.Fit, state: turns.NoiseState) -> float:
    """What levels leave unexplained, with the moves between them."""
    if not moves:
        return inf
    values, starts = straightened(fit.values, fit, moves)
    return unexplained(turns.fit_levels(values, state.scatter, starts)) + MOVE_PRICE * len(moves)


def _pays(move: Rollout, fit: turns.Fit, state: turns.NoiseState) -> bool:
    """Whether it explains the series better than its steps do, memory around them included: two
    steps of a machine that wanders look like a move.
    """
    values, starts = straightened(fit.values, fit, [move])
    other = turns.fit_levels(values, state.scatter, starts)
    return turns.cost_of(other, state.scatter) + MOVE_PRICE < turns.cost_of(fit, state.scatter)


def _levels(state: turns.NoiseState, fit: turns.Fit) -> list[Level]:
    starts, variances = fit.starts, turns.variances_of(fit, state.scatter)
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


def _freedoms(state: turns.NoiseState, starts: list[int]) -> list[float]:
    """The degrees of freedom behind each level: by weight, where its scatter changed."""
    weights = state.scatter**-2.0
    together = np.add.reduceat([weights * state.freedom, weights], starts, axis=1)
    found: list[float] = (together[0] / together[1]).tolist()
    return found
