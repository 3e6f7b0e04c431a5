"""Is there a step at all? Good and bad are booted in turn until a sequential test decides.

Wald's sequential probability ratio test (1945): H1, a step of `SHARE` of the alerted one, against
H0, none, with nominal error probabilities α = β = `ERROR`: it stops when the log likelihood ratio
leaves ± ln((1 − β)/α). Levels and noise are integrated out (`posterior.log_ratio`), so the ratio is
that of Student-like densities while the noise is an estimate.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import log

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.plan import Evidence, Plan, Purpose
from webapp.stats.bisection.posterior import log_ratio
from webapp.stats.bisection.tally import LEAST_BOOTS as LEAST_ODD_BOOTS
from webapp.stats.bisection.tally import Tally, odd_reach, slot_of

SHARE = 0.7
"""Of the alerted effect: alerts overestimate (design figure)."""

ERROR = 0.02
"""Nominal α and β."""

BOUND = log((1 - ERROR) / ERROR)
"""The log ratio at which the test stops, either way: 3.89."""

MOST_BOOTS = 20
"""A side, before the test gives up."""

LEAST_BOOTS = 3
"""A side, before the builds rather than the boots are said to be what leaves it open."""

MOST_LEAD = 4
"""Boots by which one side may be ahead. History makes one side well known, but a lab also
changes with time: only boots in turn show that."""


class Verdict(StrEnum):
    """What the test says. ``LIMITED``: endless boots of these builds would not decide it."""

    STEP = "step"
    NO_STEP = "no step"
    OPEN = "open"
    LIMITED = "limited"
    EXHAUSTED = "exhausted"


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


def validate(plan: Plan, evidence: Evidence, data: Tally) -> Validation:
    """Where the sequential test stands; ``data`` is the ``evidence`` reduced."""
    sides = data.slot == 0, data.slot == data.first_bad
    weight = data.by_history.weight @ data.weights
    fresh = fresh_boots(evidence, data)
    ratio = log_ratio(plan, data, SHARE * plan.effect)
    known = float(weight[sides[0]].sum()), float(weight[sides[1]].sum())
    limit = _limit(plan, data)
    more = _more_boots(plan, data, sum(fresh))
    owed = _owes_boots(evidence, data, fresh) or _is_strange(plan, data)
    return Validation(_verdict(ratio, limit, fresh, owed), ratio, fresh, known, more)


def fresh_boots(evidence: Evidence, data: Tally) -> tuple[int, int]:
    """Boots at the good and at the bad end that were measured by this bisect."""
    ends = [
        slot_of(data.slots, boot.index)
        for boot in evidence.boots
        if boot.purpose is not Purpose.HISTORY
    ]
    return ends.count(0), ends.count(data.first_bad)


def _owes_boots(evidence: Evidence, data: Tally, fresh: tuple[int, int]) -> bool:
    """Whether an end that can be measured was not: history alone does not decide."""
    return any(
        count == 0 and not evidence.skipped.issuperset(np.flatnonzero(data.slots == slot).tolist())
        for count, slot in zip(fresh, (0, data.first_bad), strict=True)
    )


def _is_strange(plan: Plan, data: Tally) -> bool:
    """Whether the ends differ by what neither hypothesis expects, while one boot may be why."""
    sides = [data.slot == slot for slot in (0, data.first_bad)]
    boots = [int(data.boots[side].sum()) for side in sides]
    if min(boots) == 0 or min(boots) >= LEAST_ODD_BOOTS:
        return False
    difference = _mean(data, sides[1]) - _mean(data, sides[0])
    reach = 2 * odd_reach(plan, plan.runs)
    return not min(0.0, plan.effect) - reach <= difference <= max(0.0, plan.effect) + reach


def _mean(data: Tally, side: NDArray[np.bool_]) -> float:
    weight = data.by_history.weight @ data.weights
    return float(weight[side] @ data.mean[side] / weight[side].sum())


def _verdict(ratio: float, limit: float, fresh: tuple[int, int], owed: bool) -> Verdict:
    if owed:
        return Verdict.OPEN
    if abs(ratio) >= BOUND:
        return Verdict.STEP if ratio > 0 else Verdict.NO_STEP
    if max(fresh) >= LEAST_BOOTS and limit < BOUND:
        return Verdict.LIMITED
    return Verdict.EXHAUSTED if max(fresh) >= MOST_BOOTS else Verdict.OPEN


def _limit(plan: Plan, data: Tally) -> float:
    """|log ratio| that endless boots of the builds measured so far would reach, as it looks now."""
    counts = [int((data.slot == slot).sum()) for slot in (0, data.first_bad)]
    build = float(data.by_history.weight @ data.by_history.build)
    if build == 0 or not all(counts):
        return np.inf
    return abs(_score(plan, data)) / (build * sum(1 / count for count in counts))


def _more_boots(plan: Plan, data: Tally, spent: int) -> int | None:
    """Boots until the ratio would leave the bounds if both means stayed as they are."""
    score = abs(_score(plan, data))
    if _limit(plan, data) <= BOUND or score == 0:
        return None
    build = float(data.by_history.weight @ data.by_history.build)
    counts = [int((data.slot == slot).sum()) for slot in (0, data.first_bad)]
    spare = score / BOUND - build * sum(1 / max(count, 1) for count in counts)
    needed = 4 * plan.noise.boot_variance(plan.runs) / spare
    return max(1, int(np.ceil(needed)) - spent)


def _score(plan: Plan, data: Tally) -> float:
    """x·δ1 − δ1²/2: the log ratio times the variance of the difference x."""
    sides = [data.slot == slot for slot in (0, data.first_bad)]
    if not all(side.any() for side in sides):
        return 0.0
    step = SHARE * plan.effect
    return (_mean(data, sides[1]) - _mean(data, sides[0])) * step - step * step / 2
