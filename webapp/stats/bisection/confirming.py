"""What the rules know of one series when they choose, and what they may choose; the boots that
confirm a candidate before it is named, and those that show a second culprit.

Culprit and parent are booted in turn. While it is open whether the leading commit leaves a second
change of half the alerted step (`posterior.Remainder`), revisions on both sides of that one's
likeliest place are booted again. Where a difference may be the luck of two builds, which no further
boot of them settles, a revision within that place comes first: another build.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor

import numpy as np

from webapp.stats.bisection import ending, explain
from webapp.stats.bisection.plan import Boot, Evidence, Plan, Purpose
from webapp.stats.bisection.posterior import SHARE, Posterior
from webapp.stats.bisection.tally import Tally, slot_of

SURE = 0.95
"""Probability from which the most probable candidate is confirmed, and after that named."""

CONFIRMING_BOOTS = 3
"""Boots of culprit and parent in turn that a name needs after the search (design figure)."""
BUILD_MARGIN = 1.25
"""Builds that scatter by half the step cannot single out a commit (design). What is believed of
either is an estimate, so the name is withheld somewhat before that."""
HARD_TO_SETTLE = 0.04
"""Chance of two steps below which one commit is named alone where boots or builds scatter too much
(`ending.is_sharp`): there the test of a size would take many dozens of boots."""

MOST_BOOTS, MOST_BOOTS_HARD = 32, 12
"""Confirming boots in all, after which the question is left where it stands."""


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
    outcome: ending.Outcome | None = None


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

    def done(self, outcome: ending.Outcome) -> Choice:
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

    @property
    def is_unexplained(self) -> bool:
        """Whether the boots of the bisect lie too far from every hypothesis to go on."""
        is_wide = self.now.lab.scatter >= ending.UNEXPLAINED
        return is_wide and len(self.fresh) >= ending.LEAST_BOOTS

    def boots_for(self, purpose: Purpose) -> list[Boot]:
        """The boots that were measured for a purpose and count."""
        return [boot for boot in self.data.counted if boot.purpose is purpose]


def confirming(case: Case) -> Choice | None:
    """Boots in turn of the measurable revisions nearest to the candidate on both sides, or the
    name; None where a side has no revision. Builds that scatter as much as the step forbid it.
    """
    top = case.now.top
    before = [index for index in case.measurable(case.slot(top - 1)) if index < top]
    after = case.measurable(top)
    if not (before and after):
        return None
    pair = max(before), min(after)
    needed = _builds_needed(case)
    builds = {index: case.builds(case.slot(index)) for index in pair}
    short = [index for index, count in builds.items() if count < needed]
    slots = [case.slot(index) for index in pair]
    made = [case.slot(boot.index) for boot in case.boots_for(Purpose.CONFIRMING)]
    made = [slot for slot in made if slot in slots]
    if short and not case.plan.can_rebuild and min(builds.values()) >= 1:
        text, mass = explain.too_noisy(case.plan, case.now), ending.WIDE_SET_MASS
        return case.done(ending.stopped(case.now, text, bits=0.0, saturated=True, mass=mass))
    if not short and len(made) >= CONFIRMING_BOOTS and len(set(made)) == 2:
        if second := _second_boots(case):
            text = explain.second(case.plan, case.now)
            return case.go_on(State.CONFIRMING, second, text)
        text = explain.single(case.plan, case.now, len(made))
        return case.done(ending.single(case.plan, case.now, text + _others(case)))
    actions = _boots(case, pair, made, short)
    if not actions and not case.pending:
        text = explain.unconfirmed(case.plan, case.now, case.stop)
        return case.done(ending.stopped(case.now, text, bits=0.0, saturated=True))
    return case.go_on(State.CONFIRMING, actions, explain.confirming(case.plan, case.now))


def _builds_needed(case: Case) -> int:
    """Builds of each of both: `BUILD_MARGIN`·σ_build/√n must be less than half the step.

    Two at least where builds may scatter and the lab can build again.
    """
    step = max(abs(case.now.effect), 1e-12)
    needed = floor((BUILD_MARGIN * case.now.build_sd / (step / 2)) ** 2) + 1
    scatters = ending.may_scatter(case.now)
    return max(needed, 2) if case.plan.can_rebuild and scatters else needed


def _second_boots(case: Case) -> list[Measure]:
    """Boots at the likeliest place of a second step; none once that is settled."""
    if not (case.wanted and _is_open(case)):
        return []
    most = MOST_BOOTS if ending.is_sharp(case.plan, case.now) else MOST_BOOTS_HARD
    under_way = [measure.index for measure in case.pending]
    room = most - len(case.boots_for(Purpose.CONFIRMING)) - len(under_way)
    counts = _counts(case)
    for index in under_way:
        _add(counts, index)
    actions = [
        Measure(index, Purpose.CONFIRMING) for index in _within(case) if room > 0 and all(counts)
    ]
    while len(actions) < min(case.wanted, room) and all(counts):
        side = min(counts, key=lambda each: sum(each.values()))
        index = min(side, key=lambda each: (side[each], each))
        actions.append(Measure(index, Purpose.CONFIRMING))
        _add(counts, index)
    return actions


def _is_open(case: Case) -> bool:
    now = case.now
    if ending.is_sharp(case.plan, now):
        return now.rest.is_open
    return HARD_TO_SETTLE <= now.two < ending.several_from(now)


def _within(case: Case) -> list[int]:
    """The revision in the middle of that place, which nobody measured, where builds may scatter."""
    between = case.now.rest.between
    is_luck = ending.is_sharp(case.plan, case.now) and ending.may_scatter(case.now)
    if between is None or not is_luck:
        return []
    first, last = between
    inside = [index for index in range(first, last) if index not in case.evidence.skipped]
    middle = sorted(inside, key=lambda index: abs(2 * index - (first - 1 + last)))[:1]
    return [index for index in middle if index not in {one.index for one in case.pending}]


def _counts(case: Case) -> list[dict[int, int]]:
    """Boots of the measured revisions on each side of the second step, history's at the ends."""
    if case.now.rest.between is None:
        return []
    top, (first, last) = case.now.top, case.now.rest.between
    if last < top:
        spans = [(0, first - 1), (last, top - 1)]
    else:
        spans = [(top, first - 1), (last, case.plan.bad)]
    booted = [min(max(boot.index, 0), case.plan.bad) for boot in case.data.counted]
    return [
        {
            index: booted.count(index)
            for index in sorted(set(booted) - case.evidence.skipped)
            if low <= index <= high
        }
        for low, high in spans
    ]


def _add(counts: list[dict[int, int]], index: int) -> None:
    for each in counts:
        if index in each:
            each[index] += 1


def _others(case: Case) -> str:
    """The text about other commits that may contribute; begins with a space."""
    if ending.is_first_of_several(case.plan, case.now):
        return explain.first_of_several(case.plan, case.now)
    other = ending.other_change(case.now)
    if other is not None and other <= SHARE * abs(case.plan.effect):
        return ""
    return explain.not_ruled_out(other)


def _boots(case: Case, pair: tuple[int, int], made: list[int], short: list[int]) -> list[Measure]:
    actions = case.pins(Purpose.CONFIRMING)
    coming = [case.slot(measure.index) for measure in (*case.pending, *actions)]
    done = [*made, *coming]
    while len(actions) < case.wanted and (
        short or len(done) < CONFIRMING_BOOTS or len(set(done)) < 2
    ):
        parent, culprit = pair
        culprit_first = done.count(case.slot(culprit)) <= done.count(case.slot(parent))
        index = culprit if culprit_first else parent
        index = short[0] if short and index not in short else index
        rebuild = index in short and case.builds(case.slot(index)) > 0
        actions.append(Measure(index, Purpose.CONFIRMING, rebuild=rebuild))
        done.append(case.slot(index))
    return actions
