"""The newest change under later evidence: moved, retracted, and in the end settled."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import models, scale
from webapp.stats.changes.layout import (
    give_to_next,
    join_to_former,
    lay_out,
    of_mean,
    spread,
)
from webapp.stats.changes.state import Interval, Regime, State

REVIEWED = 32
"""Later revisions after which a change is settled: neither moved nor retracted any more."""

MOVES = frozenset((3, 4, 6, 9, 14, 20, REVIEWED))
"""Revisions after a change at which its interval is looked for again."""

AROUND = 32
"""Revisions on either side that say where a change lies and how sure it is."""

SURE_SHARE = 0.95
"""The probability that the interval of a change covers."""

LEAST_MASS = 1e-4
"""Probability of a place below which it is not kept: places beyond such ones are left out."""


def review(state: State) -> None:
    """Look at the newest change again, now that one more revision is known."""
    if score(state) < scale.KEEP:
        state.retracted.append(state.breaks.pop())
        join_to_former(state)
        return
    count = state.regimes[-1].count
    if count in MOVES:
        move(state)
    if count >= REVIEWED:
        settle(state)


def settle(state: State) -> None:
    """Write down where the newest change lies and how sure it is, for good."""
    newest = state.breaks[-1]
    newest.score, newest.interval = score(state), interval_of(state)
    newest.variance, newest.freedom = state.variance, state.freedom
    newest.memory_step = state.memory_step
    newest.settled = True


def score(state: State) -> float:
    """The evidence for the newest change: the normal score of the two levels beside it."""
    before, after = state.regimes[-2:]
    variance, freedom, table = spread(state)
    gap = after.level - before.at(after.first)
    left, right = _effective(before, table), _effective(after, table)
    return scale.as_score(gap * gap / (variance * (left + right)), freedom)


def _effective(regime: Regime, table: tuple[float, ...]) -> float:
    """The variance of a regime's level, in variances of one revision; AROUND of them count."""
    count = min(regime.count, AROUND)
    return of_mean(table, count) * regime.count / (count * regime.weight)


def interval_of(state: State) -> Interval:
    """Where the newest change lies."""
    start, mass = _mass(state)
    low, high = models.shortest_range(mass, SURE_SHARE)
    best = state.regimes[-1].first - start
    low, high = min(low, best), max(high, best)
    ring = state.ring
    rows = [start - ring.start + i for i in (low - 1, low, high, best - 1)]
    after, first, last, previous = ((ring.position[i], ring.label[i]) for i in rows)
    return Interval(
        after, first, last, previous, float(mass[best]), _locations(state, start, mass, low, high)
    )


def _locations(
    state: State, start: int, mass: NDArray[np.float64], low: int, high: int
) -> tuple[tuple[int, str, float], ...]:
    """The places from the first to the last with `LEAST_MASS`, after the revision before them."""
    kept = np.flatnonzero(mass >= LEAST_MASS)
    first, last = min(int(kept[0]), low), max(int(kept[-1]), high)
    rows = range(start - state.ring.start + first, start - state.ring.start + last + 1)
    position, label = state.ring.position, state.ring.label
    before = (position[rows[0] - 1], label[rows[0] - 1], 0.0)
    found = zip(rows, mass[first : last + 1].tolist(), strict=True)
    return (before, *((position[i], label[i], round(its, 6)) for i, its in found))


def _mass(state: State) -> tuple[int, NDArray[np.float64]]:
    """Return an index and the probability that the new level begins there, one later, …

    At least one revision stays on the old side, and LEAST_SIDE on the new one.
    """
    ring = state.ring
    before, after = state.regimes[-2:]
    start = max(after.first - AROUND, before.first, ring.start)
    stop = min(after.first + AROUND, state.count)
    variance, _, table = spread(state)
    locations = np.array(ring.location[start - ring.start : stop - ring.start])
    old, new = locations - before.level, locations - after.level
    if before.slope or after.slope:
        index = np.arange(start, stop)
        old -= before.slope * (index - before.first)
        new -= after.slope * (index - after.first)
    sd = sqrt(variance)
    mass = models.where(old / sd, new / sd, table[-1])[: stop - start]
    mass[0] = 0.0
    if stop == state.count:
        mass[len(mass) - models.LEAST_SIDE + 1 :] = 0.0
    total = mass.sum()
    if not total:
        mass[after.first - start] = total = 1.0
    return start, mass / total


def move(state: State) -> None:
    """Move the newest change to where the evidence now says it lies."""
    start, mass = _mass(state)
    best = start + int(np.argmax(mass))
    regime = state.regimes[-1]
    if best == regime.first:
        return
    newest, slope, ring = state.breaks[-1], regime.slope, state.ring
    join_to_former(state)
    give_to_next(state, best)
    at = best - ring.start
    position, label = ring.position[at], ring.label[at]
    moved = Regime(best, position, label, slope)
    moved.last_position, moved.last_label = ring.position[-1], ring.label[-1]
    state.regimes.append(moved)
    newest.index, newest.position, newest.label = best, position, label
    lay_out(state, best)
