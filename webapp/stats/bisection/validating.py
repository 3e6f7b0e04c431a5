"""The first state: boots of the good and the bad end, until the sequential test decides."""

from webapp.stats.bisection import ending, explain
from webapp.stats.bisection.case import Case, Decision, Measure, State
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.outside import SURE, SUSPECTED, Outside, outside, without_other_side
from webapp.stats.bisection.plan import Purpose
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.validation import (
    MOST_LEAD,
    Validation,
    Verdict,
    fresh_boots,
    validate,
)

PASSED = (Purpose.SEARCHING, Purpose.ANCHOR, Purpose.CONFIRMING)


def is_passed(case: Case) -> bool:
    """Whether the search has begun: the test is not taken again with what the search measures."""
    return any(boot.purpose in PASSED for boot in case.evidence.boots)


def validating(case: Case) -> Decision | Validation:
    """What to do at the ends, or the validation that lets the search begin."""
    beside = outside(case.plan, case.evidence, case.data)
    if beside is not None and beside.chance >= SUSPECTED:
        return _beside_a_step(case, beside)
    return _by(case, validate(case.plan, case.evidence, case.data))


def _beside_a_step(case: Case, beside: Outside) -> Decision | Validation:
    """Where the step may lie outside, what lies on its other side is no level of an end."""
    own = without_other_side(case.evidence, case.data, beside)
    validation = validate(case.plan, own, tally(case.plan, own))
    if validation.verdict is Verdict.NO_STEP and beside.chance >= SURE:
        text = explain.outside(case.plan, validation, beside)
        outcome = Outcome(Kind.OUTSIDE, (), beside.chance, text, outside=beside)
        return case.done(outcome, validation)
    return _by(case, validation)


def _by(case: Case, validation: Validation) -> Decision | Validation:
    verdict = validation.verdict
    if verdict in (Verdict.STEP, Verdict.LIMITED):
        return validation
    if verdict is Verdict.NO_STEP:
        text = explain.no_step(case.plan, validation)
        return case.done(Outcome(Kind.NOT_REPRODUCED, (), case.now.none, text), validation)
    if verdict is Verdict.EXHAUSTED:
        return _undecided(case, validation)
    actions = _end_boots(case, validation)
    if not actions and not case.pending:
        return _undecided(case, validation)
    return case.go_on(
        State.VALIDATING, actions, explain.validating(case.plan, validation), validation
    )


def _undecided(case: Case, validation: Validation) -> Decision:
    left = ending.credible_set(case.now)
    text = explain.undecided(validation, case.stop)
    chance = ending.set_probability(case.now, left)
    outcome = Outcome(Kind.INCONCLUSIVE, left, chance, text, more_boots=validation.more)
    return case.done(outcome, validation)


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
