"""The input of a bisect: the plan, fixed at its start, and the evidence, which grows.

Every value is in *log percent*: 100·ln(value / any one reference). There a step of −2 % is −2.02,
the sign gives the direction, and neither unit nor level matters (`log_percent`).

Revision indices: 0 is the good revision, N the bad one, and candidate c_j (1 ≤ j ≤ N) is the
commit that made revision j. A history's neighbours of the good revision have negative indices,
those of the bad one indices above N.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import inf, isfinite, log

from webapp.stats import NotFiniteError, OutOfRangeError
from webapp.stats.bisection.noise import Noise

DEFAULT_BOOTS = 100
DEFAULT_DOUBT = 0.1
PERSON = 1e-3
"""Factor on the prior of a candidate that a person rules out: a thousand to one, not never. A
person can be wrong, and a weight of 0 would turn contradicting boots into a misfit nobody sees."""
LEAST_WEIGHT = 1 / 20
"""Of the largest: no list of paths knows more than that. A culprit that begins with less is found
only after a neighbour was named in its place."""
SPARED, SPARED_UNTOLD = 0.1, 0.5
"""Chance that the commit does not move a subject: one whose series has the alert (a false finding,
or another commit's), and one that only might be moved."""


class Purpose(StrEnum):
    """What a boot was measured for. ``HISTORY`` was there before: it is evidence, not effort.
    ``ANCHOR``: an end, booted again to see whether the lab changed.
    """

    HISTORY = "history"
    VALIDATING = "validating"
    SEARCHING = "searching"
    CONFIRMING = "confirming"
    ANCHOR = "anchor"


@dataclass(frozen=True, slots=True)
class Costs:
    """Hours of machine time that a build takes, and a boot with its runs."""

    build: float = 0.0
    boot: float = 1.0

    def __post_init__(self) -> None:
        if not (isfinite(self.build) and self.build >= 0 and isfinite(self.boot) and self.boot > 0):
            raise OutOfRangeError("costs: a build takes ≥ 0 hours and a boot more than 0")


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop: so many boots, so many machine hours, or a moment (aware)."""

    boots: int = DEFAULT_BOOTS
    hours: float = inf
    deadline: datetime | None = None

    def __post_init__(self) -> None:
        if self.boots < 1 or not self.hours > 0:
            raise OutOfRangeError("a budget has at least 1 boot and more than 0 hours")


@dataclass(frozen=True, slots=True)
class Companion:
    """A series that the same boots measure: another mode, or a canary, that the lab's changes move
    as well. ``sd``: its scatter from boot to boot, log percent. ``can_step``: a commit may move it;
    a canary is what none moves. Raises `OutOfRangeError`.
    """

    sd: float
    can_step: bool = True

    def __post_init__(self) -> None:
        if not (isfinite(self.sd) and self.sd > 0):
            raise OutOfRangeError("companions: the scatter is a finite percentage above 0")


@dataclass(frozen=True, slots=True)
class Plan:
    """The question. ``weights[j − 1]`` is the prior weight of candidate c_j, of any sum.

    Weight 0: the commit cannot matter (its build is identical to its parent's); any other counts
    as at least `LEAST_WEIGHT` of the largest. ``effect`` is the
    alerted step, signed. ``runs`` are in each boot to come. ``doubt`` is the chance that there is
    no step at all, before any boot. ``cached`` are the revisions whose builds exist.
    ``can_rebuild``: the lab can build a revision again with another layout. ``names``: what the
    revisions 0 … N are called in words; without them "revision 12". ``companions``: other series
    that boots may measure as well.
    """

    weights: tuple[float, ...]
    effect: float
    noise: Noise
    runs: int = 1
    doubt: float = DEFAULT_DOUBT
    costs: Costs = field(default_factory=Costs)
    cached: frozenset[int] = frozenset()
    budget: Budget = field(default_factory=Budget)
    can_rebuild: bool = False
    names: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()

    def __post_init__(self) -> None:
        if not self.weights:
            raise OutOfRangeError("weights: a bisect needs at least one candidate")
        if not all(isfinite(weight) and weight >= 0 for weight in self.weights):
            raise OutOfRangeError("weights: each must be a finite number ≥ 0")
        if not any(self.weights):
            raise OutOfRangeError("weights: every candidate is ruled out: let at least one matter")
        if not isfinite(self.effect) or self.effect == 0:
            raise OutOfRangeError("effect: the alerted step must be finite and not 0")
        if not 0 < self.doubt < 1:
            raise OutOfRangeError("doubt: a probability between 0 and 1")
        if self.runs < 1:
            raise OutOfRangeError("runs: at least 1 in each boot")
        if self.names and len(self.names) != len(self.weights) + 1:
            raise OutOfRangeError(
                f"names: {len(self.names)} for {len(self.weights) + 1} revisions, good to bad"
            )

    @property
    def bad(self) -> int:
        """The index N of the bad revision, which is the number of candidates."""
        return len(self.weights)

    def name(self, index: int) -> str:
        """What revision ``index`` is called."""
        known = self.names and 0 <= index <= self.bad
        return self.names[index] if known else f"revision {index}"


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot: the median (log percent) of its ``runs``, of which build of which revision.

    Boots with the same ``build`` share its effect; "" is the only build of that revision.
    ``beside``: what it measured of the plan's companions (number, log percent). ``turn``: how many
    boots its machine made for the bisect before it, where it measures more than this series;
    −1: as many as this series has.
    """

    index: int
    value: float
    build: str = ""
    runs: int = 1
    purpose: Purpose = Purpose.HISTORY
    beside: tuple[tuple[int, float], ...] = ()
    turn: int = -1

    def __post_init__(self) -> None:
        for value in (self.value, *(beside for _, beside in self.beside)):
            if not isfinite(value):
                raise NotFiniteError(value)
        if self.runs < 1:
            raise OutOfRangeError("runs: at least 1 in each boot")

    @property
    def of_build(self) -> tuple[str, int]:
        """What its build is known by: a key, or the revision of which that is the only build."""
        return self.build, 0 if self.build else self.index


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known: boots in the order measured, and the statements of people and the lab.

    ``skipped``: revisions that cannot be built or booted. ``excluded``: candidates that a person
    rules out; ``forced``: those to which a person limits the search (empty: no limit); both are
    a prior (`PERSON`), not a verdict. ``allowed``: those that a person calls as likely as any
    other, whatever the plan weighs them. ``identical``: candidates whose build turned out to be
    that of their parent: weight 0. ``pinned``: revisions to measure next, until they are
    measured. ``hours``: machine time used. ``failure``: why the lab gave up, or "". ``beyond``:
    boots of history beside the ends (indices below 0 or above N) that lie on another level than
    theirs: they show only whether the step lies outside the range.
    """

    boots: tuple[Boot, ...] = ()
    beyond: tuple[Boot, ...] = ()
    skipped: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    forced: frozenset[int] = frozenset()
    allowed: frozenset[int] = frozenset()
    identical: frozenset[int] = frozenset()
    pinned: tuple[int, ...] = ()
    hours: float = 0.0
    failure: str = ""

    @property
    def effort(self) -> int:
        """How many boots this bisect has cost."""
        return sum(boot.purpose is not Purpose.HISTORY for boot in self.boots)


@dataclass(frozen=True, slots=True)
class Subject:
    """``plan`` and ``evidence`` as of a bisect of its own; all have the same candidates, and the
    budget is the first one's. Subjects of one ``machine`` share what that machine does, and its
    builds. ``spared``: the chance that the commit does not move it; of one subject alone that is
    the plan's ``doubt``. ``name``: in words.
    """

    plan: Plan
    evidence: Evidence = field(default_factory=Evidence)
    machine: str = ""
    spared: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.spared < 1:
            raise OutOfRangeError("spared: a chance from 0 on and below 1")


def log_percent(value: float, reference: float) -> float:
    """``value`` in log percent of ``reference``: 100 ln(value / reference).

    Raises `OutOfRangeError` unless both are finite and above 0.
    """
    if not (value > 0 and reference > 0 and isfinite(value) and isfinite(reference)):
        raise OutOfRangeError("a level and its reference must be finite and above 0")
    return 100 * log(value / reference)


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
