"""When the machine or the noise is what a bisect found, and what is said of them."""

from webapp.stats.bisection.case import Case
from webapp.stats.bisection.ending import credible_set
from webapp.stats.bisection.explain import LIKELY, change, lab
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.posterior import Posterior

NOISY = 1.5
"""Scatter of boots over what history says from which noise is suspected where nothing is named."""

UNEXPLAINED = 3.0
"""The same from which no hypothesis is believed to explain the boots: the search stops."""

LEAST_BOOTS = 8
"""Boots of the bisect before that can be said."""

SHORT_RANGE = 8
"""Commits that a person can look at: a range of so many is an answer in spite of the lab."""


WOULD_TELL = (
    "A canary, or another mode, measured in the same boots would tell the machine from the "
    "commits. "
)


def is_unexplained(case: Case) -> bool:
    """Whether the boots lie too far from every hypothesis to go on."""
    return len(case.fresh) >= LEAST_BOOTS and case.now.lab.scatter >= UNEXPLAINED


def is_suspected(now: Posterior) -> bool:
    """Whether a search that cannot name a commit found the machine or the noise instead."""
    if len(credible_set(now)) <= SHORT_RANGE and now.none < 1 - LIKELY:
        return False
    return now.lab.unsteady >= LIKELY or now.lab.scatter >= NOISY


def unexplained(now: Posterior) -> str:
    """No hypothesis explains what was measured."""
    return (
        "No hypothesis explains these boots: around the best of them they scatter "
        f"{now.lab.scatter:.1f} times as much as the history of the series says. Look at the "
        "machine before the commits."
    )


def suspected(plan: Plan, now: Posterior) -> str:
    """Why no commit is named, and what would tell."""
    if now.lab.unsteady < LIKELY:
        return (
            f"Boots scatter {now.lab.scatter:.1f} times as much as the history of the series says: "
            "find out why before more of them are measured. "
        )
    return (
        f"{lab(now.lab)} It cannot be told from a step of {change(plan.effect)}: boot "
        f"{plan.name(0)} and {plan.name(plan.bad)} in turn until they agree with themselves, then "
        f"bisect again. {'' if plan.companions else WOULD_TELL}"
    )
