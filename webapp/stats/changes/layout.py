"""The last regime's line, its clipped values and running sums."""

from math import inf, sqrt
from statistics import median

from webapp.stats.changes import scale
from webapp.stats.changes.state import State

DRAWN_IN = 4.0
"""A revision counts as at most this many standard deviations off its line (Huber 1964)."""

LAG = 3
"""Revisions before a difference counts as noise: the first ones of a new level must not hide it."""

Table = tuple[float, ...]


def refresh(state: State) -> None:
    """Work out the noise from what the tracker holds now."""
    tracker = state.tracker
    memory = tracker.memory()
    state.memory_step = int(memory * scale.MEMORY_STEPS)
    state.variance, state.freedom = tracker.variance(state.borrowed, memory)


def take_back(state: State, first: int) -> None:
    """Take the differences across a break at index `first` out of the noise."""
    ring = state.ring
    newest = len(ring.near) - 1 - LAG
    at = first - ring.start
    for i in (at, at + 1):
        if i <= newest:
            near = ring.near[i] if i == at else -1.0
            state.tracker.take_back(near, ring.far[i], newest - i)
    refresh(state)


def spread(state: State) -> tuple[float, float, Table]:
    """Return variance of one typical revision, its degrees of freedom, and the inflation table."""
    return state.variance, state.freedom, scale.inflation(state.memory_step)


def of_mean(table: Table, count: int) -> float:
    """Return how much memory inflates the variance of the mean of `count` revisions."""
    return table[count] if count < scale.LONGEST else table[-1]


def lay_out(state: State, first: int) -> None:
    """Lay the last regime out anew from index `first`: clipped values, sums and differences.

    Wild values are drawn in towards the regime's median; its line is kept.
    """
    ring, regime = state.ring, state.regimes[-1]
    start = first - ring.start
    flat = [
        location - regime.slope * (i - regime.first)
        for i, location in enumerate(ring.location[start:], first)
    ]
    middle = median(flat)
    most = DRAWN_IN * sqrt(state.variance) if state.freedom else inf
    weight = total = 0.0
    for i, off in enumerate(flat, start):
        value = middle + min(max(off - middle, -most), most)
        w = ring.weight[i]
        n = i - start
        ring.near[i] = (off - flat[n - 1]) ** 2 / 2 if n > 0 else -1.0
        ring.far[i] = (off - flat[n - 2]) ** 2 / 2 if n > 1 else -1.0
        weight += w
        total += w * value
        ring.clipped[i], ring.weights[i], ring.totals[i] = value, weight, total
    regime.count, regime.weight, regime.total = len(flat), weight, total


def join_to_former(state: State) -> None:
    """Give the last regime's revisions back to the one before it, drawn in towards its line."""
    ring = state.ring
    last = state.regimes.pop()
    regime = state.regimes[-1]
    most = DRAWN_IN * sqrt(state.variance)
    level = regime.level
    start = last.first - ring.start
    _sum_back(state, start)
    for i in range(start, len(ring.location)):
        off = ring.location[i] - regime.slope * (i + ring.start - regime.first) - level
        ring.clipped[i] = level + min(max(off, -most), most)
        regime.count += 1
        regime.weight += ring.weight[i]
        regime.total += ring.weight[i] * ring.clipped[i]
        ring.weights[i], ring.totals[i] = regime.weight, regime.total
    regime.last_position, regime.last_label = last.last_position, last.last_label


def give_to_next(state: State, first: int) -> None:
    """End the last regime before index `first`: its sums no longer hold what follows."""
    ring, regime = state.ring, state.regimes[-1]
    at = first - 1 - ring.start
    regime.count = first - regime.first
    regime.weight, regime.total = ring.weights[at], ring.totals[at]
    regime.last_position, regime.last_label = ring.position[at], ring.label[at]


def _sum_back(state: State, end: int) -> None:
    """Restore the running sums of the last regime for the kept revisions before ring row `end`."""
    ring, regime = state.ring, state.regimes[-1]
    weight, total = regime.weight, regime.total
    for i in range(end - 1, max(regime.first - ring.start, 0) - 1, -1):
        ring.weights[i], ring.totals[i] = weight, total
        weight -= ring.weight[i]
        total -= ring.weight[i] * ring.clipped[i]
