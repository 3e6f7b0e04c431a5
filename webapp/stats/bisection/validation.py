"""Is there a step at all, and does it lie in the range?

Good and bad are booted in turn until a sequential test decides. Wald's sequential probability ratio
test (1945): H1, a step of `SHARE` of the alerted one, against H0, none, with nominal error
probabilities α = β = `ERROR`: it stops when the log likelihood ratio leaves ± ln((1 − β)/α). Levels
and noise are integrated out (`log_ratio`), so the ratio is that of Student-like densities while the
noise is an estimate.

The step lies outside where the good end is bad already, or the bad one good still. Then both ends
lie on one level, and so does all between them; but what history measured beside them does not.
Builds in the order of the tree are cut by their cumulative sums, and the cut may fall before the
good end, into the range, behind the bad end, or nowhere. History's own boots of an end are taken
before those of the bisect, since a machine that changed in between would look like a step there.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, inf, log

import numpy as np

from webapp.stats.arrays import Bools, Floats
from webapp.stats.bisection import tally
from webapp.stats.bisection.hypotheses import EFFECT_SPREAD
from webapp.stats.bisection.noise import noise_nodes
from webapp.stats.bisection.plan import Evidence, Plan, Purpose

TINY = float(np.finfo(np.float64).tiny)

SHARE = 0.7
"""Of the alerted effect: alerts overestimate (design figure)."""

ERROR = 0.02
"""Nominal α and β."""

BOUND = log((1 - ERROR) / ERROR)
"""The log ratio at which the test stops, either way: 3.89."""

MOST_BOOTS = 20
"""A side, before the test gives up."""

LEAST_BOOTS = 3
"""A side, before the builds rather than the boots are named as what leaves it open."""

MOST_LEAD = 4
"""Boots by which one side may be ahead. History makes one side well known, but a lab also
changes with time: only boots in turn show that."""

SUSPECTED, SURE_OUTSIDE = 0.5, 0.95
"""Chances that the step lies outside: from the first the ends without what lies behind that step
decide whether there is any between them; from the second that is stated."""
LEAST_BUILDS = 3
"""Of which one lies beside an end."""
PRIOR_INSIDE, PRIOR_BESIDE, PRIOR_NONE = 0.4, 0.15, 0.3
"""Before anything is looked at: in the range, on either side of it, nowhere."""


class Verdict(StrEnum):
    """The result of the test. ``LIMITED``: endless boots of these builds would not decide it."""

    STEP = "step"
    NO_STEP = "no step"
    OPEN = "open"
    LIMITED = "limited"
    EXHAUSTED = "exhausted"


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
class Validation:
    """``ratio``: log likelihood ratio, > 0 for a step. ``boots``: fresh ones, good and bad.

    ``more``: about how many further boots would decide it, None where none would.
    """

    verdict: Verdict
    ratio: float
    boots: tuple[int, int]
    weight: tuple[float, float]
    more: int | None


def validate(plan: Plan, evidence: Evidence, data: tally.Tally) -> Validation:
    """Where the sequential test stands; ``data`` is the ``evidence`` reduced."""
    sides = [data.slot == slot for slot in (0, data.first_bad)]
    known = data.by_history.weight @ data.weights
    weight = float(known[sides[0]].sum()), float(known[sides[1]].sum())
    fresh = fresh_boots(evidence, data)
    limit, more, owed = inf, None, _owes_boots(evidence, data, fresh)
    if all(side.any() for side in sides):
        means = [float(known[side] @ data.mean[side] / known[side].sum()) for side in sides]
        difference, step = means[1] - means[0], SHARE * plan.effect
        # The log ratio times the variance of the difference, and what builds are of the latter.
        score = abs(difference * step - step * step / 2)
        build = float(data.by_history.weight @ data.by_history.build)
        builds = build * sum(1 / int(side.sum()) for side in sides)
        limit = score / builds if builds else inf
        if score and limit > BOUND:
            needed = 4 * plan.noise.boot_variance(plan.runs) / (score / BOUND - builds)
            more = max(1, ceil(needed) - sum(fresh))
        least = min(int(data.boots[side].sum()) for side in sides)
        owed = owed or (least < tally.LEAST_BOOTS and _is_strange(plan, difference))
    ratio = log_ratio(plan, data, SHARE * plan.effect)
    return Validation(_verdict(ratio, limit, fresh, owed), ratio, fresh, weight, more)


def fresh_boots(evidence: Evidence, data: tally.Tally) -> tuple[int, int]:
    """Boots at the good and at the bad end that were measured by this bisect."""
    ends = [
        tally.slot_of(data.slots, boot.index)
        for boot in evidence.boots
        if boot.purpose is not Purpose.HISTORY
    ]
    return ends.count(0), ends.count(data.first_bad)


def log_ratio(plan: Plan, data: tally.Tally, step: float) -> float:
    """Log of how much better a step of ``step`` explains both ends than no step does.

    Uses the builds at the good and the bad end alone (Wald's λ, with the levels and the noise
    integrated out). 0 while one end was not measured.
    """
    ends = (data.slot == 0) | (data.slot == data.first_bad)
    builds, cut = (data.mean[ends], data.weights[:, ends], data.base), int((data.slot == 0).sum())
    log_z = [_log_cuts(*builds, effect, 0.0)[:, cut] for effect in (step, 0.0)]
    top = max(float(z.max()) for z in log_z)
    with_step, without = (float(data.by_history.weight @ np.exp(z - top)) for z in log_z)
    return log(max(with_step, TINY)) - log(max(without, TINY))


def outside(plan: Plan, evidence: Evidence, data: tally.Tally) -> Outside | None:
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
    weights = {side: PRIOR_BESIDE * _average(z, at) for side, at in sides.items()}
    total = sum(weights.values()) + PRIOR_NONE * none + PRIOR_INSIDE * _average(z, inside)
    side = max(weights, key=lambda each: weights[each])
    at = int(np.argmax(np.where(sides[side], z, -1.0)))
    end = 0 if side is Side.BEFORE else data.first_bad
    return Outside(
        side, weights[side] / total, (int(low[at]), int(high[at])), end in _measured_before(data)
    )


def without_other_side(evidence: Evidence, data: tally.Tally, found: Outside) -> Evidence:
    """The evidence without what history measured on the other side of the suspected step."""
    low, high = found.between
    boots = tuple(
        boot
        for boot in data.counted
        if boot.purpose is not Purpose.HISTORY
        or (boot.index >= high if found.side is Side.BEFORE else boot.index <= low)
    )
    return replace(evidence, boots=boots)


def _log_cuts(mean: Floats, weights: Floats, base: Floats, effect: float, spread: float) -> Floats:
    """log Z (S, B + 1) of one step N(``effect``, ``spread``²) behind the first 0 … B builds.

    ``mean`` (B,) and ``weights`` (S, B), their precisions; ``base`` (S,): the log evidence of what
    scatters inside builds.
    """
    moments = weights * mean
    w0, s0 = (np.pad(np.cumsum(each, axis=1), ((0, 0), (1, 0))) for each in (weights, moments))
    w1, s1 = w0[:, -1:] - w0, s0[:, -1:] - s0
    m0 = np.divide(s0, w0, out=np.zeros_like(w0), where=w0 > 0)
    m1 = np.divide(s1, w1, out=np.zeros_like(w1), where=w1 > 0)
    rss = (moments @ mean)[:, None] - w0 * m0 * m0 - w1 * m1 * m1
    both = w0 * w1
    d = w0 + w1 + spread * spread * both
    d = np.where(d > 0, d, 1.0)
    off = m1 - m0 - effect
    base = base + 0.5 * np.log(weights).sum(axis=1)
    return np.asarray(base[:, None] - 0.5 * (rss + np.log(d) + off * off * both / d))


def _owes_boots(evidence: Evidence, data: tally.Tally, fresh: tuple[int, int]) -> bool:
    """Whether an end that can be measured was not: history alone does not decide."""
    return any(
        count == 0 and not evidence.skipped.issuperset(np.flatnonzero(data.slots == slot).tolist())
        for count, slot in zip(fresh, (0, data.first_bad), strict=True)
    )


def _is_strange(plan: Plan, difference: float) -> bool:
    """Whether the ends differ by what neither hypothesis expects, so that one boot may be why."""
    reach = 2 * tally.outlier_reach(plan, plan.runs)
    return not min(0.0, plan.effect) - reach <= difference <= max(0.0, plan.effect) + reach


def _verdict(ratio: float, limit: float, fresh: tuple[int, int], owed: bool) -> Verdict:
    if owed:
        return Verdict.OPEN
    if abs(ratio) >= BOUND:
        return Verdict.STEP if ratio > 0 else Verdict.NO_STEP
    if max(fresh) >= LEAST_BOOTS and limit < BOUND:
        return Verdict.LIMITED
    return Verdict.EXHAUSTED if max(fresh) >= MOST_BOOTS else Verdict.OPEN


def _average(z: Floats, chosen: Bools) -> float:
    return float(z[chosen].mean()) if chosen.any() else 0.0


def _chances_of_cuts(plan: Plan, rows: Floats) -> tuple[Floats, float]:
    """Evidence (B − 1,) of a step between two of B builds along the tree, and of none; relative."""
    nodes = noise_nodes(plan.noise, plan.effect)
    builds = tally.precisions(rows, nodes), tally.inside_builds(rows, nodes)
    spread = EFFECT_SPREAD * abs(plan.effect)
    log_z = _log_cuts(rows[:, 3] - rows[0, 3], *builds, plan.effect, spread)
    log_z = log_z + np.log(nodes.weight)[:, None]
    z = np.exp(log_z - log_z.max()).sum(axis=0)
    return np.asarray(z[1:-1]), float(z[-1])


def _measured_before(data: tally.Tally) -> set[int]:
    """The slots in the range of which history has boots."""
    past = (boot.index for boot in data.counted if boot.purpose is Purpose.HISTORY)
    return {tally.slot_of(data.slots, index) for index in past if 0 <= index < len(data.slots)}


def _builds(plan: Plan, evidence: Evidence, data: tally.Tally) -> Floats:
    """Builds along the tree: history's, and the bisect's own of an end that history lacks."""
    missing = {0, data.first_bad} - _measured_before(data)

    def position_of(index: int) -> int:
        return tally.slot_of(data.slots, index) if 0 <= index < len(data.slots) else index

    counted = [
        boot
        for boot in data.counted
        if boot.purpose is Purpose.HISTORY or position_of(boot.index) in missing
    ]
    return tally.build_rows(plan, [*evidence.beyond, *counted], position_of)
