"""Whether a crossing of the limit is a break, and of which kind."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from webapp.stats.changes import drift, models, scale
from webapp.stats.changes.layout import (
    Table,
    give_to_next,
    join_to_former,
    lay_out,
    of_mean,
    take_back,
)
from webapp.stats.changes.review import REVIEWED, move, settle
from webapp.stats.changes.state import Break, Kind, Regime, State

SMALL_SIDE = 40
"""Sides of at most so many revisions are tested without their most extreme one as well."""


def try_break(state: State, variance: float, freedom: float, table: Table) -> bool:
    """Break the last regime where it breaks best; False when the evidence is of one revision."""
    ring, regime = state.ring, state.regimes[-1]
    start = max(regime.first - ring.start, 0)
    clipped, weights = np.array(ring.clipped[start:]), np.array(ring.weight[start:])
    if regime.first < ring.start:
        # What has left the ring is one heavy value at its left end.
        clipped[0] = ring.totals[0] / ring.weights[0]
        weights[0] = ring.weights[0]
    split, _ = models.best_split(clipped, weights)
    first = ring.start + start + split
    sides = _flat(state, start, start + split), _flat(state, start + split, len(ring.location))
    if not sides_agree(sides, variance, freedom, table):
        return False
    bend = drift.instead_of_stairs(state, first, variance) or drift.instead_of_step(
        state, start, clipped, variance
    )
    if bend is None:
        begin(state, "change", first, 0.0)
        # The split was chosen on values drawn in; a large step is placed better without that.
        move(state)
        if state.regimes[-1].count >= REVIEWED:
            # A small change found late: the ring may soon drop the revisions that say where.
            settle(state)
        return True
    for _ in range(bend.steps):
        state.retracted.append(state.breaks.pop())
        join_to_former(state)
    _bend(state, bend)
    return True


def _bend(state: State, bend: drift.Bend) -> None:
    """Bend the last regime's line, or give it a better slope where it has just begun to drift."""
    regime = state.regimes[-1]
    is_kept = regime.first >= state.ring.start
    if regime.slope and is_kept and bend.first - regime.first <= drift.SAME_PLACE:
        regime.slope += bend.slope
        lay_out(state, regime.first)
    else:
        earliest = max(regime.first, state.ring.start) + 1
        begin(state, "drift", max(bend.first, earliest), bend.slope)


def begin(state: State, kind: Kind, first: int, slope: float) -> None:
    """Begin a new regime at index `first`, whose line gains `slope` more than the last one's."""
    ring, former = state.ring, state.regimes[-1]
    if state.breaks and not state.breaks[-1].settled:
        settle(state)
    give_to_next(state, first)
    at = first - ring.start
    state.regimes.append(Regime(first, ring.position[at], ring.label[at], former.slope + slope))
    state.regimes[-1].last_position = ring.position[-1]
    state.regimes[-1].last_label = ring.label[-1]
    newest = ring.position[-1], ring.label[-1]
    broken = Break(kind, first, ring.position[at], ring.label[at], newest)
    broken.settled = kind == "drift"
    state.breaks.append(broken)
    if kind == "change":
        take_back(state, first)
    lay_out(state, first)


def sides_agree(
    sides: tuple[Sequence[float], Sequence[float]],
    variance: float,
    freedom: float,
    table: Table,
) -> bool:
    """Return whether each side still differs without its most extreme revision.

    A revision that is odd beside the others of its side has no vote at all: the others must
    carry the whole limit. One that agrees with them may carry most of it.
    """
    left, right = sides
    return _carries(right, left, variance, freedom, table) and _carries(
        left, right, variance, freedom, table
    )


def _carries(
    side: Sequence[float], other: Sequence[float], variance: float, freedom: float, table: Table
) -> bool:
    count = len(side)
    if count > SMALL_SIDE:
        return True
    level = _middle(other)
    worst = max(range(count), key=lambda i: abs(side[i] - level))
    rest = [value for i, value in enumerate(side) if i != worst]
    mean = sum(rest) / len(rest)
    is_odd = abs(side[worst] - mean) > scale.ODD * sqrt(variance * (1 + 1 / len(rest)))
    need = scale.as_student(scale.CONFIRM if is_odd else scale.REST, freedom)
    inflated = of_mean(table, len(rest)) / len(rest) + of_mean(table, len(other)) / len(other)
    same_way = (mean - level > 0) == (sum(side) / count - level > 0)
    return same_way and (mean - level) ** 2 > need * variance * inflated


def _middle(values: Sequence[float]) -> float:
    """A level that one odd revision among few cannot move: the mean without both extremes."""
    if len(values) < 4:
        return sum(values) / len(values)
    return (sum(values) - min(values) - max(values)) / (len(values) - 2)


def _flat(state: State, start: int, stop: int) -> list[float]:
    """The locations of ring rows, relative to the slope of the last regime."""
    ring, regime = state.ring, state.regimes[-1]
    return [
        ring.location[i] - regime.slope * (ring.start + i - regime.first)
        for i in range(start, stop)
    ]
