"""Slow losses and gains: a trend over a stretch once its steps are taken out."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.levels.fitting import LEFT_OUT
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.scatter import inflation_of
from webapp.stats.levels.segments import Levels
from webapp.stats.student import TWO_SIDED_95

LIMIT = 5.0
"""Normal score that a trend must reach (`slow`): with 3 it is told of 1.2 % of series whose builds
stray together by 3 %; with 4.5 of waves that are back more often; with 6 fewer series that lose 5 %
over 200 revisions are told by the 120th."""

SHORTEST = 60
"""Revisions that a stretch holds at least."""

WINDOWS = (1.0, 0.5)
"""Shares of the series, its end, over which a trend is looked for; the strongest counts."""

LEAST_WINDOW = SHORTEST + 6
"""Revisions of the shorter window at least, of which some may be left out. Half of a series of a
hundred is shorter than a stretch may be: a loss after a calm half was told of hardly any."""


@dataclass(frozen=True, slots=True)
class Slow:
    """From revision `first` to `last` the level moved by `log` in all (`low` to `high`, 95 %).

    `base` is the log level at the beginning. Where steps lie within, it is what the level would be
    at the end without the slow move: the end is as measured, and between both is the move alone.
    """

    first: int
    last: int
    log: float
    low: float
    high: float
    score: float
    base: float


def slow_move(locations: Floats, found: Levels) -> Slow | None:
    """Return the slow loss or gain that a series shows to its end, or None."""
    count = len(locations)
    lengths = {max(int(share * count), min(LEAST_WINDOW, count)) for share in WINDOWS}
    moves = [
        move
        for length in sorted(lengths, reverse=True)
        if (move := _trend(locations, found, count - length)) is not None
    ]
    return max(moves, key=lambda move: move.score, default=None)


def _trend(locations: Floats, found: Levels, first: int) -> Slow | None:
    """The trend from revision `first` on, steps taken out; None below `LIMIT`."""
    kept = np.flatnonzero(np.abs(found.residuals[first:]) < LEFT_OUT) + first
    if len(kept) < SHORTEST:
        return None
    columns = [np.ones(len(kept)), (kept - kept.mean()) / (kept[-1] - kept[0])]
    columns += [
        (kept >= level.first).astype(float)
        for level in found.levels
        if kept[0] < level.first <= kept[-1]
    ]
    weights = 1 / found.scatter[kept]
    design = np.stack(columns, axis=1) * weights[:, None]
    inverse = np.linalg.pinv(design.T @ design)
    values = locations[kept] * weights
    fitted = inverse @ (design.T @ values)
    residuals = values - design @ fitted
    freedom = len(kept) - len(columns)
    if freedom < SHORTEST // 2:
        return None
    spread = float(residuals @ residuals) / freedom
    inflation = inflation_of(residuals)
    variance = spread * inflation * float(inverse[1, 1])
    if not variance:
        # Equal values whose logarithm is 0: nothing moves, and nothing scatters.
        return None
    size = float(fitted[1])
    own = freedom / inflation
    score = scale.as_score(size * size / variance, own)
    if score < LIMIT:
        return None
    margin = sqrt(scale.as_student(TWO_SIDED_95, own) * variance)
    base = float(fitted[0] + size * columns[1][0] + fitted[2:].sum())
    return Slow(int(kept[0]), int(kept[-1]), size, size - margin, size + margin, score, base)
