"""The last regime's line, its clipped values and running sums."""

from math import sqrt
from statistics import median

from webapp.stats.changes import scale
from webapp.stats.changes.noise import YOUNG
from webapp.stats.changes.state import State

DRAWN_IN = 4.0
"""A revision counts as at most this many standard deviations off its line (Huber 1964). In a young
series, where so few could never reach Student's limit, one that a neighbour bears out counts for as
many as have this normal score."""

LAG = 3
"""Revisions before a difference counts as noise: the first ones of a new level must not hide it."""

Table = tuple[float, ...]


def refresh(state: State) -> None:
    """Work out the noise from what the tracker holds now."""
    tracker = state.tracker
    if state.count <= YOUNG:
        _count_anew(state)
    memory = tracker.memory()
    state.memory_step = int(memory * scale.MEMORY_STEPS)
    state.variance, state.freedom = tracker.variance(memory)


def _count_anew(state: State) -> None:
    """Count all differences of a young series anew.

    The ring keeps them as they are until the series is no longer young, and then what they
    counted as.
    """
    ring = state.ring
    stop = max(len(ring.near) - LAG, 0)
    counted = state.tracker.count_anew(ring.near[:stop], ring.far[:stop])
    if state.count == YOUNG:
        ring.near[:stop], ring.far[:stop] = counted


def take_back(state: State, first: int) -> None:
    """Take the differences across a break at index `first` out of the noise."""
    ring = state.ring
    newest = len(ring.near) - 1 - LAG
    at = first - ring.start
    if state.count <= YOUNG:
        ring.near[at] = ring.far[at] = ring.far[at + 1] = -1.0
    else:
        for i in (at, at + 1):
            if i <= newest:
                near = ring.near[i] if i == at else -1.0
                state.tracker.take_back(near, ring.far[i], newest - i)
    refresh(state)


def spread(state: State) -> tuple[float, float, Table]:
    """Return variance of one typical revision, its degrees of freedom, and the inflation table."""
    return state.variance, state.freedom, scale.inflation(state.memory_step)


def is_silent(state: State) -> bool:
    """Return whether too little is known of the noise to find anything."""
    return state.count < scale.LEAST_REVISIONS or state.freedom < scale.LEAST_FREEDOM


def is_out_of_date(state: State) -> bool:
    """Return whether a revision counts as too far off by what is known now, or as too near.

    Too near is the newest where it was drawn in although the one before lies as far off.
    """
    ring, regime = state.ring, state.regimes[-1]
    clipped = ring.clipped[regime.first - ring.start :]
    most = DRAWN_IN * sqrt(state.variance)
    if max(clipped) - regime.level > most or regime.level - min(clipped) > most:
        return True
    if regime.count == 1:
        return False
    drawn = clipped[-1]
    newest = ring.location[-1] - regime.slope * (regime.count - 1)
    before = ring.location[-2] - regime.slope * (regime.count - 2)
    return newest < drawn > before or newest > drawn < before


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
    drawn = _drawn_in(state, [one - middle for one in flat])
    weight = total = 0.0
    for i, off in enumerate(flat, start):
        w = ring.weight[i]
        n = i - start
        value = middle + drawn[n]
        ring.near[i] = (off - flat[n - 1]) ** 2 / 2 if n > 0 else -1.0
        ring.far[i] = (off - flat[n - 2]) ** 2 / 2 if n > 1 else -1.0
        weight += w
        total += w * value
        ring.clipped[i], ring.weights[i], ring.totals[i] = value, weight, total
    regime.count, regime.weight, regime.total = len(flat), weight, total


def _drawn_in(state: State, offs: list[float]) -> list[float]:
    """Return what neighbouring revisions count as that lie so far off their line."""
    if not state.freedom:
        return offs
    most = DRAWN_IN * sqrt(state.variance)
    drawn = [min(max(off, -most), most) for off in offs]
    if state.count > YOUNG or drawn == offs:
        return drawn
    furthest = sqrt(scale.as_student(DRAWN_IN, state.freedom) * state.variance)
    for i, off in enumerate(offs):
        beside = offs[max(i - 1, 0) : i] + offs[i + 1 : i + 2]
        if off > most:
            drawn[i] = min(off, max(most, *beside), furthest)
        elif off < -most:
            drawn[i] = max(off, min(-most, *beside), -furthest)
    return drawn


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
