"""A decision of several machines or modes: what all of them say, and what each of them shows."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.bisects.models import Bisect, BisectAct, BisectBoot
from webapp.bisects.question import Circumstances, subjects_of
from webapp.stats import bisection


def decide_for_all(
    bisect: Bisect,
    names: Sequence[str],
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
) -> bisection.Together:
    """What the statistics decide from what is known of each machine and mode."""
    subjects = subjects_of(bisect, names, boots, acts, circumstances)
    return bisection.decide_together(
        subjects, circumstances.asked, circumstances.free, now=circumstances.at
    )


def pending_of(circumstances: Circumstances) -> list[list[Any]]:
    """What is under measurement as a decision keeps it."""
    return [
        [one.measure.index, one.measure.purpose.value, one.measure.rebuild, one.subject]
        for one in circumstances.asked
    ]


def asked_from(pending: Sequence[Sequence[Any]]) -> tuple[bisection.Asked, ...]:
    """What ``pending_of`` wrote."""
    return tuple(
        bisection.Asked(subject, bisection.Measure(index, bisection.Purpose(purpose), rebuild))
        for index, purpose, rebuild, subject in pending
    )


def together_of(circumstances: Circumstances) -> dict[str, Any]:
    """What else such a decision depends on, as JSON."""
    return {
        "free": dict(circumstances.free),
        "failures": {str(number): text for number, text in circumstances.failures.items()},
    }


def failures_from(together: Mapping[str, Any]) -> dict[int, str]:
    """The failures that ``together_of`` wrote."""
    return {int(number): text for number, text in together.get("failures", {}).items()}
