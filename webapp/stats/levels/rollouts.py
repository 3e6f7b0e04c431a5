"""Changes that came over several revisions: one move, not a step, nor a staircase of levels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes.points import FINEST
from webapp.stats.levels.fitting import Fit
from webapp.stats.levels.partition import Floats

LONGEST = 16
"""Revisions of a move at most: a slower one is a slow loss or gain, or levels of their own."""

SHORTEST = 3
"""Revisions between both levels at least: with fewer it is a step whose place is not sure."""

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


def rollouts(
    fit: Fit, scatter: Floats, is_jump: NDArray[np.bool_], costs: tuple[float, float]
) -> list[Rollout]:
    """Return the moves that explain `fit` better than its levels do, in order, none beside another.

    `scatter` is the standard deviation of each revision, and `is_jump` whether its neighbours alone
    show that it begins a level. `costs` are those of a level more, and of a revision at most, in
    variances of one revision.
    """
    found: list[Rollout] = []
    number = 0
    while number < len(fit.starts) - 1:
        move = _from(fit, scatter, is_jump, number, costs)
        if move is not None:
            found.append(move)
        number = number + 1 if move is None else move.after
    return found


def straightened(values: Floats, fit: Fit, moves: list[Rollout]) -> tuple[Floats, list[int]]:
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


def _from(
    fit: Fit,
    scatter: Floats,
    is_jump: NDArray[np.bool_],
    number: int,
    costs: tuple[float, float],
) -> Rollout | None:
    """The longest move that begins with level `number`; None where levels explain more."""
    starts = fit.starts
    for last in range(len(starts) - 1, number, -1):
        between = starts[number + 1 : last + 1]
        if between[-1] - between[0] > LONGEST or is_jump[between].any():
            continue
        steps = np.diff(fit.centres[number : last + 1])
        if (steps > 0).all() or (steps < 0).all():
            move = _best(fit, scatter, (number, last), costs)
            if move is not None:
                return move
    return None


def _best(
    fit: Fit, scatter: Floats, ends: tuple[int, int], costs: tuple[float, float]
) -> Rollout | None:
    number, last = ends
    price, cap = costs
    starts = [*fit.starts, len(fit.values)]
    low = max(starts[number], starts[number + 1] - AROUND)
    high = min(starts[last + 1], starts[last] + AROUND)
    rows = slice(low, high)
    each = scatter[rows]
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
