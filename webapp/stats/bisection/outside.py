"""Whether the step lies outside the range: the good end is bad already, or the bad one good still.

Then both ends, booted in turn, lie on one level, and so does all between them; but what history
measured beside them does not. Builds in the order of the tree are cut as in `segments`, and the cut
may fall before the good end, into the range, behind the bad end, or nowhere. History's own boots of
an end are taken before those of the bisect, since a machine that changed in between would look like
a step at the end.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.hypotheses import EFFECT_SPREAD
from webapp.stats.bisection.noise import noise_nodes
from webapp.stats.bisection.plan import Evidence, Plan, Purpose
from webapp.stats.bisection.segments import log_cuts, segments_of
from webapp.stats.bisection.tally import Tally, build_rows, inside_builds, precisions, slot_of

Floats = NDArray[np.float64]

SUSPECTED, SURE = 0.5, 0.95
"""Chances that the step lies outside: from the first the ends without what lies behind that step
decide whether there is any between them; from the second that is said to be so."""

LEAST_BUILDS = 3
"""Of which one lies beside an end."""

PRIOR_INSIDE, PRIOR_BESIDE, PRIOR_NONE = 0.4, 0.15, 0.3
"""Before anything is looked at: in the range, on either side of it, nowhere."""


class Side(StrEnum):
    """Where the step lies."""

    BEFORE = "before the good end"
    BEHIND = "behind the bad end"


@dataclass(frozen=True, slots=True)
class Outside:
    """The likelier side, its chance, and the measured revisions (index) between which the step
    most probably lies there. ``by_history``: that end was measured at the time of those, so that
    a machine that changed since is no explanation.
    """

    side: Side
    chance: float
    between: tuple[int, int]
    by_history: bool


def outside(plan: Plan, evidence: Evidence, data: Tally) -> Outside | None:
    """The likelier side; None where nothing was measured beside an end."""
    rows = _builds(plan, evidence, data)
    at_builds = rows[:, 0].astype(np.intp)
    if not ((at_builds < 0).any() or (at_builds > plan.bad).any()) or len(at_builds) < LEAST_BUILDS:
        return None
    z, none = _chances_of_cuts(plan, rows)
    low, high = at_builds[:-1], at_builds[1:]
    sides = {Side.BEFORE: (high <= 0) & (low < high), Side.BEHIND: (low >= data.first_bad)}
    sides[Side.BEHIND] &= low < high
    inside = (low < high) & ~(sides[Side.BEFORE] | sides[Side.BEHIND])
    weights = {side: PRIOR_BESIDE * _mean(z, at) for side, at in sides.items()}
    total = sum(weights.values()) + PRIOR_NONE * none + PRIOR_INSIDE * _mean(z, inside)
    side = max(weights, key=lambda each: weights[each])
    at = int(np.argmax(np.where(sides[side], z, -1.0)))
    end = 0 if side is Side.BEFORE else data.first_bad
    return Outside(
        side, weights[side] / total, (int(low[at]), int(high[at])), end in _measured_before(data)
    )


def without_other_side(evidence: Evidence, data: Tally, found: Outside) -> Evidence:
    """The evidence without what history measured on the other side of the suspected step."""
    low, high = found.between
    boots = tuple(
        boot
        for boot in data.counted
        if boot.purpose is not Purpose.HISTORY
        or (boot.index >= high if found.side is Side.BEFORE else boot.index <= low)
    )
    return replace(evidence, boots=boots)


def _mean(z: Floats, chosen: NDArray[np.bool_]) -> float:
    return float(z[chosen].mean()) if chosen.any() else 0.0


def _chances_of_cuts(plan: Plan, rows: Floats) -> tuple[Floats, float]:
    """Evidence (B − 1,) of a step between two of B builds along the tree, and of none; relative."""
    nodes = noise_nodes(plan.noise, plan.effect)
    mean = rows[:, 3] - rows[0, 3]
    segments = segments_of(mean, precisions(rows, nodes), inside_builds(rows, nodes))
    log_z = log_cuts(segments, plan.effect, EFFECT_SPREAD * abs(plan.effect))
    log_z = log_z + np.log(nodes.weight)[:, None]
    z = np.exp(log_z - log_z.max()).sum(axis=0)
    return np.asarray(z[1:-1]), float(z[-1])


def _measured_before(data: Tally) -> set[int]:
    """The slots in the range of which history has boots."""
    past = (boot.index for boot in data.counted if boot.purpose is Purpose.HISTORY)
    return {slot_of(data.slots, index) for index in past if 0 <= index < len(data.slots)}


def _builds(plan: Plan, evidence: Evidence, data: Tally) -> Floats:
    """Builds along the tree: history's, and the bisect's own of an end that history lacks."""
    missing = {0, data.first_bad} - _measured_before(data)

    def position_of(index: int) -> int:
        return slot_of(data.slots, index) if 0 <= index < len(data.slots) else index

    counted = [
        boot
        for boot in data.counted
        if boot.purpose is Purpose.HISTORY or position_of(boot.index) in missing
    ]
    return build_rows(plan, [*evidence.beyond, *counted], position_of)
