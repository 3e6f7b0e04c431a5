"""Where a change of level may have begun, and from which revision on it could be told."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import scale
from webapp.stats.levels.fitting import LEFT_OUT
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.segments import Level, Levels
from webapp.stats.levels.turns import LEAST

LOOK = 24
"""Revisions on either side of a change that may have been the first of it: at the gap that just
pays for a change, the chance that it lies further away is below one in a thousand."""

COVERED = 0.95
"""Probability that the revisions told hold the first one of the new level."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The likeliest first revision at a new level, `index`, and those that may be it.

    `chances` are (index, probability) of the 95 % interval, after the revision before it, with
    none. With revision `shown_by` the evidence was complete, by what is known of both levels.
    """

    index: int
    chances: tuple[tuple[int, float], ...]
    shown_by: int


def beginning_of(found: Levels, locations: Floats, number: int) -> Beginning:
    """Return where level `number` (from 1) of a series of log `locations` began.

    Every place in question is as likely as two levels explain the revisions on its sides. One that
    lies beyond both is of neither: a level never begins with it, though it may have brought it.
    """
    before, after = found.levels[number - 1], found.levels[number]
    if number in found.rollouts:
        return _during_rollout(found, before, after, number)
    # No further than half a level: two changes never change their order.
    first = max(after.first - min(LOOK, (after.first - before.first - 1) // 2), before.first + 1)
    stop = after.first + min(LOOK, (after.stop - after.first) // 2) + 1
    indices = np.arange(first, min(stop, after.stop))
    values = (locations - found.curve)[before.first : after.stop]
    scatter = found.scatter[before.first : after.stop]
    off = np.minimum(abs(values - before.level), abs(values - after.level))
    kept = off < LEFT_OUT * scatter
    # Of two revisions that do not agree neither lies at their level: then both count.
    border = after.first - before.first
    kept[:border] |= not kept[:border].any()
    kept[border:] |= not kept[border:].any()
    weights = np.where(kept, scatter**-2.0, 0.0)
    likely = _likely(values, weights, indices - before.first, found.inflation)
    low, high = _interval(likely)
    index = int(likely.argmax())
    while index < high and not kept[first + index - before.first]:
        index += 1
    chances = [(first - 1 + low, 0.0)]
    chances += [(first + i, float(likely[i])) for i in range(low, high + 1)]
    return Beginning(first + index, tuple(chances), _shown_by(found, before, after, first + index))


def _during_rollout(found: Levels, before: Level, after: Level, number: int) -> Beginning:
    """A change that came over several revisions, each of which may have brought a part."""
    first, stop = found.rollouts[number]
    chances = [(at, 1 / (stop - first + 1)) for at in range(first, stop + 1)]
    shown_by = _shown_by(found, before, after, after.first)
    return Beginning(after.first, ((first - 1, 0.0), *chances), shown_by)


def _likely(values: Floats, weights: Floats, indices: NDArray[np.intp], inflation: float) -> Floats:
    """The probability that the second of two levels of `values` begins at each of `indices`.

    The levels are unknown: the likelihood of each place is integrated over both. Memory leaves a
    jump as sharp as it is, and lets what follows stray: with the square root of its inflation of a
    mean, places are as likely as stated (`benchmarks.worlds.standing`).
    """
    mass, total = np.cumsum(weights), np.cumsum(weights * (values - values[0]))
    left, right = mass[indices - 1], mass[-1] - mass[indices - 1]
    sums = total[indices - 1]
    evidence = np.full(len(indices), -np.inf)
    known = (left > 0) & (right > 0)
    squares = sums[known] ** 2 / left[known] + (total[-1] - sums[known]) ** 2 / right[known]
    evidence[known] = squares / 2 / sqrt(inflation) - np.log(left[known] * right[known]) / 2
    likely = np.exp(evidence - evidence.max())
    return np.asarray(likely / likely.sum())


def _interval(likely: Floats) -> tuple[int, int]:
    """The ends of the likeliest places that hold `COVERED` together."""
    order = np.argsort(-likely, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(likely[order]), COVERED)) + 1]
    return int(kept.min()), int(kept.max())


def _shown_by(found: Levels, before: Level, after: Level, index: int) -> int:
    """The revision with which as many as are needed to confirm such a gap were measured."""
    gap = after.level - before.level
    needed = scale.as_student(scale.CONFIRM, float(found.freedom[index]))
    own = float(found.scatter[index]) ** 2 * found.inflation
    last = after.stop - 1
    spare = gap * gap / needed - before.variance
    count = own / spare if spare > 0 else float(last)
    return int(min(index + max(np.ceil(count), LEAST) - 1, last))
