"""One more revision: the whole method, one step at a time.

The findings of a series are the fold of `take_in` over its revisions in order, and nothing else;
analysing a series at once runs the very same steps. A step looks at a bounded number of
revisions, so that it costs the same at the 60th and at the 5,000th.
"""

from math import inf, sqrt

from webapp.stats.changes import scale
from webapp.stats.changes.breaks import try_break
from webapp.stats.changes.layout import DRAWN_IN, lay_out, of_mean, spread
from webapp.stats.changes.points import Value
from webapp.stats.changes.review import review
from webapp.stats.changes.state import KEPT_SAMPLES, Regime, State

LAG = 3
"""Revisions before a difference counts as noise: the first ones of a new level must not hide it."""

WEIGHT_RANGE = (0.1, 4.0)
"""Weights of one revision beside a typical one."""

CENTRED = frozenset((3, 5, 8))
"""Sizes of a young regime at which wild values are drawn in towards its median anew."""

LEAST_REGIME = 4
"""Revisions of a regime before it can break: two on either side."""


def take_in(state: State, value: Value) -> None:
    """Take one more revision into `state` (which is changed)."""
    if not state.regimes:
        state.origin = value.place
        state.regimes.append(Regime(0, value.position, value.label))
    _append(state, value)
    regime = state.regimes[-1]
    if regime.count in CENTRED:
        lay_out(state, regime.first)
    _count_as_noise(state)
    if not _scan(state) and state.breaks and not state.breaks[-1].settled:
        review(state)
    state.ring.trim()


def _append(state: State, value: Value) -> None:
    ring, tracker, regime = state.ring, state.tracker, state.regimes[-1]
    tracker.add_within(value)
    place = value.place - state.origin
    weight = _weight(state, value)
    flat = place - regime.slope * (state.count - regime.first)
    near = far = -1.0
    clipped = flat
    if regime.count:
        variance, freedom = tracker.variance(state.borrowed)
        level = regime.total / regime.weight
        off = flat - level
        near = (place - ring.place[-1] - regime.slope) ** 2 / 2
        if regime.count > 1:
            far = (place - ring.place[-2] - 2 * regime.slope) ** 2 / 2
        if freedom:
            most = DRAWN_IN * sqrt(variance)
            clipped = level + min(max(off, -most), most)
    regime.count += 1
    regime.weight += weight
    regime.total += weight * clipped
    regime.last_position, regime.last_label = value.position, value.label
    ring.position.append(value.position)
    ring.label.append(value.label)
    ring.place.append(place)
    ring.weight.append(weight)
    ring.clipped.append(clipped)
    ring.near.append(near)
    ring.far.append(far)
    ring.weights.append(regime.weight)
    ring.totals.append(regime.total)
    state.samples.append(tuple(log - state.origin for log in value.logs))
    if len(state.samples) > KEPT_SAMPLES:
        del state.samples[0]
    state.last_position = value.position
    state.count += 1


def _weight(state: State, value: Value) -> float:
    """The weight of a revision beside a typical one: more samples help where runs scatter."""
    tracker = state.tracker
    variance, _ = tracker.variance(state.borrowed)
    if not variance:
        return 1.0
    typical = tracker.share / tracker.shares
    part = min(tracker.run_part() / variance, 1.0)
    low, high = WEIGHT_RANGE
    return min(max(1.0 / (part * value.share / typical + 1.0 - part), low), high)


def _count_as_noise(state: State) -> None:
    """Count the differences of the revision `LAG` ago, now that nothing new began there."""
    at = len(state.ring.place) - 1 - LAG
    if at < 0 or state.ring.near[at] < 0:
        return
    variance, freedom = state.tracker.variance(state.borrowed)
    most = variance if freedom else inf
    state.tracker.add_differences(state.ring.near[at], state.ring.far[at], most)


def _scan(state: State) -> bool:
    """Hold the newest revisions against the rest of their regime; True when a break was made."""
    regime = state.regimes[-1]
    count = regime.count
    if count < LEAST_REGIME:
        return False
    variance, freedom, table = spread(state)
    if freedom < scale.LEAST_FREEDOM:
        return False
    limit = scale.as_student(scale.CONFIRM, freedom) * variance
    weights, totals = state.ring.weights, state.ring.totals
    mass, total = regime.weight, regime.total
    for m in scale.WINDOWS:
        if m > count - 2:
            break
        left, sum_left = weights[-1 - m], totals[-1 - m]
        right = mass - left
        gap = (total - sum_left) / right - sum_left / left
        if gap * gap > limit * (table[m] / right + of_mean(table, count - m) / left):
            return try_break(state, variance, freedom, table)
    return False
