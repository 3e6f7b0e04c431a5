"""Where a slow loss or gain fell: the stretches of its window that hold most of it, if few do."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import expm1

import numpy as np

from webapp.stats.arrays import Floats

STRETCHES, REVISIONS = 8, 7
"""Stretches of equally many revisions that a window is cut into, and of how many at least: a median
of seven is off by half a deviation. Of a shorter loss no part is named."""

MOST = 3
"""Stretches that are named at most: of an even loss these hold three eighths."""

MOSTLY = 0.75
"""Share of the whole move that those named must hold together. Of an even loss of 10 % over 80
revisions at 1 % of noise they seem to in 1 of 100 (`tests/stats/test_slow_parts.py`), with 0.6 in
20; with 0.8 a loss in two parts at 2 % of noise is reported as such in 83 of 100 only."""


@dataclass(frozen=True, slots=True)
class Part:
    """Between revisions `first` and `last` (indices into the window) the level moved by `log`."""

    first: int
    last: int
    log: float

    @property
    def pct(self) -> float:
        """The move in percent of the level at `first`."""
        return 100 * expm1(self.log)


def largest_parts(locations: Floats) -> tuple[Part, ...]:
    """Return the parts of a move that hold most of it, in order; none where it went evenly.

    `locations` are the log levels of the window's revisions, (revisions,), steps taken out. The
    level at each end of a stretch is the median of the revisions around it, half a stretch to
    either side, so that no lone revision makes a part. Neighbouring stretches are reported as one.
    """
    count = len(locations)
    if count < REVISIONS * STRETCHES:
        return ()
    ends = [round(i * (count - 1) / STRETCHES) for i in range(STRETCHES + 1)]
    half = count / STRETCHES / 2
    levels = [_level(locations, end, half) for end in ends]
    moves = np.diff(levels)
    whole = levels[-1] - levels[0]
    chosen = np.sort(np.argsort(-np.sign(whole) * moves)[:MOST])
    named = [at for at in chosen if moves[at] * whole > 0]
    if whole == 0 or sum(moves[at] for at in named) / whole < MOSTLY:
        return ()
    return tuple(
        Part(ends[first], ends[last], levels[last] - levels[first])
        for first, last in _joined([int(at) for at in named])
    )


def _level(locations: Floats, at: int, half: float) -> float:
    low, high = max(round(at - half), 0), round(at + half) + 1
    return float(np.median(locations[low:high]))


def _joined(stretches: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring stretches as one, each as its ends."""
    breaks = [i for i, (one, other) in enumerate(pairwise(stretches), 1) if other - one > 1]
    bounds = pairwise([0, *breaks, len(stretches)])
    return [(stretches[low], stretches[high - 1] + 1) for low, high in bounds]
