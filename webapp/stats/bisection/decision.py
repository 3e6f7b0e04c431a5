"""What to do next, and when to stop: a pure function of the plan and the evidence.

validating → searching → confirming → done. The state is read off the evidence (each boot says
what it was measured for), so that the same evidence gives the same decision, always.
"""

from collections.abc import Sequence
from datetime import datetime

from webapp.stats.bisection import explain
from webapp.stats.bisection.case import Case, Decision, Measure
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.bisection.posterior import posterior_of
from webapp.stats.bisection.searching import searching
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.validating import is_passed, validating
from webapp.stats.errors import OutOfRangeError


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
