"""What the rules know of one series when they choose, and what they may choose."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from webapp.stats.bisection import explain
from webapp.stats.bisection.ending import Outcome
from webapp.stats.bisection.plan import Boot, Evidence, Plan, Purpose
from webapp.stats.bisection.posterior import Posterior
from webapp.stats.bisection.tally import Tally, slot_of

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
class Choice:
    """What one series asks for: the state, the boots (none: wait for those under way), and why.

    ``outcome`` is there exactly when the state is done.
    """

    state: State
    text: str
    actions: tuple[Measure, ...] = ()
    outcome: Outcome | None = None


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

    def go_on(self, state: State, actions: Sequence[Measure], text: str) -> Choice:
        """The choice to measure, or to wait for the boots under way."""
        return Choice(state, self._with_remarks(text), tuple(actions))

    def done(self, outcome: Outcome) -> Choice:
        """The choice to stop."""
        return Choice(State.DONE, self._with_remarks(outcome.text), outcome=outcome)

    def _with_remarks(self, text: str) -> str:
        lab = explain.lab(self.now.lab)
        odd = explain.odd(self.evidence, self.data.odd, self.plan, self.now)
        return " ".join(filter(None, (text, "" if lab in text else lab, odd)))

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

    def slot(self, index: int) -> int:
        """The slot of a revision: the last candidate that can matter up to there."""
        return slot_of(self.data.slots, index)

    def measurable(self, slot: int) -> list[int]:
        """Revisions of a slot that can be booted, those nearest to the candidate first.

        At the good end that is the good revision itself, at the bad one the bad revision.
        """
        indices = np.flatnonzero(self.data.slots == slot).tolist()
        ordered = reversed(indices) if slot == self.data.first_bad else iter(indices)
        return [index for index in ordered if index not in self.evidence.skipped]

    def builds(self, slot: int) -> int:
        """How many builds of a slot were measured."""
        return int((self.data.slot == slot).sum())

    @property
    def fresh(self) -> list[Boot]:
        """The boots that this bisect measured and that count, in their order."""
        return [boot for boot in self.data.counted if boot.purpose is not Purpose.HISTORY]

    def boots_for(self, purpose: Purpose) -> list[Boot]:
        """The boots that were measured for a purpose and count."""
        return [boot for boot in self.data.counted if boot.purpose is purpose]
