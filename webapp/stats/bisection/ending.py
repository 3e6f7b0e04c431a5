"""How a bisect can end, and which candidates the evidence cannot exclude."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.posterior import BOUND, Posterior
from webapp.stats.bisection.validation import Outside

SET_MASS = 0.95
"""What a set of candidates that cannot be excluded holds of the probability of a step."""

WIDE_SET_MASS = 0.995
"""The same where one candidate alone reaches `SET_MASS` but must not be named."""

STEP_MASS = 0.95
"""Probability of a step from which a range is an answer, rather than an inconclusive search."""


SEVERAL, SEVERAL_BUILDS = 0.12, 0.2
"""Chance of two steps from which a name is called the first of several where a second one of half
the alerted step cannot be tested (`is_sharp`); the second where builds may scatter
(`MAY_SCATTER`), because then a level of its own is often a build's luck."""

MAY_SCATTER = 0.1
"""Scatter of builds, over the step, from which a difference may be that of two builds."""

MOVED = LIKELY = 0.5
"""Chances that the machine did not stay as it was: from the first levels are not compared across
it, from the second that is reported, and suspected where no commit is named."""

NOISY, UNEXPLAINED = 1.5, 3.0
"""Scatter of boots over that of the history: from the first noise is suspected where nothing is
named, from the second no hypothesis is believed to explain the boots, and the search stops."""

LEAST_BOOTS = 8
"""Boots of the bisect before a scatter counts as unexplained."""

SHORT_RANGE = 8
"""Commits that a person can look at: a range of so many is an answer in spite of the lab."""

SHARP, SHARP_BUILDS = 0.5, 0.2
"""Scatter of boots and of builds, over the step, up to which a second one can be tested with some
dozen boots. A second step looks like builds that scatter until it is found: so not `MAY_SCATTER`.
"""


class Kind(StrEnum):
    """The ways in which a bisect ends."""

    SINGLE = "single"
    RANGE = "range"
    TWO_STEPS = "two steps"
    NOT_REPRODUCED = "not reproduced"
    OUTSIDE = "outside the range"
    INCONCLUSIVE = "inconclusive"
    SUSPECTED = "machine or noise suspected"
    LAB_FAILED = "lab failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer. ``candidates``: the one, or all that cannot be excluded, in order.

    ``probability`` that this is the truth: of the candidate, of the set, of two steps or of none.
    ``second``: for two steps the candidates of the second one. ``more_boots``: about how many
    would be needed, None where boots alone would not suffice. ``several``: a single commit is the
    first of several. ``other``: of a single one that is not, the size of another change, log
    percent of either sign, below which there is none at 95 %; None where the machine moved.
    ``outside``: on which side of the range the step lies instead. ``text``: why, as a sentence.
    """

    kind: Kind
    candidates: tuple[int, ...]
    probability: float
    text: str
    second: tuple[int, ...] = ()
    more_boots: int | None = None
    several: bool = False
    other: float | None = None
    outside: Outside | None = None


def credible_set(now: Posterior, mass: float = SET_MASS) -> tuple[int, ...]:
    """The fewest candidates that hold ``mass`` of the probability of a step, in order.

    Those that no boot separates from a member (skipped revisions between them) are members too.
    """
    chances = now.candidates
    total = float(chances.sum())
    if total == 0:
        return ()
    order = np.argsort(-chances, kind="stable")
    count = int(np.searchsorted(np.cumsum(chances[order]), mass * total * (1 - 1e-12))) + 1
    gaps = np.unique(now.gap_of[order[:count]])
    inside = np.isin(now.gap_of, gaps) & (chances > 0)
    return tuple(int(index) + 1 for index in np.flatnonzero(inside))


def set_probability(now: Posterior, candidates: tuple[int, ...]) -> float:
    """Probability that one of ``candidates`` made the step."""
    return float(now.candidates[np.array(candidates, np.intp) - 1].sum()) if candidates else 0.0


def single(plan: Plan, now: Posterior, text: str) -> Outcome:
    """One commit is named."""
    chance, several = float(now.candidates[now.top - 1]), is_first_of_several(plan, now)
    other = None if several else other_change(now)
    return Outcome(Kind.SINGLE, (now.top,), chance, text, several=several, other=other)


def is_first_of_several(plan: Plan, now: Posterior) -> bool:
    """Whether one commit alone hardly explains all that was measured.

    A test that boots ran out for is decided by the sign of its log likelihood ratio, unless what
    is left may be what the machine did: two steps are those of one that stayed as it was.
    """
    if not is_sharp(plan, now):
        return now.two >= several_from(now)
    return now.rest.ratio >= (BOUND if now.lab.unsteady >= MOVED else 0.0)


def is_sharp(plan: Plan, now: Posterior) -> bool:
    """Whether boots and builds scatter little enough to test a second step of half the first."""
    is_steady = now.build_sd <= SHARP_BUILDS * abs(now.effect)
    return is_steady and now.boot_sd <= SHARP * abs(plan.effect)


def may_scatter(now: Posterior) -> bool:
    """Whether a difference may be that of two builds."""
    return now.build_sd >= MAY_SCATTER * abs(now.effect)


def other_change(now: Posterior) -> float | None:
    """How large another change can still be, log percent; None where the machine moved."""
    return None if now.lab.unsteady >= MOVED else now.rest.largest()


def several_from(now: Posterior) -> float:
    """The chance of two steps from which that is stated."""
    return SEVERAL_BUILDS if may_scatter(now) else SEVERAL


def is_suspected(now: Posterior) -> bool:
    """Whether a search that cannot name a commit found the machine or the noise instead."""
    if len(credible_set(now)) <= SHORT_RANGE and now.none < 1 - LIKELY:
        return False
    return now.lab.unsteady >= LIKELY or now.lab.scatter >= NOISY


def suspected(now: Posterior, text: str) -> Outcome:
    """The machine or the noise, rather than a commit, is what was found."""
    left = credible_set(now)
    return Outcome(Kind.SUSPECTED, left, set_probability(now, left), text)


def two_steps(now: Posterior, text: str) -> Outcome:
    """The interval holds two steps; each is known to lie in a range of candidates.

    Raises ValueError for a posterior without two gaps.
    """
    if now.two_gaps is None:
        raise ValueError("two steps need two gaps between measured revisions")
    first, second = (tuple(range(low, high + 1)) for low, high in now.two_gaps)
    return Outcome(Kind.TWO_STEPS, first, now.two, text, second)


def stopped(
    now: Posterior, text: str, *, bits: float, saturated: bool, mass: float = SET_MASS
) -> Outcome:
    """The search stops without a name: a range where a step is sure, else inconclusive.

    ``bits``: the information of the best next boot. A budget that ends before anything could be
    excluded is inconclusive as well.
    """
    left = credible_set(now, mass)
    possible = int((now.candidates > 0).sum())
    is_step = now.none <= 1 - STEP_MASS
    excluded_some = len(left) < possible
    kind = Kind.RANGE if is_step and (excluded_some or saturated) else Kind.INCONCLUSIVE
    more = None if saturated or bits <= 0 else ceil(now.entropy / bits)
    return Outcome(kind, left, set_probability(now, left), text, more_boots=more)
