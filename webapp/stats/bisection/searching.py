"""The middle state: the most telling revision next, until a candidate is nearly sure."""

from dataclasses import replace

import numpy as np

from webapp.stats.bisection import ending, explain, suspicion
from webapp.stats.bisection.anchors import anchors
from webapp.stats.bisection.case import SURE, Case, Decision, Measure, State
from webapp.stats.bisection.confirming import CONFIRMING_BOOTS, confirming, find_pair
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.information import Outlook, best_option, expect, look_ahead
from webapp.stats.bisection.plan import Purpose
from webapp.stats.bisection.posterior import Posterior
from webapp.stats.bisection.validation import BOUND, Validation

LEAST_BITS = 0.005
"""Expected loss of entropy below which one more boot is not worth having."""

TWO_DOUBT = 0.5
"""Chance of two steps from which no commit is named before a boot between them was had."""

MOST_BETWEEN = 5
"""Boots of the least measured revision between two suspected steps, after which more of them
are not what tells one step from two."""


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


def stopped(
    case: Case, now: Posterior, bits: float, doubt: str = "", validation: Validation | None = None
) -> Decision:
    """The end of a search whose best next boot would tell so many ``bits``."""
    text = doubt + explain.stopped(case.plan, now, case.evidence, case.stop)
    if suspicion.is_suspected(case.now):
        return case.done(ending.suspected(now, suspicion.suspected(case.plan, now) + text))
    outcome = ending.stopped(now, text, bits=bits, saturated=not case.stop)
    return case.done(outcome, validation)


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
