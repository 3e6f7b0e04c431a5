"""Whether a crossing of the limit is a break, and of which kind: one step, or a line that bends."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from webapp.stats.changes import regimes, scale
from webapp.stats.changes.online_state import Break, Kind, OnlineState
from webapp.stats.changes.points import Floats

LEAST_RAMP, STEEPEST = 10, 0.5
"""Revisions that a drift lasts at least, and standard deviations that it gains in each at most."""

STEP_LEAD = 4.0
"""A drift must explain a stretch better than one step by this much, in variances: where the two
cannot be distinguished, it is a step."""

STAIR_PRICE = 9.0
"""What each further step of the same direction costs, in the same unit: it has two parameters
(by BIC the logarithm of about 40 revisions, 3.7, for each) and a position of its choice."""

STAIR_LOOK, SHORTEST_STAIR = 40, 12
"""Revisions from one step of a staircase to the next at most, and from its first to its last at
least: closer ones are steps."""

END_PRICE = 2.0
"""What a step costs where the series drifts already: the slope was estimated from few revisions,
and drifts end, so that another bend is more likely than a step."""

SAME_PLACE = 3
"""A bend so few revisions after the beginning of a drift is a better slope of it."""

SMALL_SIDE = 40
"""Sides of at most so many revisions are tested without their most extreme one as well."""


@dataclass(frozen=True, slots=True)
class Bend:
    """A drift that begins (or ends) at index `first` and replaces the last `steps` changes."""

    first: int
    slope: float
    steps: int = 0


def instead_of_step(state: OnlineState, start: int, clipped: Floats) -> Bend | None:
    """Return the bend that explains the last regime better than one step, or None; `clipped` are
    its kept revisions from ring row `start` on, relative to its slope.
    """
    _, step_gain = best_split(clipped, np.ones(len(clipped)))
    offset, variance = state.ring.start + start, state.variance
    slope = state.regimes[-1].slope
    if slope:
        at, gain = best_bend_of(clipped, -slope)
        if gain > step_gain - END_PRICE * variance:
            return Bend(offset + at, -slope)
    lead = -END_PRICE if slope else STEP_LEAD
    at, more, gain = best_bend(clipped)
    is_slow = more * more <= STEEPEST**2 * variance
    if is_slow and gain > step_gain + lead * variance:
        return Bend(offset + at, more)
    return None


def instead_of_stairs(state: OnlineState, first: int) -> Bend | None:
    """Return the bend that explains a step at index `first` and the steps before it, or None."""
    ring = state.ring
    cuts = _stairs(state, first)
    if len(cuts) < 2 or first - cuts[0] < SHORTEST_STAIR:
        return None
    base = state.regimes[-len(cuts)]
    start = max(base.first, cuts[0] - STAIR_LOOK, ring.start)
    locations = np.array(ring.location[start - ring.start :])
    locations -= base.slope * np.arange(len(locations))
    steps_gain = _gain(locations, [cut - start for cut in cuts])
    at, slope, gain = best_bend(locations)
    if gain <= steps_gain - (STAIR_PRICE * (len(cuts) - 1) - STEP_LEAD) * state.variance:
        return None
    return Bend(start + at, slope, len(cuts) - 1)


def _stairs(state: OnlineState, first: int) -> list[int]:
    """The first indices of the latest steps in the direction of the one at `first`."""
    ring = state.ring
    cuts = [first]
    row = first - ring.start
    newest = float(np.mean(ring.location[row:]))
    upwards = newest > state.regimes[-1].at(first)
    for i in range(len(state.breaks) - 1, -1, -1):
        step, before, after = state.breaks[i], state.regimes[i], state.regimes[i + 1]
        is_near = cuts[0] - step.index <= STAIR_LOOK and step.index > ring.start
        if step.kind == "drift" or not is_near:
            break
        if (after.level > before.at(after.first)) != upwards:
            break
        cuts.insert(0, step.index)
    return cuts


def _gain(locations: Floats, cuts: list[int]) -> float:
    """How much the sum of squares falls when each part has a level of its own."""
    middle = float(locations.mean())
    return sum(len(part) * (float(part.mean()) - middle) ** 2 for part in np.split(locations, cuts))


def try_break(state: OnlineState) -> bool:
    """Break the last regime where it breaks best; False when the evidence is of one revision."""
    ring, regime = state.ring, state.regimes[-1]
    start = max(regime.first - ring.start, 0)
    clipped, weights = np.array(ring.clipped[start:]), np.array(ring.weight[start:])
    if regime.first < ring.start:
        # What has left the ring is one heavy value at its left end.
        clipped[0] = ring.totals[0] / ring.weights[0]
        weights[0] = ring.weights[0]
    split, _ = best_split(clipped, weights)
    first = ring.start + start + split
    # A revision that is odd beside the others of its side has no vote at all: the others must
    # carry the whole limit. One that agrees with them may carry most of it.
    flat = regimes.flat(state, ring.start + start)
    left, right = flat[:split], flat[split:]
    if not (_carries(state, right, left) and _carries(state, left, right)):
        return False
    bend = instead_of_stairs(state, first) or instead_of_step(state, start, clipped)
    if bend is None:
        begin(state, "change", first, 0.0)
        # The split was chosen on values drawn in; a large step is placed better without that.
        regimes.move(state)
        if state.regimes[-1].count >= regimes.REVIEWED:
            # A small change found late: the ring may soon drop the revisions that show where.
            regimes.settle(state)
        return True
    for _ in range(bend.steps):
        state.retracted.append(state.breaks.pop())
        regimes.join_to_former(state)
    _bend(state, bend)
    return True


def _bend(state: OnlineState, bend: Bend) -> None:
    """Bend the last regime's line, or give it a better slope where it has just begun to"""
    regime = state.regimes[-1]
    is_kept = regime.first >= state.ring.start
    if regime.slope and is_kept and bend.first - regime.first <= SAME_PLACE:
        regime.slope += bend.slope
        regimes.lay_out(state, regime.first)
    else:
        earliest = max(regime.first, state.ring.start) + 1
        begin(state, "drift", max(bend.first, earliest), bend.slope)


def begin(state: OnlineState, kind: Kind, first: int, slope: float) -> None:
    """Begin a new regime at index `first`, whose line gains `slope` more than the last one's."""
    ring, former = state.ring, state.regimes[-1]
    if state.breaks and not state.breaks[-1].settled:
        regimes.settle(state)
    regimes.give_to_next(state, first)
    at = first - ring.start
    regimes.append_regime(state, first, former.slope + slope)
    newest, is_drift = (ring.position[-1], ring.label[-1]), kind == "drift"
    state.breaks.append(
        Break(kind, first, ring.position[at], ring.label[at], newest, settled=is_drift)
    )
    if kind == "change":
        regimes.take_back(state, first)
    regimes.lay_out(state, first)


def _carries(state: OnlineState, side: Sequence[float], other: Sequence[float]) -> bool:
    """Whether a side differs from the other without its most extreme revision."""
    variance, freedom, table = regimes.spread(state)
    count = len(side)
    if count > SMALL_SIDE:
        return True
    level = _middle(other)
    worst = max(range(count), key=lambda i: abs(side[i] - level))
    rest = [value for i, value in enumerate(side) if i != worst]
    mean = sum(rest) / len(rest)
    is_odd = abs(side[worst] - mean) > scale.ODD * sqrt(variance * (1 + 1 / len(rest)))
    need = scale.as_student(scale.CONFIRM if is_odd else scale.REST, freedom)
    inflated = sum(regimes.of_mean(table, len(one)) / len(one) for one in (rest, other))
    same_way = (mean - level > 0) == (sum(side) / count - level > 0)
    return same_way and (mean - level) ** 2 > need * variance * inflated


def _middle(values: Sequence[float]) -> float:
    """A level that one odd revision among few cannot move: the mean without both extremes."""
    if len(values) < 4:
        return sum(values) / len(values)
    return (sum(values) - min(values) - max(values)) / (len(values) - 2)


def best_split(values: Floats, weights: Floats) -> tuple[int, float]:
    """Return the best first index of the right side, and the gain in the sum of squares.

    The gain is wL wR / (wL + wR) (mR - mL)², the drop of the weighted sum of squares when two
    means replace one; needs at least 2 * LEAST_SIDE values.
    """
    mass = np.cumsum(weights)
    total = np.cumsum(weights * values)
    left, rest = mass[:-1], mass[-1] - mass[:-1]
    gap = (total[-1] - total[:-1]) / rest - total[:-1] / left
    gain = left * rest / mass[-1] * gap * gap
    inner = gain[regimes.LEAST_SIDE - 1 : len(gain) - (regimes.LEAST_SIDE - 1)]
    at = int(np.argmax(inner))
    return at + regimes.LEAST_SIDE, float(inner[at])


def best_bend(values: Floats) -> tuple[int, float, float]:
    """Return where a level line best bends into a ramp, the ramp's slope, and the gain.

    The ramp is 1 at the returned index and grows by one slope per revision. Least squares for
    every bend at once, from suffix sums; (0, 0, 0) when there are fewer than LEAST_RAMP values.
    """
    n = len(values)
    if n < LEAST_RAMP:
        return 0, 0.0, 0.0
    tails, squares = _ramps(values)
    squares[squares <= 0] = np.inf
    gain = tails * tails / squares
    gain[n - LEAST_RAMP + 1 :] = 0.0
    at = int(np.argmax(gain))
    return at, float(tails[at] / squares[at]), float(gain[at])


def best_bend_of(values: Floats, slope: float) -> tuple[int, float]:
    """Return where a level line best bends into a ramp of a given slope, and the gain."""
    tails, squares = _ramps(values)
    gain = 2 * slope * tails - slope * slope * squares
    at = int(np.argmax(gain[1:])) + 1
    return at, float(gain[at])


def _ramps(values: Floats) -> tuple[Floats, Floats]:
    """For a ramp from each index on: its product with `values` less their mean, and its own square,
    its mean taken out.
    """
    n = len(values)
    tails = np.cumsum(np.cumsum((values - values.mean())[::-1]))[::-1]
    length = n - np.arange(n, dtype=float)
    sums = length * (length + 1) / 2
    return tails, sums * (2 * length + 1) / 3 - sums * sums / n
