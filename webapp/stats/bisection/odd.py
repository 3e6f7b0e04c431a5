"""Boots that went wrong: one alone, far from everything that any hypothesis expects.

A normal model believes such a value, and would name a commit for it. It is set aside, and nothing
but another boot of the same build that agrees brings it back: then the build is like that.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import median

from webapp.stats.bisection.plan import Boot, Plan

ODD_SCORE = 6.0
"""Standard deviations beyond both levels; chance reaches that once in a billion boots."""

LEAST_BOOTS = 3
"""Of an end, before its median is a level that one odd boot does not move."""


def odd_boots(plan: Plan, boots: Sequence[Boot], bad: int) -> tuple[int, ...]:
    """Indices in ``boots`` of those to be set aside; ``bad``: the first revision of the bad end.

    None while neither end has `LEAST_BOOTS`; one known end has the other an alerted step away.
    """
    good_values = [boot.value for boot in boots if boot.index <= 0]
    bad_values = [boot.value for boot in boots if boot.index >= bad]
    levels = _levels(good_values, bad_values, plan.effect)
    if not levels:
        return ()
    low, high = min(levels), max(levels)
    reach = {runs: odd_reach(plan, runs) for runs in {boot.runs for boot in boots}}
    suspects = [
        i
        for i, boot in enumerate(boots)
        if not low - reach[boot.runs] <= boot.value <= high + reach[boot.runs]
    ]
    return tuple(i for i in suspects if not _is_shared(plan, boots, suspects, i))


def odd_reach(plan: Plan, runs: int) -> float:
    """How far beyond a level a boot may lie, log percent; half a step is never far."""
    sd = sqrt(plan.noise.boot_variance(runs) + plan.noise.build**2)
    return max(ODD_SCORE * sd, abs(plan.effect) / 2)


def _levels(good: list[float], bad: list[float], effect: float) -> list[float]:
    levels = []
    if len(good) >= LEAST_BOOTS:
        levels += [median(good), median(good) + effect]
    if len(bad) >= LEAST_BOOTS:
        levels += [median(bad), median(bad) - effect]
    return levels


def _is_shared(plan: Plan, boots: Sequence[Boot], suspects: list[int], index: int) -> bool:
    boot = boots[index]
    near = ODD_SCORE * sqrt(2 * plan.noise.boot_variance(boot.runs))
    return any(
        other != index
        and (boots[other].build, boots[other].index) == (boot.build, boot.index)
        and abs(boots[other].value - boot.value) <= near
        for other in suspects
    )
