"""Flaky boots: a share of all boots may have gone wrong, far from everything expected.

A normal model believes such a value, and would name a commit for it. Whether the boots of a build
went wrong or the build is like that is a mixture: of n boots k lie far off with share^k ·
(1 − share)^(n − k) in the first case, and rarely at all in the second. The share is learnt from
the other builds. Hence one odd boot alone is set aside, a second one that agrees brings it back,
and where one boot in ten goes wrong it takes a third.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import median

import numpy as np

from webapp.stats.bisection.plan import Boot, Plan, Purpose

ODD_SCORE = 6.0
"""Standard deviations beyond both levels; chance reaches that once in a billion boots."""

LEAST_BOOTS = 3
"""Of an end, before its median is a level that one odd boot does not move."""

SHARES = np.array([0.01, 0.03, 0.1, 0.2])
SHARES_PRIOR = np.array([0.5, 0.3, 0.15, 0.05])
"""Possible shares of boots that go wrong, and their prior: most labs have few."""

STRANGE_BUILD = 3e-3
"""Prior chance that a build has a level far beyond both ends'."""

MOST_SHARE = 1 / 3
"""Of the bisect's own boots: beyond it nothing is set aside, and the noise shows what is wrong."""

MAD_TO_SD = 1.4826
"""A normal standard deviation over the median absolute deviation."""


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
    seen = _seen_sd(boots, levels)
    reach = {runs: max(odd_reach(plan, runs), ODD_SCORE * seen) for runs in {b.runs for b in boots}}
    suspects = [
        i
        for i, boot in enumerate(boots)
        if not low - reach[boot.runs] <= boot.value <= high + reach[boot.runs]
    ]
    odd = tuple(i for i in suspects if not _is_like_that(plan, boots, suspects, i))
    return () if _are_too_many(boots, odd) else odd


def _are_too_many(boots: Sequence[Boot], odd: tuple[int, ...]) -> bool:
    """Whether so many of the bisect's own boots would go that the lab, not they, is odd."""
    fresh = sum(boot.purpose is not Purpose.HISTORY for boot in boots)
    gone = sum(boots[i].purpose is not Purpose.HISTORY for i in odd)
    return gone >= LEAST_BOOTS and gone > MOST_SHARE * fresh


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


def _seen_sd(boots: Sequence[Boot], levels: list[float]) -> float:
    """Scatter around the nearest level, which a minority of odd boots does not move."""
    return MAD_TO_SD * median(min(abs(boot.value - level) for level in levels) for boot in boots)


def _is_like_that(plan: Plan, boots: Sequence[Boot], suspects: list[int], index: int) -> bool:
    """Whether it is likelier that the whole build lies there than that its boots went wrong."""
    boot = boots[index]
    near = ODD_SCORE * sqrt(2 * plan.noise.boot_variance(boot.runs))
    own = [
        i for i, each in enumerate(boots) if (each.build, each.index) == (boot.build, boot.index)
    ]
    agree = [i for i in own if i in suspects and abs(boots[i].value - boot.value) <= near]
    others = len(boots) - len(own)
    wrong = len(suspects) - sum(i in suspects for i in own)
    share = SHARES_PRIOR * SHARES**wrong * (1 - SHARES) ** (others - wrong)
    share /= share.sum()
    usual = len(own) - len(agree)
    went_wrong = float(share @ (SHARES ** len(agree) * (1 - SHARES) ** usual))
    is_strange = float(share @ (SHARES**usual * (1 - SHARES) ** len(agree)))
    return STRANGE_BUILD * is_strange > went_wrong
