"""The rules of one series: what it asks for next, and when it stops.

validating → searching → confirming → done. The state is read off the evidence (each boot names the
purpose it was measured for), so that the same evidence gives the same decision, always.
"""

from dataclasses import replace
from datetime import datetime

import numpy as np

from webapp.stats.bisection import ending, explain
from webapp.stats.bisection.confirming import (
    CONFIRMING_BOOTS,
    SURE,
    Case,
    Choice,
    Measure,
    State,
    confirming,
)
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.information import Outlook, anchors, best_option, expect, look_ahead
from webapp.stats.bisection.plan import Plan, Purpose
from webapp.stats.bisection.posterior import Posterior
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.validation import (
    BOUND,
    MOST_LEAD,
    SURE_OUTSIDE,
    SUSPECTED,
    Outside,
    Validation,
    Verdict,
    fresh_boots,
    outside,
    validate,
    without_other_side,
)

PASSED = (Purpose.SEARCHING, Purpose.ANCHOR, Purpose.CONFIRMING)
LEAST_BITS = 0.005
"""Expected loss of entropy below which one more boot is not worth having."""
TWO_DOUBT = 0.5
"""Chance of two steps from which no commit is named before a boot between them was had."""
MOST_BETWEEN = 5
"""Boots of the least measured revision between two suspected steps, after which more of them
do not distinguish one step from two."""


def budget_used(plan: Plan, hours: float, left: int, now: datetime | None) -> str:
    """Why no further boot may be asked for after ``hours``, or "". ``left``: boots that the budget
    still has.
    """
    budget = plan.budget
    if left <= 0:
        return f"the budget of {budget.boots} boots is used"
    if hours + plan.costs.boot > budget.hours:
        return f"the budget of {budget.hours:g} machine hours is used"
    if budget.deadline is not None and now is not None and now >= budget.deadline:
        return "the deadline has passed"
    return ""


def missing_end(case: Case) -> str:
    """Why there is nothing to compare with, or ""."""
    for slot, end in ((0, "good"), (case.data.first_bad, "bad")):
        if not case.builds(slot) and not case.measurable(slot):
            return explain.missing_end(end)
    return ""


def is_passed(case: Case) -> bool:
    """Whether the search has begun: the test is not taken again with what the search measures."""
    return any(boot.purpose in PASSED for boot in case.evidence.boots)


def validating(case: Case) -> Choice | Validation:
    """What to do at the ends, or the validation that lets the search begin."""
    beside = outside(case.plan, case.evidence, case.data)
    if beside is not None and beside.chance >= SUSPECTED:
        return _beside_a_step(case, beside)
    return _by(case, validate(case.plan, case.evidence, case.data))


def reached(case: Case) -> Choice | None:
    """What the posterior makes due: an end, or the boots that confirm a name; else None."""
    now = case.now
    if case.is_unexplained:
        return case.done(ending.suspected(now, explain.unexplained(now)))
    if _log_factor_of_none(case) >= BOUND:
        return case.done(Outcome(Kind.NOT_REPRODUCED, (), now.none, explain.step_gone(now)))
    if now.two >= SURE and sum(_boots_between(case).values()) >= CONFIRMING_BOOTS:
        return case.done(ending.two_steps(now, explain.two_steps(case.plan, now)))
    if now.candidates[now.top - 1] >= SURE and now.two < TWO_DOUBT:
        return _named(case)
    return None


def stopped(case: Case, now: Posterior, bits: float, doubt: str = "") -> Choice:
    """The end of a search whose best next boot would bring so many ``bits``."""
    text = doubt + explain.stopped(case.plan, now, case.evidence, case.stop)
    if ending.is_suspected(case.now):
        return case.done(ending.suspected(now, explain.suspected(case.plan, now) + text))
    return case.done(ending.stopped(now, text, bits=bits, saturated=not case.stop))


def search_boots(
    case: Case, outlook: Outlook, *, moved: float = 1.0, leads: bool = True, is_shared: bool = False
) -> tuple[list[Measure], float]:
    """The boots to ask for, and the bits that the best of all options would bring.

    First pins, ends that were never booted, and anchors are due; of the series that ``leads`` also
    a boot between two suspected steps. ``moved``: the chance that the commit moves this series.
    ``is_shared``: others go by the ``outlook`` too.
    """
    actions = case.pins(Purpose.SEARCHING) or _owed_ends(case) or anchors(case)
    actions = (actions or (between(case) if leads else []))[: case.wanted]
    for measure in actions:
        expect(outlook, measure.index, rebuild=measure.rebuild)
    best = first = best_option(case.plan, outlook, case.evidence.skipped)
    while best and moved * best.bits >= LEAST_BITS and len(actions) < case.wanted:
        actions.append(Measure(best.index, Purpose.SEARCHING, best.rebuild))
        if is_shared or len(actions) < case.wanted:
            expect(outlook, best.index, rebuild=best.rebuild)
        if len(actions) < case.wanted:
            best = best_option(case.plan, outlook, case.evidence.skipped)
    return actions, moved * first.bits if first else 0.0


def between(case: Case) -> list[Measure]:
    """One step or two? A boot between both where two are likelier."""
    now = case.now
    if not case.wanted or now.two_gaps is None or now.two < TWO_DOUBT:
        return []
    (_, last), (first, _) = now.two_gaps
    counts = _boots_between(case)
    least = min(
        counts, key=lambda index: (counts[index], abs(2 * index - last - first)), default=None
    )
    if least is None or counts[least] >= MOST_BETWEEN:
        return []
    return [Measure(least, Purpose.SEARCHING)]


def _beside_a_step(case: Case, beside: Outside) -> Choice | Validation:
    """Where the step may lie outside, what lies on its other side is no level of an end."""
    own = without_other_side(case.evidence, case.data, beside)
    validation = validate(case.plan, own, tally(case.plan, own))
    if validation.verdict is Verdict.NO_STEP and beside.chance >= SURE_OUTSIDE:
        text = explain.outside(case.plan, validation, beside)
        return case.done(Outcome(Kind.OUTSIDE, (), beside.chance, text, outside=beside))
    return _by(case, validation)


def _by(case: Case, validation: Validation) -> Choice | Validation:
    verdict = validation.verdict
    if verdict in (Verdict.STEP, Verdict.LIMITED):
        return validation
    if verdict is Verdict.NO_STEP:
        text = explain.no_step(case.plan, validation)
        return case.done(Outcome(Kind.NOT_REPRODUCED, (), case.now.none, text))
    if verdict is Verdict.EXHAUSTED:
        return _undecided(case, validation)
    actions = _end_boots(case, validation)
    if not actions and not case.pending:
        return _undecided(case, validation)
    return case.go_on(State.VALIDATING, actions, explain.validating(case.plan, validation))


def _undecided(case: Case, validation: Validation) -> Choice:
    left = ending.credible_set(case.now)
    text = explain.undecided(validation, case.stop)
    chance = ending.set_probability(case.now, left)
    return case.done(Outcome(Kind.INCONCLUSIVE, left, chance, text, more_boots=validation.more))


def _end_boots(case: Case, validation: Validation) -> list[Measure]:
    """Good and bad in turn; the worse known side first, and never far ahead."""
    actions = case.pins(Purpose.VALIDATING)
    ends = case.measurable(0), case.measurable(case.data.first_bad)
    weight, count = list(validation.weight), list(fresh_boots(case.evidence, case.data))
    for measure in (*case.pending, *actions):
        _count(case, measure.index, weight, count)
    while len(actions) < case.wanted and any(ends):
        side = _next_side(weight, count, ends)
        actions.append(Measure(ends[side][0], Purpose.VALIDATING))
        _count(case, ends[side][0], weight, count)
    return actions


def _count(case: Case, index: int, weight: list[float], count: list[int]) -> None:
    slot = case.slot(index)
    if slot in (0, case.data.first_bad):
        side = int(slot != 0)
        count[side] += 1
        weight[side] += 1 / case.plan.noise.boot_variance(case.plan.runs)


def _next_side(weight: list[float], count: list[int], ends: tuple[list[int], list[int]]) -> int:
    if not all(ends):
        return 0 if ends[0] else 1
    if 0 in count and max(count) > 0:
        return count.index(0)
    if abs(count[0] - count[1]) >= MOST_LEAD:
        return int(count[0] > count[1])
    return int(weight[0] > weight[1] * (1 + 1e-9))


def _named(case: Case) -> Choice | None:
    """Confirm the candidate, unless its lead rests on the weights that the plan gave."""
    now = case.now
    if now.equal[now.top - 1] < SURE:
        return _doubted(case, replace(now, candidates=now.equal))
    return confirming(case)


def _log_factor_of_none(case: Case) -> float:
    """Log of how much better "no step" explains everything than any step does."""
    tiny = float(np.finfo(np.float64).tiny)
    none = max(case.now.none, tiny)
    odds = np.log(none) - np.log(max(1 - case.now.none, tiny))
    return float(odds - np.log(case.plan.doubt / (1 - case.plan.doubt)))


def _owed_ends(case: Case) -> list[Measure]:
    """Ends of which this bisect has no boot: history alone does not show what a machine is."""
    coming = [case.slot(one.index) for one in case.pending]
    ends = zip((0, case.data.first_bad), fresh_boots(case.evidence, case.data), strict=True)
    return [
        Measure(known[0], Purpose.VALIDATING)
        for slot, count in ends
        if not count and slot not in coming and (known := case.measurable(slot))
    ]


def _doubted(case: Case, now: Posterior) -> Choice:
    """The search by ``now``, as if all candidates had begun with the same weight."""
    outlook = look_ahead(case, now)
    for measure in case.pending:
        expect(outlook, measure.index, rebuild=measure.rebuild)
    actions, bits = search_boots(case, outlook)
    doubt = explain.doubted(case.plan, case.now)
    if actions or case.pending:
        text = doubt + explain.searching(case.plan, now, bits, None)
        return case.go_on(State.SEARCHING, actions, text)
    return stopped(case, now, bits, doubt)


def _boots_between(case: Case) -> dict[int, int]:
    """Boots, also those under way, of each measurable revision between two suspected steps."""
    if case.now.two_gaps is None:
        return {}
    (_, last), (first, _) = case.now.two_gaps
    counts = dict.fromkeys(range(last, first), 0)
    booted = [boot.index for boot in case.data.counted]
    for index in [*booted, *(measure.index for measure in case.pending)]:
        if index in counts:
            counts[index] += 1
    return {index: count for index, count in counts.items() if index not in case.evidence.skipped}
