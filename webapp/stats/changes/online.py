"""The online update: one more revision, one step at a time.

Its findings are the outcome of `advance_one` over the revisions of a series in order, nothing else;
a series read at once takes the very same steps. A step looks at a bounded number of revisions, so
that it costs the same at the 60th and at the 5,000th.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import inf, sqrt

from webapp.stats.changes import regimes, scale
from webapp.stats.changes.breaks import try_break
from webapp.stats.changes.noise import YOUNG
from webapp.stats.changes.online_state import KEPT_SAMPLES, RING, Gap, OnlineState, Regime, Ring
from webapp.stats.changes.points import BadSeriesError, Point, Value

WEIGHT_RANGE, SAME_SHARE = (0.1, 4.0), 1e-9
"""Weights of one revision beside a typical one, and the difference of two sums of shares, of a
hundred at most, that rounding makes."""

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
    """Advance `state`, which is changed, by one more point; no `value`: it mostly failed."""
    gap = state.gaps[-1] if state.gaps and state.gaps[-1].back is None else None
    if value is None:
        state.gaps[len(state.gaps) - (gap is not None) :] = [_longer(state, gap, point)]
        state.last_position = point.position
        return
    if gap is not None:
        state.gaps[-1] = replace(gap, back=(point.position, point.label))
    advance_one(state, value)


def _longer(state: OnlineState, gap: Gap | None, point: Point) -> Gap:
    """Return `gap` with one more revision, or a new gap where none is open."""
    at = (point.position, point.label)
    if gap is not None:
        is_zero = gap.is_zero and min(point.samples) >= 0
        return replace(gap, revisions=(*gap.revisions, at), is_zero=is_zero)
    last = state.regimes[-1] if state.regimes else None
    previous = None if last is None else (last.last_position, last.last_label)
    unusable = sum(len(one.revisions) for one in state.gaps)
    return Gap((at,), previous, state.count, unusable, min(point.samples) >= 0)


def advance_one(state: OnlineState, value: Value) -> None:
    """Advance `state`, which is changed, by one more revision."""
    if not state.regimes:
        state.origin = value.location
        state.regimes.append(Regime(0, value.position, value.label))
    ring, regime = state.ring, state.regimes[-1]
    _append(state, ring, regime, value)
    state.tracker.add_within(value)
    # By now it is known that nothing new began `LAG` ago, or that something did.
    if state.count > YOUNG and (near := ring.near[-1 - regimes.LAG]) >= 0:
        at, most = len(ring.near) - 1 - regimes.LAG, state.variance if state.freedom else inf
        ring.near[at], ring.far[at] = state.tracker.add_differences(near, ring.far[at], most)
    regimes.refresh(state)
    if regime.count in CENTRED or (state.count <= YOUNG and regimes.is_out_of_date(state)):
        regimes.lay_out(state, regime.first)
    if not _scan(state, ring, regime) and state.breaks and not state.breaks[-1].settled:
        regimes.review(state)
    if len(ring.location) >= 2 * RING:
        ring.trim()


def _append(state: OnlineState, ring: Ring, regime: Regime, value: Value) -> None:
    """Add a revision to the ring and to the last regime, drawn in towards the regime's line."""
    position, label, location = value[:3]
    count, slope, locations = regime.count, regime.slope, ring.location
    location -= state.origin
    weight = _weight(state, value.share)
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
    state.samples.append(value.logs)
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


def _scan(state: OnlineState, ring: Ring, regime: Regime) -> bool:
    """Hold the newest revisions against the rest of their regime; True when a break was made.

    The gap of two means is compared with its limit after multiplying by all three weights,
    which saves divisions; first with the normal limit, which is never above Student's.
    """
    count = regime.count
    if count < LEAST_REGIME or regimes.is_silent(state):
        return False
    table = scale.inflation(state.memory_step)
    mass, total, variance = regime.weight, regime.total, state.variance
    normal = scale.CONFIRM * scale.CONFIRM * variance
    weights, totals = ring.weights, ring.totals
    of_left = table[count] if count < scale.LONGEST else table[-1]
    for m in _windows(count):
        left = weights[~m]
        right = mass - left
        cross = total * left - totals[~m] * mass
        if cross * cross > normal * (share := (table[m] * left + of_left * right) * left * right):
            limit = scale.as_student(scale.CONFIRM, state.freedom) * variance
            if cross * cross > limit * share:
                return try_break(state)
    return False


@cache
def _windows(count: int) -> tuple[int, ...]:
    """The numbers of newest revisions that are looked at in a regime of `count`."""
    most = count - regimes.LEAST_SIDE
    return tuple(m for m in scale.WINDOWS if m <= most and not count % max(m // scale.OFTEN, 1))
