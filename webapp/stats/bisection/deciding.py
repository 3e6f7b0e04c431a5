"""What the machines and modes that look for one commit measure next, and when that ends.

One of them or several: each machine that is free is asked for what is worth most per hour. The
rules of one series (`stages`) hold for the subject that *leads*, the one whose boots are worth
most, with the posterior of all (`joint`). The others owe one boot of each end, and are measured as
long as the commit may move them. The search begins when the subjects' ratio tests together allow.
A decision is a pure function of plans and evidence: the same evidence gives the same decision.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from math import log

import numpy as np

from webapp.stats import OutOfRangeError
from webapp.stats.bisection import explain, stages
from webapp.stats.bisection.confirming import Case, Choice, Measure, State
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.information import Outlook, expect, look_ahead
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.plan import Plan, Purpose, Subject, check_subjects
from webapp.stats.bisection.posterior import Posterior
from webapp.stats.bisection.validation import BOUND, Validation, fresh_boots, validate

GOES_ON = 4.0
"""A machine that can measure several modes keeps to the one it has begun with while no other is
worth so many times as much per hour: each has levels of its own to be measured first, and a drift
that two modes feel in turn would be taken for two drifts."""

HARDLY_MOVED = 0.1
"""Chance that the commit moves a subject below which no boot is spent on it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One boot of one subject, by its number."""

    subject: int
    measure: Measure


@dataclass(frozen=True, slots=True)
class Decision:
    """The state, what to measure (nothing: wait for what is under way), and why, in words.

    ``text`` has the words of the subject that leads, number ``lead``. ``effort``: boots that the
    bisect has cost so far. ``views``: the figures of each subject; ``odd``: of each the numbers of
    the boots in its evidence that were set aside as gone wrong. ``outcome`` is there exactly when
    the state is done.
    """

    state: State
    actions: tuple[Asked, ...]
    text: str
    effort: int
    lead: int
    views: tuple[View, ...]
    odd: tuple[tuple[int, ...], ...]
    outcome: Outcome | None = None

    @property
    def posterior(self) -> Posterior:
        """What is known of the commit, with the figures of the subject that leads."""
        return self.views[self.lead].posterior


def decide(
    subjects: Sequence[Subject],
    pending: Sequence[Asked] = (),
    free: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Decision:
    """The next decision: up to ``free`` boots of each machine beside those that are ``pending``.

    A machine that ``free`` leaves out is not there: others go on, and lead; it is asked when they
    have nothing left to do. Without ``free`` each machine takes one at a time. ``now`` (aware) is
    compared with the budget's deadline. Raises `OutOfRangeError` where the subjects do not look
    among the same candidates, a build stands for revisions between which a candidate lies, what is
    pending is none of their measurements, or machines are there of which none is free and nothing
    is pending.
    """
    check_subjects(subjects)
    bad = subjects[0].plan.bad
    for one in pending:
        if not (0 <= one.subject < len(subjects) and 0 <= one.measure.index <= bad):
            raise OutOfRangeError(f"pending: {one} is none of these subjects' measurements")
    free = _free(subjects, pending) if free is None else dict(free)
    is_idle = free and not pending and not any(free.values())
    if is_idle or any(count < 0 for count in free.values()):
        raise OutOfRangeError("agents: ask for a decision when one is free, or something pending")
    return _Round.of(subjects, pending, free, now).decide()


def with_builds(subjects: Sequence[Subject], at: int) -> Plan:
    """The plan of a subject with the builds that the machine has made for its other modes."""
    own = subjects[at]
    made = {
        boot.index
        for one in subjects
        if one.machine == own.machine and one is not own
        for boot in one.evidence.boots
        if 0 <= boot.index <= own.plan.bad
    }
    return replace(own.plan, cached=own.plan.cached | made) if made else own.plan


def _free(subjects: Sequence[Subject], pending: Sequence[Asked]) -> dict[str, int]:
    busy = {subjects[one.subject].machine for one in pending}
    return {one.machine: int(one.machine not in busy) for one in subjects}


@dataclass(eq=False)
class _Round:
    """One decision in the making. ``left``: boots that may still be asked for. ``usable``: the
    subjects whose boots can bring evidence. ``worth``: of an hour of boots of each subject.
    """

    subjects: Sequence[Subject]
    cases: list[Case]
    views: list[View]
    free: dict[str, int]
    left: int
    present: frozenset[str]
    usable: list[int]
    worth: list[float]
    actions: list[Asked] = field(default_factory=list)
    tests: dict[int, Validation] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        subjects: Sequence[Subject],
        pending: Sequence[Asked],
        free: dict[str, int],
        now: datetime | None,
    ) -> "_Round":
        seen = views(subjects)
        hours = sum(one.evidence.hours for one in subjects)
        effort = sum(one.evidence.effort for one in subjects)
        left = subjects[0].plan.budget.boots - effort - len(pending)
        stop = stages.budget_used(subjects[0].plan, hours, left, now)
        left = 0 if stop else left
        cases = [
            Case(
                with_builds(subjects, at),
                one.evidence,
                seen[at].data,
                seen[at].posterior,
                tuple(each.measure for each in pending if each.subject == at),
                max(min(free.get(one.machine, 1), left), 0),
                stop,
            )
            for at, one in enumerate(subjects)
        ]
        sound = [at for at, case in enumerate(cases) if not _failure(case)]
        usable = [at for at in sound if not cases[at].is_unexplained] or sound
        worth = [_worth(case, view.moved) for case, view in zip(cases, seen, strict=True)]
        return cls(subjects, cases, seen, free, left, frozenset(free), usable, worth)

    @cached_property
    def lead(self) -> int:
        """The subject worth most per hour, of those whose machine is there; one that confirms goes
        on with that.
        """
        usable = self.usable or list(range(len(self.cases)))
        there = [at for at in usable if self.subjects[at].machine in self.present] or usable
        return max(there, key=lambda at: (self._confirms(at), self.worth[at], -at))

    def decide(self) -> Decision:
        """An end, what the ends need, or what the search needs."""
        if not self.usable:
            case = self.cases[self.lead]
            failed = Outcome(Kind.LAB_FAILED, (), 0.0, _failure(case))
            return self._decided(self.lead, case.done(failed))
        if not any(stages.is_passed(self.cases[at]) for at in self.usable):
            waiting = self._validating()
            if waiting is not None:
                return waiting
        return self._searching()

    def _validating(self) -> Decision | None:
        """Boots of the ends, or an end; None where the step is reproduced."""
        found = {at: stages.validating(self.cases[at]) for at in self.usable}
        choices = {at: one for at, one in found.items() if isinstance(one, Choice)}
        self.tests = {at: one for at, one in found.items() if isinstance(one, Validation)}
        if self.tests or self._is_reproduced():
            return None
        going = [at for at, one in choices.items() if one.outcome is None]
        if not going:
            at = min(choices, key=lambda each: (_order_of(choices[each]), each))
            return self._decided(at, choices[at])
        chosen = self._one_of_each_machine(going)

        def ask_for_ends() -> None:
            for at in chosen:
                self._ask(at, choices[at].actions)

        self._now_or_later(ask_for_ends)
        lead = self.lead if self.lead in chosen else chosen[0]
        return self._decided(lead, choices[lead])

    def _one_of_each_machine(self, subjects: list[int]) -> list[int]:
        """Of each machine the subject worth most per hour."""
        machines = dict.fromkeys(self.subjects[at].machine for at in subjects)
        own = [
            [at for at in subjects if self.subjects[at].machine == machine] for machine in machines
        ]
        return [max(each, key=lambda at: (self.worth[at], -at)) for each in own]

    def _is_reproduced(self) -> bool:
        """The ratio tests of several subjects together: of each the chance that it is spared
        counts. One alone has been tested.
        """
        if len(self.subjects) == 1:
            return False
        tests = [
            (self.subjects[at].spared, validate(case.plan, case.evidence, case.data))
            for at, case in enumerate(self.cases)
            if at in self.usable
        ]
        total = sum(
            float(np.logaddexp(log(1 - spared) + test.ratio, log(max(spared, 1e-300))))
            for spared, test in tests
        )
        return total >= BOUND and any(min(test.boots) for _, test in tests)

    def _searching(self) -> Decision:
        lead = self.lead
        case = self.cases[lead]
        found = stages.reached(case)
        if found is not None:
            self._now_or_later(lambda: self._ask(lead, found.actions))
            return self._decided(lead, found)
        outlooks = {at: look_ahead(self.cases[at], self.cases[at].now) for at in self.usable}
        for at, one in enumerate(self.cases):
            if at in outlooks:
                for measure in one.pending:
                    expect(outlooks[at], measure.index, rebuild=measure.rebuild)
                    _share(outlooks, at)
        bits = [0.0]
        self._now_or_later(
            lambda: bits.extend(
                self._fill(machine, own, outlooks)
                for machine in list(self.free)
                if (own := self._moved_on(machine, outlooks))
            )
        )
        if self.actions or any(one.pending for one in self.cases):
            text = explain.searching(case.plan, case.now, max(bits), self.tests.get(lead))
            return self._decided(lead, case.go_on(State.SEARCHING, (), text))
        return self._decided(lead, stages.stopped(case, case.now, max(bits)))

    def _now_or_later(self, ask: Callable[[], None]) -> None:
        """Ask the machines that are there; if nothing is left for them, a job waits for each of
        the others: its information is not known without it.
        """
        ask()
        if not self.actions and not any(case.pending for case in self.cases):
            machines = {one.machine for one in self.subjects}
            self.free |= dict.fromkeys(sorted(machines - self.present), 1)
            ask()

    def _moved_on(self, machine: str, outlooks: dict[int, Outlook]) -> list[int]:
        """The subjects of a machine that the commit may move."""
        return [
            at
            for at in outlooks
            if self.subjects[at].machine == machine and self.views[at].moved >= HARDLY_MOVED
        ]

    def _fill(self, machine: str, own: list[int], outlooks: dict[int, Outlook]) -> float:
        """Ask a machine for as many boots as it can take; the bits of the best choice."""
        (at,) = [self.lead] if self.lead in own else self._one_of_each_machine(own)
        wanted = max(min(self.free.get(machine, 0), self.left), 0)
        actions, bits = stages.search_boots(
            replace(self.cases[at], wanted=wanted),
            outlooks[at],
            moved=self.views[at].moved,
            leads=at == self.lead,
            is_shared=len(outlooks) > 1,
        )
        _share(outlooks, at)
        self._ask(at, actions)
        return bits

    def _ask(self, at: int, measures: Sequence[Measure]) -> None:
        machine = self.subjects[at].machine
        for measure in measures:
            if self.free.get(machine, 0) > 0 and self.left > 0:
                self.actions.append(Asked(at, measure))
                self.free[machine] -= 1
                self.left -= 1

    def _confirms(self, at: int) -> int:
        """Boots that confirm what leads now."""
        case = self.cases[at]
        top = case.now.top
        pair = {case.slot(top - 1), case.slot(top)}
        return sum(case.slot(boot.index) in pair for boot in case.boots_for(Purpose.CONFIRMING))

    def _decided(self, lead: int, choice: Choice) -> Decision:
        return Decision(
            state=choice.state,
            actions=tuple(self.actions),
            text=choice.text,
            effort=sum(case.evidence.effort for case in self.cases),
            lead=lead,
            views=tuple(self.views),
            odd=tuple(case.data.odd for case in self.cases),
            outcome=choice.outcome,
        )


def _worth(case: Case, moved: float) -> float:
    """The information of an hour of boots: the square of the step over the scatter of a boot; more
    of a subject whose ends were booted. ``moved``: the chance that the commit moves it.
    """
    ratio = case.now.effect / max(case.now.boot_sd, 1e-12)
    begun = GOES_ON if all(fresh_boots(case.evidence, case.data)) else 1.0
    return begun * moved * ratio**2 / case.plan.costs.boot


def _failure(case: Case) -> str:
    """Why a subject cannot be measured, or ""."""
    return case.evidence.failure or stages.missing_end(case)


def _order_of(choice: Choice) -> int:
    """Of the ends that subjects come to by their own tests, their joint conclusion."""
    order = (Kind.INCONCLUSIVE, Kind.OUTSIDE, Kind.NOT_REPRODUCED)
    kind = choice.outcome.kind if choice.outcome else None
    return order.index(kind) if kind in order else len(order)


def _share(outlooks: dict[int, Outlook], at: int) -> None:
    """What the boots under way of one subject will show of the commit holds for all of them."""
    for other in outlooks.values():
        other.chances, other.likely = outlooks[at].chances, outlooks[at].likely
