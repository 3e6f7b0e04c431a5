"""What several machines or modes that look for one commit measure next, and when that ends.

Each machine that is free is asked for what tells most per hour: the rules of a bisect by one
series (`stages`) hold for the subject that *leads*, the one that
tells most, with the posterior of all (`joint`). The others owe one boot of each end, and are
measured as long as the commit may move them. The search begins when the subjects' ratio tests
together say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import log

import numpy as np

from webapp.stats.bisection import explain, suspicion
from webapp.stats.bisection.case import Case, Decision, Measure, State
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.information import Outlook, anchors, expect, look_ahead, rated_option
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.plan import Evidence, Plan, Purpose, Subject, check_subjects
from webapp.stats.bisection.stages import (
    LEAST_BITS,
    between,
    budget_used,
    is_passed,
    missing_end,
    reached,
    stopped,
    validating,
)
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.validation import BOUND, fresh_boots, validate
from webapp.stats.errors import OutOfRangeError

GOES_ON = 4.0
"""A machine that can measure several modes keeps to the one it has begun with while no other tells
so many times as much per hour: each has levels of its own to be measured first, and a drift that
two modes feel in turn would be taken for two drifts."""

HARDLY_MOVED = 0.1
"""Chance that the commit moves a subject below which no boot is spent on it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One boot of one subject, by its number."""

    subject: int
    measure: Measure


@dataclass(frozen=True, slots=True)
class Together:
    """``decision`` in the words of the subject that leads, with the posterior and the effort of
    all, without actions: those are ``actions``. ``views``: what each subject shows.
    """

    decision: Decision
    actions: tuple[Asked, ...]
    lead: int
    views: tuple[View, ...]
    odd: tuple[tuple[int, ...], ...]


def decide_together(
    subjects: Sequence[Subject],
    pending: Sequence[Asked] = (),
    free: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Together:
    """The next decision: up to ``free`` boots of each machine beside those that are ``pending``.

    A machine that ``free`` leaves out is not there: others go on, and lead; it is asked when they
    have nothing left to do. Without ``free`` each machine takes one at a time. Raises
    `OutOfRangeError` where the subjects do not look among the same candidates.
    """
    check_subjects(subjects)
    for one in pending:
        if not (0 <= one.subject < len(subjects) and 0 <= one.measure.index <= _bad(subjects)):
            raise OutOfRangeError(f"pending: {one} is none of these subjects' measurements")
    return _Round.of(subjects, pending, _free(subjects, pending, free), now).decide()


def _bad(subjects: Sequence[Subject]) -> int:
    return subjects[0].plan.bad


def _free(
    subjects: Sequence[Subject], pending: Sequence[Asked], given: Mapping[str, int] | None
) -> dict[str, int]:
    if given is not None:
        return dict(given)
    busy = {subjects[one.subject].machine for one in pending}
    return {one.machine: int(one.machine not in busy) for one in subjects}


@dataclass(slots=True, eq=False)
class _Round:
    """One decision in the making. ``left``: boots that may still be asked for."""

    subjects: Sequence[Subject]
    cases: list[Case]
    views: list[View]
    free: dict[str, int]
    left: int
    present: frozenset[str]
    actions: list[Asked] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        subjects: Sequence[Subject],
        pending: Sequence[Asked],
        free: dict[str, int],
        now: datetime | None,
    ) -> "_Round":
        data = [tally(one.plan, one.evidence) for one in subjects]
        seen = views(subjects, data)
        whole = Evidence(hours=sum(one.evidence.hours for one in subjects))
        effort = sum(one.evidence.effort for one in subjects)
        left = subjects[0].plan.budget.boots - effort - len(pending)
        stop = budget_used(subjects[0].plan, whole, left, now)
        left = 0 if stop else left
        cases = [
            Case(
                _with_builds(subjects, at),
                one.evidence,
                data[at],
                seen[at].posterior,
                tuple(each.measure for each in pending if each.subject == at),
                max(min(free.get(one.machine, 1), left), 0),
                stop,
            )
            for at, one in enumerate(subjects)
        ]
        return cls(subjects, cases, seen, free, left, frozenset(free))

    @property
    def usable(self) -> list[int]:
        """The subjects whose boots can tell something."""
        return [
            at
            for at, case in enumerate(self.cases)
            if not (case.evidence.failure or missing_end(case) or suspicion.is_unexplained(case))
        ]

    @property
    def lead(self) -> int:
        """The subject that tells most per hour, of those whose machine is there; one that confirms
        goes on with that.
        """
        usable = self.usable or list(range(len(self.cases)))
        there = [at for at in usable if self.subjects[at].machine in self.present] or usable
        return max(there, key=lambda at: (self._confirms(at), self._worth(at), -at))

    def decide(self) -> Together:
        """An end, what the ends need, or what the search needs."""
        if not self.usable:
            return self._all_failed()
        if not any(is_passed(self.cases[at]) for at in self.usable):
            waiting = self._validating()
            if waiting is not None:
                return waiting
        return self._searching()

    def _all_failed(self) -> Together:
        lead = self.lead
        case = self.cases[lead]
        failure = case.evidence.failure or missing_end(case)
        if failure:
            return self._decided(lead, case.done(Outcome(Kind.LAB_FAILED, (), 0.0, failure)))
        return self._searching()

    def _validating(self) -> Together | None:
        """Boots of the ends, or an end; None where the step is reproduced."""
        found = {at: validating(self.cases[at]) for at in self.usable}
        steps = {at: one for at, one in found.items() if isinstance(one, Decision)}
        if len(steps) < len(found) or self._is_reproduced():
            return None
        going = [at for at, one in steps.items() if one.outcome is None]
        if not going:
            at = min(steps, key=lambda each: (_order_of(steps[each]), each))
            return self._decided(at, steps[at])
        chosen = self._one_of_each_machine(going)

        def ask_for_ends() -> None:
            for at in chosen:
                for measure in steps[at].actions:
                    self._ask(at, measure)

        self._now_or_later(ask_for_ends)
        lead = self.lead if self.lead in chosen else chosen[0]
        return self._decided(lead, steps[lead])

    def _one_of_each_machine(self, subjects: list[int]) -> list[int]:
        """Of each machine the subject that tells most per hour."""
        machines = dict.fromkeys(self.subjects[at].machine for at in subjects)
        own = [
            [at for at in subjects if self.subjects[at].machine == machine] for machine in machines
        ]
        return [max(each, key=lambda at: (self._worth(at), -at)) for each in own]

    def _is_reproduced(self) -> bool:
        """The ratio tests of all subjects together: of each the chance that it is spared counts."""
        tests = [
            (one.spared, validate(case.plan, case.evidence, case.data), case)
            for at, (one, case) in enumerate(zip(self.subjects, self.cases, strict=True))
            if at in self.usable
        ]
        total = sum(
            float(np.logaddexp(log(1 - spared) + test.ratio, log(max(spared, 1e-300))))
            for spared, test, _ in tests
        )
        return total >= BOUND and any(min(test.boots) for _, test, _ in tests)

    def _searching(self) -> Together:
        lead = self.lead
        case = self.cases[lead]
        found = reached(case)
        if found is not None:

            def ask_for_names() -> None:
                for measure in found.actions:
                    self._ask(lead, measure)

            self._now_or_later(ask_for_names)
            return self._decided(lead, found)
        outlooks = {at: self._outlook(at) for at in self.usable}
        for at, one in enumerate(self.cases):
            for measure in one.pending:
                _expect(outlooks, at, measure)
        bits = [0.0]
        self._now_or_later(
            lambda: bits.extend(self._fill(machine, outlooks) for machine in list(self.free))
        )
        if self.actions or any(one.pending for one in self.cases):
            text = explain.searching(case.plan, case.now, max(bits), None)
            return self._decided(lead, case.go_on(State.SEARCHING, [], text))
        return self._decided(lead, stopped(case, case.now, max(bits)))

    def _now_or_later(self, ask: Callable[[], None]) -> None:
        """Ask the machines that are there; if nothing is left for them, a job waits for each of
        the others: what it would tell is not said without it.
        """
        ask()
        if not self.actions and not any(case.pending for case in self.cases):
            machines = {one.machine for one in self.subjects}
            self.free |= dict.fromkeys(sorted(machines - self.present), 1)
            ask()

    def _outlook(self, at: int) -> Outlook:
        case = self.cases[at]
        return look_ahead(case.plan, case.data.counted, case.now)

    def _fill(self, machine: str, outlooks: dict[int, Outlook]) -> float:
        """Ask a machine for as many boots as it can take; the bits of the first choice."""
        own = [at for at in outlooks if self.subjects[at].machine == machine]
        own = [at for at in own if self.views[at].moved >= HARDLY_MOVED]
        own = [self.lead] if self.lead in own else self._one_of_each_machine(own)
        first = None
        while own and self.free.get(machine, 0) > 0 and self.left > 0:
            due = self._due(own)
            if due is None:
                rated = self._best(own, outlooks)
                if first is None:
                    first = rated[1] if rated else 0.0
                if rated is None or rated[1] < LEAST_BITS:
                    break
                due = rated[2]
            _expect(outlooks, due.subject, due.measure)
            self._ask(due.subject, due.measure)
        if first is None and own:
            rated = self._best(own, outlooks)
            first = rated[1] if rated else 0.0
        return first or 0.0

    def _due(self, own: list[int]) -> Asked | None:
        """What goes before all information: pins, an end that was never booted, anchors."""
        for at in own:
            case = self.cases[at]
            for measure in [
                *case.pins(Purpose.SEARCHING),
                *self._owed_ends(at),
                *anchors(case),
                *(between(case) if at == self.lead else []),
            ]:
                if Asked(at, measure) not in self.actions:
                    return Asked(at, measure)
        return None

    def _owed_ends(self, at: int) -> list[Measure]:
        """Ends of which this bisect has no boot: history alone does not tell what a machine is."""
        case = self.cases[at]
        coming = [case.slot(one.index) for one in case.pending]
        sides = zip((0, case.data.first_bad), fresh_boots(case.evidence, case.data), strict=True)
        return [
            Measure(known[0], Purpose.VALIDATING)
            for slot, count in sides
            if not count and slot not in coming and (known := case.measurable(slot))
        ]

    def _best(
        self, own: list[int], outlooks: dict[int, Outlook]
    ) -> tuple[float, float, Asked] | None:
        """Bits per hour, bits, and the boot of that machine that tells most."""
        found = []
        for at in own:
            case = self.cases[at]
            rated = rated_option(case.plan, outlooks[at], case.evidence.skipped)
            if rated is None:
                continue
            rate, option = rated
            moved = self.views[at].moved
            measure = Measure(option.index, Purpose.SEARCHING, option.rebuild)
            found.append((moved * rate, moved * option.bits, Asked(at, measure)))
        return max(found, key=lambda one: (one[0], -one[2].subject), default=None)

    def _ask(self, at: int, measure: Measure) -> None:
        machine = self.subjects[at].machine
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

    def _worth(self, at: int) -> float:
        """How much an hour of boots tells: the square of the step over the scatter of a boot; more
        of a subject whose ends were booted.
        """
        case = self.cases[at]
        ratio = case.now.effect / max(case.now.boot_sd, 1e-12)
        begun = GOES_ON if all(fresh_boots(case.evidence, case.data)) else 1.0
        return begun * self.views[at].moved * ratio**2 / case.plan.costs.boot

    def _decided(self, lead: int, decision: Decision) -> Together:
        effort = sum(case.evidence.effort for case in self.cases)
        return Together(
            replace(decision, actions=(), effort=effort),
            tuple(self.actions),
            lead,
            tuple(self.views),
            tuple(case.data.odd for case in self.cases),
        )


def _order_of(decision: Decision) -> int:
    """Of the ends that subjects come to by their own tests, what all of them together say."""
    order = (Kind.INCONCLUSIVE, Kind.OUTSIDE, Kind.NOT_REPRODUCED)
    kind = decision.outcome.kind if decision.outcome else None
    return order.index(kind) if kind in order else len(order)


def _with_builds(subjects: Sequence[Subject], at: int) -> Plan:
    """Its plan with the builds that the machine has made for its other modes."""
    own = subjects[at]
    made = {
        boot.index
        for one in subjects
        if one.machine == own.machine and one is not own
        for boot in one.evidence.boots
        if 0 <= boot.index <= own.plan.bad
    }
    return replace(own.plan, cached=own.plan.cached | made) if made else own.plan


def _expect(outlooks: dict[int, Outlook], at: int, measure: Measure) -> None:
    """Think the answers of a boot through: what they say of the commit all subjects share."""
    if at not in outlooks:
        return
    expect(outlooks[at], measure.index, rebuild=measure.rebuild)
    for other in outlooks.values():
        other.chances, other.likely = outlooks[at].chances, outlooks[at].likely
