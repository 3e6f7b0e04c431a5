"""What the newest revisions of one series say of each place where a change may have begun."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import copysign
from typing import Any

from webapp.stats.better import Better, is_gain
from webapp.stats.changes import scale
from webapp.stats.changes.layout import Table, is_silent, of_mean, spread
from webapp.stats.changes.models import LEAST_SIDE
from webapp.stats.changes.state import State

PLACES = 5
"""Newest revisions at which a change may have begun: later it is confirmed, or too small to be."""

LEAST_REVISIONS = 12
"""Revisions from which on a series takes part: before, it shares too few with others to tell how
they stray together, and modes of one machine that nearly do are shown twice too often."""

KEPT_DEVIATIONS = 40
"""Revisions of a series that say how it strays together with others."""


@dataclass(frozen=True, slots=True)
class Recent:
    """The newest revisions of a series against the rest of their level.

    `at` are the positions of its newest revisions, the newest first, with one more than there are
    `scores`. `scores[i]` is the normal score of the newest i + 1 revisions against those before
    them (positive is better, negative worse), `gaps[i]` how far their mean lies off on the log
    scale, wild values as they are, with the same sign. `deviations` gives by position how many
    standard deviations each of the latest revisions lies off its level, positive is better.
    """

    at: tuple[int, ...]
    scores: tuple[float, ...]
    gaps: tuple[float, ...]
    deviations: Mapping[int, float]

    def to_data(self) -> dict[str, Any]:
        """Return what JSON can hold, without the deviations."""
        return {"at": list(self.at), "scores": list(self.scores), "gaps": list(self.gaps)}

    def deviations_to_data(self) -> dict[str, Any]:
        """Return the deviations as JSON can hold them."""
        return {"at": list(self.deviations), "off": list(self.deviations.values())}


def recent_of(state: State, better: Better) -> Recent | None:
    """Return what a series' state says of its newest places; None while it says nothing.

    The scores are those of the detector's scan (`webapp.stats.changes.fold`), window by window:
    Student's t of two means, by the noise around the level, turned into a normal score.
    """
    if is_silent(state) or state.count < LEAST_REVISIONS:
        return None
    variance, freedom, table = spread(state)
    sign = 1.0 if is_gain(1.0, better) else -1.0
    most = min(PLACES, state.regimes[-1].count - LEAST_SIDE)
    scores, gaps = [], []
    for m in range(1, most + 1):
        gap, square = _against_rest(state, m, table)
        size = gap + _drawn_in(state, m)
        score = scale.as_score(square / variance, freedom)
        scores.append(round(sign * copysign(score, gap), 4))
        gaps.append(round(sign * size, 6))
    kept = len(scores) + 1
    positions = tuple(reversed(state.ring.position[-kept:]))
    return Recent(positions, tuple(scores), tuple(gaps), _deviations(state, variance**0.5, sign))


def _against_rest(state: State, m: int, table: Table) -> tuple[float, float]:
    """The newest `m` revisions less the rest of their regime, and the square in variances."""
    ring, regime = state.ring, state.regimes[-1]
    left, sum_left = ring.weights[-1 - m], ring.totals[-1 - m]
    right = regime.weight - left
    gap = (regime.total - sum_left) / right - sum_left / left
    return gap, gap * gap / (table[m] / right + of_mean(table, regime.count) / left)


def _drawn_in(state: State, m: int) -> float:
    """How much further off the newest `m` revisions lie than they count for."""
    ring, regime = state.ring, state.regimes[-1]
    flat = [
        ring.location[row] - regime.slope * (state.count + row - regime.first)
        for row in range(-m, 0)
    ]
    return (sum(flat) - sum(ring.clipped[-m:])) / m


def _deviations(state: State, sd: float, sign: float) -> dict[int, float]:
    ring = state.ring
    found: dict[int, float] = {}
    regimes = list(state.regimes)
    for row in range(len(ring.position) - 1, max(len(ring.position) - KEPT_DEVIATIONS, 0) - 1, -1):
        while regimes[-1].first > ring.start + row:
            regimes.pop()
        off = sign * (ring.clipped[row] - regimes[-1].level) / sd
        found[ring.position[row]] = round(off, 3)
    return found
