"""Whether what looks like steps is a slow drift: a staircase of alerts helps nobody."""

from dataclasses import dataclass

import numpy as np

from webapp.stats.changes import models
from webapp.stats.changes.models import Floats
from webapp.stats.changes.state import State

STEP_LEAD = 4.0
"""A drift must explain a stretch better than one step by this much, in units of the variance:
where the two cannot be told apart, it is a step."""

STEEPEST = 0.5
"""Standard deviations that a drift gains per revision at most when it stands against one step."""

STAIR_PRICE = 9.0
"""What each further step of the same direction costs, in the same unit: it has two parameters
(by BIC the logarithm of about 40 revisions, 3.7, for each) and a position of its choice."""

STAIR_LOOK = 40
"""Revisions from one step to the next, and before the first, that make a staircase."""

SHORTEST_STAIR = 12
"""Revisions from the first to the last of such steps: closer ones are steps, not a slow drift."""

END_PRICE = 2.0
"""What a step costs where the series drifts already: the slope was estimated from few revisions,
and drifts end, so that another bend is more likely than a step."""

SAME_PLACE = 3
"""A bend so few revisions after the beginning of a drift is a better slope of that drift."""


@dataclass(frozen=True, slots=True)
class Bend:
    """A drift that begins (or ends) at index `first` and replaces the last `steps` changes."""

    first: int
    slope: float
    steps: int = 0


def instead_of_step(state: State, start: int, clipped: Floats, variance: float) -> Bend | None:
    """Return the bend that explains the last regime better than one step, or None.

    `clipped` are its kept revisions from ring row `start` on, relative to its slope.
    """
    _, step_gain = models.best_split(clipped, np.ones(len(clipped)))
    offset = state.ring.start + start
    slope = state.regimes[-1].slope
    if slope:
        at, gain = models.best_bend_of(clipped, -slope)
        if gain > step_gain - END_PRICE * variance:
            return Bend(offset + at, -slope)
    lead = -END_PRICE if slope else STEP_LEAD
    at, more, gain = models.best_bend(clipped)
    is_slow = more * more <= STEEPEST**2 * variance
    if is_slow and gain > step_gain + lead * variance:
        return Bend(offset + at, more)
    return None


def instead_of_stairs(state: State, first: int, variance: float) -> Bend | None:
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
    at, slope, gain = models.best_bend(locations)
    if gain <= steps_gain - (STAIR_PRICE * (len(cuts) - 1) - STEP_LEAD) * variance:
        return None
    return Bend(start + at, slope, len(cuts) - 1)


def _stairs(state: State, first: int) -> list[int]:
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
