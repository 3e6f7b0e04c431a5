"""The shape of a decision, and what each of its steps looks at."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from webapp.stats.bisection.ending import Outcome
from webapp.stats.bisection.plan import Boot, Evidence, Plan, Purpose
from webapp.stats.bisection.posterior import Posterior
from webapp.stats.bisection.tally import Tally, place_of
from webapp.stats.bisection.validation import Validation

SURE = 0.95
"""Probability from which the most probable candidate is confirmed, and after that named."""


class State(StrEnum):
    """Where a bisect is; what surrounds it (queued, paused, cancelled) is not for statistics."""

    VALIDATING = "validating"
    SEARCHING = "searching"
    CONFIRMING = "confirming"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Measure:
    """One boot to measure. Its result comes back as a `Boot` with the same ``purpose``.

    ``rebuild``: of a new build of that revision, under a build key of its own.
    """

    index: int
    purpose: Purpose
    rebuild: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The state, what to measure (nothing: wait for what is under way), and why, in words.

    ``outcome`` is there exactly when the state is done. ``effort``: boots that the bisect has
    cost so far. ``validation`` where the ends decided.
    """

    state: State
    actions: tuple[Measure, ...]
    words: str
    posterior: Posterior
    effort: int
    outcome: Outcome | None = None
    validation: Validation | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``wanted``: how many measurements may be asked for. ``stop``: why none may, or ""."""

    plan: Plan
    evidence: Evidence
    data: Tally
    now: Posterior
    pending: tuple[Measure, ...]
    wanted: int
    stop: str

    def go_on(
        self,
        state: State,
        actions: list[Measure],
        words: str,
        validation: Validation | None = None,
    ) -> Decision:
        """The decision to measure, or to wait for what is under way."""
        effort = self.evidence.effort
        return Decision(state, tuple(actions), words, self.now, effort, None, validation)

    def done(self, outcome: Outcome, validation: Validation | None = None) -> Decision:
        """The decision to stop."""
        effort = self.evidence.effort
        return Decision(State.DONE, (), outcome.words, self.now, effort, outcome, validation)

    def pins(self, purpose: Purpose) -> list[Measure]:
        """What people want measured next and is not under way."""
        under_way = {measure.index for measure in self.pending}
        pinned = [
            index
            for index in dict.fromkeys(self.evidence.pinned)
            if 0 <= index <= self.plan.bad
            and index not in under_way
            and index not in self.evidence.skipped
        ]
        return [Measure(index, purpose) for index in pinned[: self.wanted]]

    def place(self, index: int) -> int:
        """The place of a revision: the last candidate that can matter up to there."""
        return place_of(self.data.places, index)

    def measurable(self, place: int) -> list[int]:
        """Revisions of a place that can be booted, those nearest to the candidate first.

        At the good end that is the good revision itself, at the bad one the bad revision.
        """
        indices = np.flatnonzero(self.data.places == place).tolist()
        ordered = reversed(indices) if place == self.data.first_bad else iter(indices)
        return [index for index in ordered if index not in self.evidence.skipped]

    def builds(self, place: int) -> int:
        """How many builds of a place were measured."""
        return int((self.data.place == place).sum())

    def boots_for(self, purpose: Purpose) -> list[Boot]:
        """The boots that were measured for a purpose."""
        return [boot for boot in self.evidence.boots if boot.purpose is purpose]
