"""Where a change of level may have begun, and from which revision on it could be told."""

from dataclasses import dataclass

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.segments import CAP, LEAST, Level, Levels

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

    Every place in question is as likely as both levels explain the revisions on its sides, each of
    which counts at most `CAP`, in variances that memory inflates.
    """
    before, after = found.levels[number - 1], found.levels[number]
    # No further than half a level: two changes never change their order.
    first = max(after.first - min(LOOK, (after.first - before.first - 1) // 2), before.first + 1)
    stop = after.first + min(LOOK, (after.stop - after.first) // 2) + 1
    rows = slice(first - 1, min(stop, after.stop))
    flat, scatter = (locations - found.curve)[rows], found.scatter[rows]
    off = [
        np.minimum(((flat - level.level) / scatter) ** 2, CAP) / found.inflation
        for level in (before, after)
    ]
    # Against a beginning at the first row: each later one leaves one revision more to the old.
    costs = np.cumsum(off[0] - off[1])[: rows.stop - first]
    likely = np.exp(-(costs - costs.min()) / 2)
    likely /= likely.sum()
    index = int(likely.argmax())
    low, high = _interval(likely)
    chances = [(first - 1 + low, 0.0)]
    chances += [(first + i, float(likely[i])) for i in range(low, high + 1)]
    return Beginning(first + index, tuple(chances), _shown_by(found, before, after, first + index))


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
