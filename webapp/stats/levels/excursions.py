"""Excursions: one revision far off its level, whose samples agree, and the level that came back."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.changes.points import Value
from webapp.stats.levels.segments import Levels
from webapp.stats.student import TWO_SIDED_95

FURTHEST = 8.0
"""Standard deviations of one revision from which on an excursion is told: heavy tails reach less
three times in a thousand revisions (`excursions`)."""

LEAST_FREEDOM = 8.0
"""Degrees of freedom of the scatter below which it is not known well enough for that."""

AGREE = 0.5
"""Share of the way back to the level that no sample may have gone: then the samples agree."""


@dataclass(frozen=True, slots=True)
class Excursion:
    """Revision `index` lies `log` off its level, from `low` to `high` (95 %), on the log scale.

    `recovered_by` is the next revision that is back at a level.
    """

    index: int
    log: float
    low: float
    high: float
    recovered_by: int


def excursions(values: Sequence[Value], found: Levels) -> list[Excursion]:
    """Return the excursions of a series, in order along the tree.

    The newest revision is none: the next one will say.
    """
    told = []
    is_far = ~(np.abs(found.residuals) < FURTHEST)
    near = np.flatnonzero(~is_far)
    starts = [level.first for level in found.levels]
    for index in np.flatnonzero(is_far).tolist():
        # With an excursion no level begins: it left the one before.
        level = found.levels[max(bisect_left(starts, index) - 1, 0)]
        base = level.level + float(found.curve[index])
        after = near[near > index]
        freedom = float(found.freedom[index])
        if freedom < LEAST_FREEDOM or not len(after) or not _agree(values[index], base):
            continue
        off = values[index].location - base
        margin = sqrt(
            scale.as_student(TWO_SIDED_95, freedom)
            * (float(found.scatter[index]) ** 2 + level.variance)
        )
        told.append(Excursion(index, off, off - margin, off + margin, int(after[0])))
    return told


def _agree(value: Value, level: float) -> bool:
    """Whether all samples lie on the same side, none of them half of the way back."""
    off = value.location - level
    return len(value.logs) > 1 and all((log - level) / off > AGREE for log in value.logs)
