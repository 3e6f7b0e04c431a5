"""The newest regime of the online update: its line and sums, and the change it began with, which
later revisions move, retract and in the end settle.
"""

from math import sqrt
from statistics import median

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.changes.noise import YOUNG
from webapp.stats.changes.online_state import Interval, OnlineState, Regime, Ring
from webapp.stats.changes.points import Floats

LEAST_SIDE = 2
"""Revisions on either side of a break: one revision alone is never a level."""

TAIL_FREEDOM = 5.0
"""Degrees of freedom of the t density that weighs where a break lies: an odd revision
beside it must not pull it along."""

DRAWN_IN = 4.0
"""A revision counts as at most this many standard deviations off its line (Huber 1964). In a young
series, where so few could never reach Student's limit, one that a neighbour bears out counts for as
many as have this normal score."""

LAG = 3
"""Revisions before a difference counts as noise: the first ones of a new level must not hide it."""

REVIEWED = 32
"""Later revisions after which a change is settled: neither moved nor retracted any more."""

MOVES = frozenset((3, 4, 6, 9, 14, 20, REVIEWED))
"""Revisions after a change at which its interval is looked for again."""

AROUND, SURE_SHARE = 32, 0.95
"""Revisions on either side that show where a change lies, and the probability that its interval
covers."""

LEAST_MASS = 1e-4
"""Probability of a place below which it is not kept: places beyond such ones are left out."""


def refresh(state: OnlineState) -> None:
    """Work out the noise from what the tracker holds now."""
    tracker, ring = state.tracker, state.ring
    if state.count <= YOUNG:
        # Until then the ring keeps differences as they are, and then what they counted as.
        stop = max(len(ring.near) - LAG, 0)
        counted = tracker.count_anew(ring.near[:stop], ring.far[:stop])
        if state.count == YOUNG:
            ring.near[:stop], ring.far[:stop] = counted
    memory = tracker.memory()
    state.memory_step = int(memory * scale.MEMORY_STEPS)
    state.variance, state.freedom = tracker.variance(memory)


def take_back(state: OnlineState, first: int) -> None:
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


def spread(state: OnlineState) -> tuple[float, float, tuple[float, ...]]:
    """Return variance of one typical revision, its degrees of freedom, and the inflation table."""
    return state.variance, state.freedom, scale.inflation(state.memory_step)


def is_silent(state: OnlineState) -> bool:
    """Return whether too little is known of the noise to find anything."""
    return state.count < scale.LEAST_REVISIONS or state.freedom < scale.LEAST_FREEDOM


def is_out_of_date(state: OnlineState) -> bool:
    """Return whether a revision counts as too far off by what is known now, or the newest as too
    near: it was drawn in although the one before lies as far off.
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


def of_mean(table: tuple[float, ...], count: int) -> float:
    """Return how much memory inflates the variance of the mean of `count` revisions."""
    return table[count] if count < scale.LONGEST else table[-1]


def lay_out(state: OnlineState, first: int) -> None:
    """Lay the last regime out anew from index `first`: clipped values, sums and differences.

    Wild values are drawn in towards the regime's median; its line is kept.
    """
    ring, regime = state.ring, state.regimes[-1]
    start = first - ring.start
    offs = flat(state, first)
    middle = median(offs)
    drawn = _drawn_in(state, [one - middle for one in offs])
    weight = total = 0.0
    for i, off in enumerate(offs, start):
        w = ring.weight[i]
        n = i - start
        value = middle + drawn[n]
        ring.near[i] = (off - offs[n - 1]) ** 2 / 2 if n > 0 else -1.0
        ring.far[i] = (off - offs[n - 2]) ** 2 / 2 if n > 1 else -1.0
        weight += w
        total += w * value
        ring.clipped[i], ring.weights[i], ring.totals[i] = value, weight, total
    regime.count, regime.weight, regime.total = len(offs), weight, total


def flat(state: OnlineState, first: int) -> list[float]:
    """Return the locations from index `first` on, less what the last regime's slope gained."""
    regime = state.regimes[-1]
    locations = state.ring.location[first - state.ring.start :]
    return [one - regime.slope * (i - regime.first) for i, one in enumerate(locations, first)]


def _drawn_in(state: OnlineState, offs: list[float]) -> list[float]:
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


def join_to_former(state: OnlineState) -> None:
    """Give the last regime's revisions back to the one before it, drawn in towards its line."""
    ring = state.ring
    last = state.regimes.pop()
    regime = state.regimes[-1]
    most = DRAWN_IN * sqrt(state.variance)
    level = regime.level
    start = last.first - ring.start
    # The ring gets the running sums of its kept revisions back, from the last one on.
    weight, total = regime.weight, regime.total
    for i in range(start - 1, max(regime.first - ring.start, 0) - 1, -1):
        ring.weights[i], ring.totals[i] = weight, total
        weight -= ring.weight[i]
        total -= ring.weight[i] * ring.clipped[i]
    for i in range(start, len(ring.location)):
        off = ring.location[i] - regime.slope * (i + ring.start - regime.first) - level
        ring.clipped[i] = level + min(max(off, -most), most)
        regime.count += 1
        regime.weight += ring.weight[i]
        regime.total += ring.weight[i] * ring.clipped[i]
        ring.weights[i], ring.totals[i] = regime.weight, regime.total
    regime.last_position, regime.last_label = last.last_position, last.last_label


def give_to_next(state: OnlineState, first: int) -> None:
    """End the last regime before index `first`: its sums no longer hold what follows."""
    ring, regime = state.ring, state.regimes[-1]
    at = first - 1 - ring.start
    regime.count = first - regime.first
    regime.weight, regime.total = ring.weights[at], ring.totals[at]
    regime.last_position, regime.last_label = ring.position[at], ring.label[at]


def review(state: OnlineState) -> None:
    """Look at the newest change again, now that one more revision is known."""
    if score_of(state) < scale.KEEP:
        state.retracted.append(state.breaks.pop())
        join_to_former(state)
        return
    count = state.regimes[-1].count
    if count in MOVES:
        move(state)
    if count >= REVIEWED:
        settle(state)


def settle(state: OnlineState) -> None:
    """Write down where the newest change lies and how sure it is, for good."""
    newest = state.breaks[-1]
    newest.score, newest.interval = score_of(state), interval_of(state)
    newest.variance, newest.freedom = state.variance, state.freedom
    newest.memory_step = state.memory_step
    newest.settled = True


def score_of(state: OnlineState) -> float:
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


def interval_of(state: OnlineState) -> Interval:
    """Where the newest change lies."""
    start, mass = _mass(state)
    low, high = shortest_range(mass, SURE_SHARE)
    best, ring = state.regimes[-1].first - start, state.ring
    low, high, row = min(low, best), max(high, best), start - ring.start
    rows = [row + i for i in (low - 1, low, high, best - 1)]
    after, first, last, previous = ((ring.position[i], ring.label[i]) for i in rows)
    places = _locations(ring, row, mass, low, high)
    return Interval(after, first, last, previous, float(mass[best]), places)


def _locations(
    ring: Ring, row: int, mass: Floats, low: int, high: int
) -> tuple[tuple[int, str, float], ...]:
    """The places from the first to the last with `LEAST_MASS`, after the revision before them;
    `mass` begins with ring row `row`.
    """
    kept = np.flatnonzero(mass >= LEAST_MASS)
    first, last = min(int(kept[0]), low), max(int(kept[-1]), high) + 1
    chances = [0.0, *(round(its, 6) for its in mass[first:last].tolist())]
    rows = slice(row + first - 1, row + last)
    return tuple(zip(ring.position[rows], ring.label[rows], chances, strict=True))


def _mass(state: OnlineState) -> tuple[int, Floats]:
    """Return an index and the probability that the new level begins there, one later, …

    At least one revision stays on the old side, and LEAST_SIDE on the new one.
    """
    ring = state.ring
    before, after = state.regimes[-2:]
    start = max(after.first - AROUND, before.first, ring.start)
    stop = min(after.first + AROUND, state.count)
    locations = np.array(ring.location[start - ring.start : stop - ring.start])
    gain = _unlikely(locations, before, start, state) - _unlikely(locations, after, start, state)
    # From each place on, the density of the new line instead of that of the old one.
    gain *= (TAIL_FREEDOM + 1) / 2 / scale.inflation(state.memory_step)[-1]
    mass = np.add.accumulate(gain[::-1])[::-1]
    mass -= max(float(np.maximum.reduce(mass)), 0.0)
    np.exp(mass, out=mass)
    mass[0] = 0.0
    if stop == state.count:
        mass[len(mass) - LEAST_SIDE + 1 :] = 0.0
    total = float(np.add.reduce(mass))
    if not total:
        mass[after.first - start] = total = 1.0
    mass /= total
    return start, mass


def _unlikely(locations: Floats, regime: Regime, start: int, state: OnlineState) -> Floats:
    """How unlikely revisions from index `start` on are around a line, by Student's t."""
    off = locations - regime.level
    if regime.slope:
        off -= regime.slope * np.arange(start - regime.first, start - regime.first + len(off))
    off *= off
    off /= TAIL_FREEDOM * state.variance
    return np.log1p(off, out=off)


def move(state: OnlineState) -> None:
    """Move the newest change to where the evidence now shows it."""
    start, mass = _mass(state)
    best = start + int(mass.argmax())
    regime = state.regimes[-1]
    if best == regime.first:
        return
    newest, slope, ring = state.breaks[-1], regime.slope, state.ring
    join_to_former(state)
    give_to_next(state, best)
    at = best - ring.start
    newest.index, newest.position, newest.label = best, ring.position[at], ring.label[at]
    append_regime(state, best, slope)
    lay_out(state, best)


def append_regime(state: OnlineState, first: int, slope: float) -> None:
    """Add a regime, from index `first` to the newest revision, that is not laid out yet."""
    ring = state.ring
    regime = Regime(first, ring.position[first - ring.start], ring.label[first - ring.start], slope)
    regime.last_position, regime.last_label = ring.position[-1], ring.label[-1]
    state.regimes.append(regime)


def shortest_range(mass: Floats, share: float) -> tuple[int, int]:
    """Return first and last index of the range around the best that holds `share` of `mass`.

    Grown from the best index towards the likelier neighbour.
    """
    low = high = int(mass.argmax())
    covered = float(mass[low])
    while covered < share and (low > 0 or high < len(mass) - 1):
        down = float(mass[low - 1]) if low > 0 else -1.0
        up = float(mass[high + 1]) if high < len(mass) - 1 else -1.0
        if up > down:
            high, covered = high + 1, covered + up
        else:
            low, covered = low - 1, covered + down
    return low, high
