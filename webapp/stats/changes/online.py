"""The online update: one more revision, one step at a time.

Its findings are the outcome of `advance_one` over the revisions of a series in order, nothing else;
a series read at once takes the very same steps. A step looks at a bounded number of revisions, so
that it costs the same at the 60th and at the 5,000th.
"""

from collections.abc import Sequence
from functools import cache
from math import inf, sqrt

from webapp.stats.changes import regimes, scale
from webapp.stats.changes.breaks import try_break
from webapp.stats.changes.noise import YOUNG
from webapp.stats.changes.online_state import KEPT_SAMPLES, RING, OnlineState, Regime
from webapp.stats.changes.points import BadSeriesError, Point, Value

WEIGHT_RANGE = (0.1, 4.0)
"""Weights of one revision beside a typical one."""

SAME_SHARE = 1e-9
"""Difference of two sums of shares, of a hundred at most, that rounding makes."""

CENTRED = frozenset((3, 5, 8))
"""Sizes of a young regime at which wild values are drawn in towards its median anew."""

LEAST_REGIME = 2 * regimes.LEAST_SIDE
"""Revisions of a regime before it can break: two on either side."""


def check_order(state: OnlineState, points: Sequence[Point]) -> None:
    """Raise BadSeriesError unless each position is larger than the last one that was read."""
    last = state.last_position
    for point in points:
        if last is not None and point.position <= last:
            raise BadSeriesError(
                f"revision {point.label} at position {point.position} does not follow {last}: "
                "read the series again from a state before it"
            )
        last = point.position


def advance_point(state: OnlineState, point: Point, value: Value | None) -> None:
    """Advance `state`, which is changed, by one more point; no `value`: it has no usable sample."""
    if value is None:
        state.left_out.append((point.position, point.label))
        state.last_position = point.position
    else:
        advance_one(state, value)


def advance_one(state: OnlineState, value: Value) -> None:
    """Advance `state`, which is changed, by one more revision."""
    if not state.regimes:
        state.origin = value.location
        state.regimes.append(Regime(0, value.position, value.label))
    _append(state, value)
    _update_noise(state, value)
    regime = state.regimes[-1]
    if regime.count in CENTRED or (state.count <= YOUNG and regimes.is_out_of_date(state)):
        regimes.lay_out(state, regime.first)
    if not _scan(state, regime) and state.breaks and not state.breaks[-1].settled:
        regimes.review(state)
    if len(state.ring.location) >= 2 * RING:
        state.ring.trim()


def _append(state: OnlineState, value: Value) -> None:
    """Add a revision to the ring and to the last regime, drawn in towards the regime's line."""
    ring, regime = state.ring, state.regimes[-1]
    position, label, location, _, _, share, logs, *_ = value
    count, slope, locations = regime.count, regime.slope, ring.location
    location -= state.origin
    weight = _weight(state, share)
    clipped = location - slope * (state.count - regime.first)
    near = far = -1.0
    if count:
        near = (location - locations[-1] - slope) ** 2 / 2
        if count > 1:
            far = (location - locations[-2] - 2 * slope) ** 2 / 2
        if state.freedom:
            level = regime.total / regime.weight
            most = regimes.DRAWN_IN * sqrt(state.variance)
            if clipped - level > most:
                clipped = level + most
            elif clipped - level < -most:
                clipped = level - most
    regime.count = count + 1
    regime.weight += weight
    regime.total += weight * clipped
    regime.last_position = state.last_position = position
    regime.last_label = label
    state.count += 1
    ring.position.append(position)
    ring.label.append(label)
    locations.append(location)
    ring.weight.append(weight)
    ring.clipped.append(clipped)
    ring.near.append(near)
    ring.far.append(far)
    ring.weights.append(regime.weight)
    ring.totals.append(regime.total)
    state.samples.append(logs)
    if len(state.samples) > KEPT_SAMPLES:
        del state.samples[0]


def _weight(state: OnlineState, share: float) -> float:
    """The weight of a revision beside a typical one: more samples help where runs scatter."""
    tracker = state.tracker
    usual = tracker.share
    if not state.variance or -SAME_SHARE < share * tracker.shares - usual < SAME_SHARE:
        return 1.0
    typical = usual / tracker.shares
    part = min(tracker.run_part() / state.variance, 1.0)
    low, high = WEIGHT_RANGE
    return min(max(1.0 / (part * share / typical + 1.0 - part), low), high)


def _update_noise(state: OnlineState, value: Value) -> None:
    """Count the newest inner scatter, and the differences of the revision `LAG` ago.

    By now it is known that nothing new began there, or that something did.
    """
    tracker, ring = state.tracker, state.ring
    tracker.add_within(value)
    at = len(ring.near) - 1 - regimes.LAG
    if state.count > YOUNG and at >= 0 and ring.near[at] >= 0:
        most = state.variance if state.freedom else inf
        counted = tracker.add_differences(ring.near[at], ring.far[at], most)
        ring.near[at], ring.far[at] = counted
    regimes.refresh(state)


def _scan(state: OnlineState, regime: Regime) -> bool:
    """Hold the newest revisions against the rest of their regime; True when a break was made.

    The gap of two means is compared with its limit after multiplying by all three weights,
    which saves divisions; first with the normal limit, which is never above Student's.
    """
    count = regime.count
    if count < LEAST_REGIME or regimes.is_silent(state):
        return False
    variance, freedom, table = regimes.spread(state)
    mass, total = regime.weight, regime.total
    normal = scale.CONFIRM * scale.CONFIRM * variance
    weights, totals = state.ring.weights, state.ring.totals
    of_left = regimes.of_mean(table, count)
    for m in _windows(count):
        left = weights[~m]
        right = mass - left
        cross = total * left - totals[~m] * mass
        if cross * cross > normal * (share := (table[m] * left + of_left * right) * left * right):
            limit = scale.as_student(scale.CONFIRM, freedom) * variance
            if cross * cross > limit * share:
                return try_break(state)
    return False


@cache
def _windows(count: int) -> tuple[int, ...]:
    """The numbers of newest revisions that are looked at in a regime of `count`."""
    most = count - regimes.LEAST_SIDE
    return tuple(m for m in scale.WINDOWS if m <= most and not count % max(m // scale.OFTEN, 1))
