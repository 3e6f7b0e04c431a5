"""Whether the step lies outside the range: the good end is bad already, or the bad one good still.

Then both ends, booted in turn, lie on one level, and so does all between them; but what history
measured beside them does not. Builds in the order of the tree are cut by their cumulative sums, and
the cut may fall before the good end, into the range, behind the bad end, or nowhere. History's own
boots of an end are taken before those of the bisect, since a machine that changed in between would
look like a step at the end.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.hypotheses import EFFECT_SPREAD
from webapp.stats.bisection.noise import noise_nodes
from webapp.stats.bisection.plan import Evidence, Plan, Purpose
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


@dataclass(frozen=True, slots=True)
class Segments:
    """Cumulative Σw, Σwm of B builds, shape (S, B + 1), with Σwm² and the base, shape (S,)."""

    weight: Floats
    moment: Floats
    square: Floats
    base: Floats


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


def segments_of(mean: Floats, weights: Floats, base: Floats) -> Segments:
    """Cumulative sums over B builds: ``mean`` (B,), ``weights`` (S, B), ``base`` (S,): the log
    evidence of what scatters inside builds.
    """
    moments = weights * mean
    return Segments(
        weight=_from_zero(weights),
        moment=_from_zero(moments),
        square=moments @ mean,
        base=base + 0.5 * np.log(weights).sum(axis=1),
    )


def sides(segments: Segments) -> tuple[Floats, Floats, Floats, Floats]:
    """W0, W1 and the means of both sides (0 for an empty side) of each cut, shape (S, B + 1)."""
    w0, s0 = segments.weight, segments.moment
    w1, s1 = w0[:, -1:] - w0, s0[:, -1:] - s0
    w1[:, -1] = 0.0
    m0 = np.divide(s0, w0, out=np.zeros_like(w0), where=w0 > 0)
    m1 = np.divide(s1, w1, out=np.zeros_like(w1), where=w1 > 0)
    return w0, w1, m0, m1


def log_cuts(segments: Segments, effect: float, spread: float) -> Floats:
    """log Z of one step N(``effect``, ``spread``²) behind the first 0 … B builds: (S, B + 1)."""
    w0, w1, m0, m1 = sides(segments)
    rss = segments.square[:, None] - w0 * m0 * m0 - w1 * m1 * m1
    both = w0 * w1
    d = w0 + w1 + spread * spread * both
    d = np.where(d > 0, d, 1.0)
    off = m1 - m0 - effect
    return np.asarray(segments.base[:, None] - 0.5 * (rss + np.log(d) + off * off * both / d))


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


def _from_zero(values: Floats) -> Floats:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums
