"""What to do next, and when to stop: a pure function of the plan and the evidence.

validating → searching → confirming → done. The state is read off the evidence (each boot names the
purpose it was measured for), so that the same evidence gives the same decision, always.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import floor

import numpy as np

from webapp.stats.bisection import ending, explain, suspicion
from webapp.stats.bisection.case import SURE, Case, Decision, Measure, State
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.information import Outlook, anchors, best_option, expect, look_ahead
from webapp.stats.bisection.outside import SURE as SURE_OUTSIDE
from webapp.stats.bisection.outside import SUSPECTED, Outside, outside, without_other_side
from webapp.stats.bisection.plan import Evidence, Plan, Purpose
from webapp.stats.bisection.posterior import Posterior, posterior_of
from webapp.stats.bisection.remainder import SHARE
from webapp.stats.bisection.second import second_boots
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.validation import (
    BOUND,
    MOST_LEAD,
    Validation,
    Verdict,
    fresh_boots,
    validate,
)
from webapp.stats.errors import OutOfRangeError

PASSED = (Purpose.SEARCHING, Purpose.ANCHOR, Purpose.CONFIRMING)
LEAST_BITS = 0.005
"""Expected loss of entropy below which one more boot is not worth having."""
TWO_DOUBT = 0.5
"""Chance of two steps from which no commit is named before a boot between them was had."""
MOST_BETWEEN = 5
"""Boots of the least measured revision between two suspected steps, after which more of them
are not what tells one step from two."""
CONFIRMING_BOOTS = 3
"""Boots of culprit and parent in turn that a name needs after the search (design figure)."""
BUILD_MARGIN = 1.25
"""Builds that scatter by half the step cannot tell one commit (design). What is believed of either
is an estimate, so the name is withheld somewhat before that."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The revisions to boot on both sides of the most probable candidate."""

    parent: int
    culprit: int


def decide(
    plan: Plan,
    evidence: Evidence,
    pending: Sequence[Measure] = (),
    agents: int = 1,
    now: datetime | None = None,
) -> Decision:
    """The next decision: up to ``agents`` measurements beside those that are ``pending``.

    ``now`` (aware) is compared with the budget's deadline. Raises `OutOfRangeError` when a
    build stands for revisions between which a candidate lies, what is pending is not between good
    and bad, or no agent is free and nothing pending. With no agent free it tells what is known.
    """
    if agents < 0 or not (agents or pending):
        raise OutOfRangeError("agents: ask for a decision when one is free, or something pending")
    for measure in pending:
        if not 0 <= measure.index <= plan.bad:
            raise OutOfRangeError(f"pending: revision {measure.index} is not in 0 … {plan.bad}")
    data = tally(plan, evidence)
    left = plan.budget.boots - evidence.effort - len(pending)
    stop = budget_used(plan, evidence, left, now)
    wanted = 0 if stop else min(agents, left)
    case = Case(plan, evidence, data, posterior_of(plan, data), tuple(pending), wanted, stop)
    if failure := evidence.failure or missing_end(case):
        return case.done(Outcome(Kind.LAB_FAILED, (), 0.0, failure))
    if is_passed(case):
        return searching(case)
    step = validating(case)
    return step if isinstance(step, Decision) else searching(case, step)


def budget_used(plan: Plan, evidence: Evidence, left: int, now: datetime | None) -> str:
    """Why no further boot may be asked for, or "". ``left``: boots that the budget still has."""
    budget = plan.budget
    if left <= 0:
        return f"the budget of {budget.boots} boots is used"
    if evidence.hours + plan.costs.boot > budget.hours:
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


def validating(case: Case) -> Decision | Validation:
    """What to do at the ends, or the validation that lets the search begin."""
    beside = outside(case.plan, case.evidence, case.data)
    if beside is not None and beside.chance >= SUSPECTED:
        return _beside_a_step(case, beside)
    return _by(case, validate(case.plan, case.evidence, case.data))


def searching(case: Case, validation: Validation | None = None) -> Decision:
    """An end that the posterior has reached, else the next revisions to boot."""
    return reached(case) or _measure(case, case.now, validation)


def reached(case: Case) -> Decision | None:
    """What the posterior makes due: an end, or the boots that confirm a name; else None."""
    now = case.now
    if suspicion.is_unexplained(case):
        return case.done(ending.suspected(now, suspicion.unexplained(now)))
    if _log_factor_of_none(case) >= BOUND:
        return case.done(Outcome(Kind.NOT_REPRODUCED, (), now.none, explain.step_gone(now)))
    if now.two >= SURE and sum(_boots_between(case).values()) >= CONFIRMING_BOOTS:
        return case.done(ending.two_steps(now, explain.two_steps(case.plan, now)))
    if now.candidates[now.top - 1] >= SURE and now.two < TWO_DOUBT:
        return _named(case)
    return None


def stopped(
    case: Case, now: Posterior, bits: float, doubt: str = "", validation: Validation | None = None
) -> Decision:
    """The end of a search whose best next boot would tell so many ``bits``."""
    text = doubt + explain.stopped(case.plan, now, case.evidence, case.stop)
    if suspicion.is_suspected(case.now):
        return case.done(ending.suspected(now, suspicion.suspected(case.plan, now) + text))
    outcome = ending.stopped(now, text, bits=bits, saturated=not case.stop)
    return case.done(outcome, validation)


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


def find_pair(case: Case) -> Pair | None:
    """The measurable revisions nearest to the candidate; None where a side has none."""
    top = case.now.top
    before = [index for index in case.measurable(case.slot(top - 1)) if index < top]
    after = case.measurable(top)
    return Pair(max(before), min(after)) if before and after else None


def confirming(case: Case, pair: Pair) -> Decision:
    """Boots in turn, or the name. Builds that scatter as much as the step forbid the name."""
    needed = builds_needed(case)
    builds = {index: case.builds(case.slot(index)) for index in (pair.parent, pair.culprit)}
    short = [index for index, count in builds.items() if count < needed]
    made = _made(case, pair)
    if short and not case.plan.can_rebuild and min(builds.values()) >= 1:
        return _too_noisy(case)
    if not short and len(made) >= CONFIRMING_BOOTS and len(set(made)) == 2:
        if second := second_boots(case):
            text = explain.second(case.plan, case.now)
            return case.go_on(State.CONFIRMING, second, text)
        text = explain.single(case.plan, case.now, len(made))
        return case.done(ending.single(case.plan, case.now, text + _others(case)))
    actions = _boots(case, pair, made, short)
    if not actions and not case.pending:
        text = explain.unconfirmed(case.plan, case.now, case.stop)
        return case.done(ending.stopped(case.now, text, bits=0.0, saturated=True))
    return case.go_on(State.CONFIRMING, actions, explain.confirming(case.plan, case.now))


def builds_needed(case: Case) -> int:
    """Builds of each of both: `BUILD_MARGIN`·σ_build/√n must be less than half the step.

    Two at least where builds may scatter and the lab can build again.
    """
    step = max(abs(case.now.effect), 1e-12)
    needed = floor((BUILD_MARGIN * case.now.build_sd / (step / 2)) ** 2) + 1
    scatters = ending.may_scatter(case.now)
    return max(needed, 2) if case.plan.can_rebuild and scatters else needed


def _beside_a_step(case: Case, beside: Outside) -> Decision | Validation:
    """Where the step may lie outside, what lies on its other side is no level of an end."""
    own = without_other_side(case.evidence, case.data, beside)
    validation = validate(case.plan, own, tally(case.plan, own))
    if validation.verdict is Verdict.NO_STEP and beside.chance >= SURE_OUTSIDE:
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


def _named(case: Case) -> Decision | None:
    """Confirm the candidate, unless its lead rests on the weights that the plan gave."""
    now = case.now
    if now.equal[now.top - 1] < SURE:
        return _measure(case, replace(now, candidates=now.equal), None)
    pair = find_pair(case)
    return confirming(case, pair) if pair else None


def _log_factor_of_none(case: Case) -> float:
    """Log of how much better "no step" explains everything than any step does."""
    tiny = float(np.finfo(np.float64).tiny)
    none = max(case.now.none, tiny)
    odds = np.log(none) - np.log(max(1 - case.now.none, tiny))
    return float(odds - np.log(case.plan.doubt / (1 - case.plan.doubt)))


def _measure(case: Case, now: Posterior, validation: Validation | None) -> Decision:
    """The boots that tell most by ``now``, or the end of a search that can tell no more."""
    outlook = look_ahead(case.plan, case.data.counted, now)
    for measure in case.pending:
        expect(outlook, measure.index, rebuild=measure.rebuild)
    actions, bits = _search_boots(case, outlook)
    doubt = "" if now is case.now else explain.doubted(case.plan, case.now)
    if actions or case.pending:
        text = doubt + explain.searching(case.plan, now, bits, validation)
        return case.go_on(State.SEARCHING, actions, text, validation)
    return stopped(case, now, bits, doubt, validation)


def _search_boots(case: Case, outlook: Outlook) -> tuple[list[Measure], float]:
    """The boots to ask for, and the bits that the best of all options would tell."""
    actions = case.pins(Purpose.SEARCHING) or anchors(case) or between(case)
    for measure in actions:
        expect(outlook, measure.index, rebuild=measure.rebuild)
    best = first = best_option(case.plan, outlook, case.evidence.skipped)
    while best and best.bits >= LEAST_BITS and len(actions) < case.wanted:
        actions.append(Measure(best.index, Purpose.SEARCHING, best.rebuild))
        if len(actions) < case.wanted:
            expect(outlook, best.index, rebuild=best.rebuild)
            best = best_option(case.plan, outlook, case.evidence.skipped)
    return actions, first.bits if first else 0.0


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


def _others(case: Case) -> str:
    """What is said of other commits that may contribute; begins with a space."""
    if ending.is_first_of_several(case.plan, case.now):
        return explain.first_of_several(case.plan, case.now)
    other = ending.other_change(case.now)
    if other is not None and other <= SHARE * abs(case.plan.effect):
        return ""
    return explain.not_ruled_out(other)


def _too_noisy(case: Case) -> Decision:
    text = explain.too_noisy(case.plan, case.now)
    wide = ending.WIDE_SET_MASS
    return case.done(ending.stopped(case.now, text, bits=0.0, saturated=True, mass=wide))


def _made(case: Case, pair: Pair) -> list[int]:
    """Slots of the confirming boots of this pair, in the order measured."""
    slots = [case.slot(boot.index) for boot in case.boots_for(Purpose.CONFIRMING)]
    return [slot for slot in slots if slot in (case.slot(pair.parent), case.slot(pair.culprit))]


def _boots(case: Case, pair: Pair, made: list[int], short: list[int]) -> list[Measure]:
    actions = case.pins(Purpose.CONFIRMING)
    coming = [case.slot(measure.index) for measure in (*case.pending, *actions)]
    done = [*made, *coming]
    while len(actions) < case.wanted and (
        short or len(done) < CONFIRMING_BOOTS or len(set(done)) < 2
    ):
        culprit_first = done.count(case.slot(pair.culprit)) <= done.count(case.slot(pair.parent))
        index = pair.culprit if culprit_first else pair.parent
        index = short[0] if short and index not in short else index
        rebuild = index in short and case.builds(case.slot(index)) > 0
        actions.append(Measure(index, Purpose.CONFIRMING, rebuild=rebuild))
        done.append(case.slot(index))
    return actions
