"""Several machines or modes that look for one commit together: what each of them is.

A subject is a machine in a mode: it has levels, a step, noise and doings of its own, and its own
boots. What all share is the commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.errors import OutOfRangeError

SPARED, SPARED_UNTOLD = 0.1, 0.5
"""Chance that the commit does not move a subject: one whose series has the alert (a false finding,
or another commit's), and one that only might be moved."""


@dataclass(frozen=True, slots=True)
class Subject:
    """``plan`` and ``evidence`` as of a bisect of its own; all have the same candidates, and the
    budget is the first one's. Subjects of one ``machine`` share what that machine does, and its
    builds. ``spared``: the chance that the commit does not move it. ``name``: in words.
    """

    plan: Plan
    evidence: Evidence = field(default_factory=Evidence)
    machine: str = ""
    spared: float = SPARED
    name: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.spared < 1:
            raise OutOfRangeError("spared: a chance from 0 on and below 1")


def check_subjects(subjects: Sequence[Subject]) -> None:
    """Raise `OutOfRangeError` unless all of them ask the same question."""
    if not subjects:
        raise OutOfRangeError("subjects: at least one machine and mode")
    questions = {
        (
            one.plan.weights,
            one.plan.doubt,
            one.evidence.excluded,
            one.evidence.forced,
            one.evidence.allowed,
            one.evidence.identical,
        )
        for one in subjects
    }
    if len(questions) > 1:
        raise OutOfRangeError("subjects: all of them look among the same candidates")
