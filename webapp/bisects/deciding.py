"""One decision, of one machine and mode or of several: made from the evidence, and made again to
see that it is the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from math import exp
from typing import Any

from webapp.bisects.marks import marks_of
from webapp.bisects.models import Bisect, BisectAct, BisectBoot, BisectDecision
from webapp.bisects.question import PAST, Circumstances, evidence_of, plan_of, subjects_of
from webapp.bisects.sentences import progress_sentence
from webapp.stats import bisection
from webapp.stats.student import TWO_SIDED_95

LEAST_CHANCE = 0.0005
"""Chances below are not kept with a decision; they can be had again by making it again."""
DIGITS = 6
MOST_LOG = 70_000.0
"""Log percent: a factor that a float still holds, far beyond what any two values are apart."""


def decision_of(
    bisect: Bisect,
    names: Sequence[str],
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
) -> tuple[BisectDecision, bisection.Decision]:
    """The row, unsaved, and what it says in the words of the statistics.

    ``boots`` and ``acts`` are those known then, in their order; ``names`` those of the
    revisions along the bisect.
    """
    plan = plan_of(bisect, names)
    evidence = evidence_of(boots, acts, circumstances)
    found = bisection.decide(
        plan, evidence, circumstances.pending, circumstances.agents, now=circumstances.at
    )
    made = _figures(found, names, bisect.gaps) | {"lab": _lab(found, _counted(boots, acts, found))}
    row = _row(bisect, found, boots, acts, circumstances)
    row.action = _action(found, found.actions, names)
    row.figures = made
    return row, found


def decision_of_all(
    bisect: Bisect,
    names: Sequence[str],
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
) -> tuple[BisectDecision, bisection.Together]:
    """`decision_of` for several machines or modes."""
    together = decide_for_all(bisect, names, boots, acts, circumstances)
    found, lead = together.decision, together.lead
    own = [row for row in boots if row.subject == lead]
    measures = [one.measure for one in together.actions]
    row = _row(bisect, found, boots, acts, circumstances)
    row.action = _action(found, measures, names)
    row.pending, row.together = pending_of(circumstances), together_of(circumstances)
    row.figures = _figures(found, names, bisect.gaps) | {
        "lab": _lab(found, _counted(own, acts, found, lead)),
        "measure": [one.index for one in measures],
        "rebuild": [one.index for one in measures if one.rebuild],
        "measure_at": [one.subject for one in together.actions],
        "lead": lead,
        "subjects": [
            _subject(together, number, boots, acts) for number in range(len(together.views))
        ],
    }
    return row, together


def replay(bisect: Bisect, names: Sequence[str]) -> list[BisectDecision]:
    """Every decision of a bisect made again, unsaved, from the rows that it rested on."""
    boots, acts = list(bisect.boots.all()), list(bisect.acts.all())
    again = []
    for row in bisect.decisions.all():
        known = [boot for boot in boots if boot.number <= row.boots and _counts(boot, row.number)]
        done = [act for act in acts if act.number <= row.acts]
        made = _again(bisect, names, row, known, done)
        made.number = row.number
        again.append(made)
    return again


def check_candidates(bisect: Bisect, names: Sequence[str], acts: Sequence[BisectAct]) -> str:
    """Why the acts make no sense together; empty when they do.

    The statistics only doubt what a person ruled out; if that were everything, nothing were said.
    """
    plan, evidence = (
        plan_of(bisect, names),
        evidence_of((), acts, Circumstances(bisect.created_at)),
    )
    possible = {index for index, weight in enumerate(plan.weights, start=1) if weight}
    if possible <= evidence.excluded | evidence.identical:
        return "no candidate is left: let at least one commit be possible"
    return ""


def decide_for_all(
    bisect: Bisect,
    names: Sequence[str],
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
) -> bisection.Together:
    """What the statistics decide from what is known of each machine and mode."""
    subjects = subjects_of(bisect, names, boots, acts, circumstances)
    return bisection.decide_together(
        subjects, circumstances.asked, circumstances.free, now=circumstances.at
    )


def pending_of(circumstances: Circumstances) -> list[list[Any]]:
    """What is under measurement as a decision keeps it."""
    return [
        [one.measure.index, one.measure.purpose.value, one.measure.rebuild, one.subject]
        for one in circumstances.asked
    ]


def asked_from(pending: Sequence[Sequence[Any]]) -> tuple[bisection.Asked, ...]:
    """What ``pending_of`` wrote."""
    return tuple(
        bisection.Asked(subject, bisection.Measure(index, bisection.Purpose(purpose), rebuild))
        for index, purpose, rebuild, subject in pending
    )


def together_of(circumstances: Circumstances) -> dict[str, Any]:
    """What else such a decision depends on, as JSON."""
    return {
        "free": dict(circumstances.free),
        "failures": {str(number): text for number, text in circumstances.failures.items()},
    }


def failures_from(together: Mapping[str, Any]) -> dict[int, str]:
    """The failures that ``together_of`` wrote."""
    return {int(number): text for number, text in together.get("failures", {}).items()}


def _subject(
    together: bisection.Together,
    number: int,
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
) -> dict[str, Any]:
    """What one machine and mode shows, in percent and in its metric's unit."""
    view = together.views[number]
    own = [row for row in boots if row.subject == number]
    counted = _counted_of(own, acts, together.odd[number], number)
    now, is_known = view.posterior, bool(own)
    return {
        "number": number,
        "leads": number == together.lead,
        "moved": round(view.moved, DIGITS),
        "effect_pct": _percent(now.effect),
        "effect_low_pct": _percent(now.effect - TWO_SIDED_95 * now.effect_sd),
        "effect_high_pct": _percent(now.effect + TWO_SIDED_95 * now.effect_sd),
        "level_before": _level(now.good_level) if is_known else None,
        "level_after": _level(now.good_level + now.effect) if is_known else None,
        "boots": sum(row.purpose not in PAST for row in own),
        "lab": _lab_of(now.lab, counted),
    }


def _row(
    bisect: Bisect,
    found: bisection.Decision,
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    circumstances: Circumstances,
) -> BisectDecision:
    """The row without what depends on who measures."""
    return BisectDecision(
        bisect=bisect,
        number=_next_number(bisect),
        at=circumstances.at,
        state=found.state.value,
        text=found.text,
        boots=max((boot.number for boot in boots), default=0),
        acts=max((act.number for act in acts), default=0),
        pending=[[one.index, one.purpose.value, one.rebuild] for one in circumstances.pending],
        agents=circumstances.agents,
        hours=circumstances.hours,
        failure=circumstances.failure,
    )


def _again(
    bisect: Bisect,
    names: Sequence[str],
    row: BisectDecision,
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
) -> BisectDecision:
    at_hand = Circumstances(at=row.at, agents=row.agents, hours=row.hours, failure=row.failure)
    if bisect.is_of_several:
        at_hand = replace(
            at_hand,
            asked=asked_from(row.pending),
            free=row.together["free"],
            failures=failures_from(row.together),
        )
        return decision_of_all(bisect, names, boots, acts, at_hand)[0]
    pending = tuple(
        bisection.Measure(index, bisection.Purpose(purpose), rebuild)
        for index, purpose, rebuild in row.pending
    )
    return decision_of(bisect, names, boots, acts, replace(at_hand, pending=pending))[0]


def _counts(boot: BisectBoot, decision: int) -> bool:
    return boot.dropped_at is None or decision < boot.dropped_at


def _next_number(bisect: Bisect) -> int:
    last = bisect.decisions.order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1


def _action(
    found: bisection.Decision, actions: Sequence[bisection.Measure], names: Sequence[str]
) -> str:
    """In a few words: what happens next."""
    if found.outcome is not None:
        return f"ends, {Bisect.Outcome(found.outcome.kind.value).label}"
    if not actions:
        return "waits for what is measured"
    indices = list(dict.fromkeys(one.index for one in actions))
    shown = ", ".join(names[index] for index in indices[:2])
    return f"measures {shown}" + (f" and {len(indices) - 2} more" if len(indices) > 2 else "")


def _figures(
    found: bisection.Decision, names: Sequence[str], gaps: Sequence[int]
) -> dict[str, Any]:
    now, outcome = found.posterior, found.outcome
    # Chances and levels hold if the step lies in the range.
    is_inside = not (outcome and outcome.outside)
    chances = [
        [index, round(float(chance), DIGITS)]
        for index, chance in enumerate(now.candidates, start=1)
        if chance >= LEAST_CHANCE and is_inside
    ]
    has_levels = is_inside and bool(found.effort or chances)
    return {
        "sentence": progress_sentence(found, names, gaps),
        "chances": chances,
        "none": round(now.none, DIGITS),
        "two": round(now.two, DIGITS),
        "entropy": round(now.entropy, DIGITS),
        "effect_pct": _percent(now.effect),
        "effect_low_pct": _percent(now.effect - TWO_SIDED_95 * now.effect_sd),
        "effect_high_pct": _percent(now.effect + TWO_SIDED_95 * now.effect_sd),
        "level_before": _level(now.good_level) if has_levels else None,
        "level_after": _level(now.good_level + now.effect) if is_inside else None,
        "measure": [one.index for one in found.actions],
        "rebuild": [one.index for one in found.actions if one.rebuild],
        "effort": found.effort,
        "several": bool(outcome and outcome.several),
        "other_pct": _other_percent(outcome),
        "second": list(outcome.second) if outcome else [],
        "more_boots": outcome.more_boots if outcome else None,
        "outside": _outside(outcome),
    }


def _other_percent(outcome: bisection.Outcome | None) -> float | None:
    """How large a change beside the named commit is not ruled out; None: nothing is said of it."""
    other = outcome.other if outcome else None
    return None if other is None else _percent(other)


def _outside(outcome: bisection.Outcome | None) -> dict[str, Any] | None:
    """On which side of the range the step lies, and between which indices it was measured."""
    found = outcome.outside if outcome else None
    if found is None:
        return None
    return {"side": found.side.value, "between": list(found.between)}


def _counted(
    boots: Sequence[BisectBoot],
    acts: Sequence[BisectAct],
    found: bisection.Decision,
    subject: int = 0,
) -> list[BisectBoot]:
    """The boots that the decision counted, from the first one on that was not history."""
    return _counted_of(boots, acts, found.odd, subject)


def _counted_of(
    boots: Sequence[BisectBoot], acts: Sequence[BisectAct], odd: Sequence[int], subject: int
) -> list[BisectBoot]:
    marks = marks_of(acts, subject)
    kept = [row for row in boots if row.purpose != BisectBoot.BEYOND and not marks.excludes(row)]
    counted = [row for at, row in enumerate(kept) if at not in odd]
    return list(dropwhile(lambda row: row.purpose == bisection.Purpose.HISTORY, counted))


def _lab(found: bisection.Decision, counted: Sequence[BisectBoot]) -> dict[str, Any]:
    """What the lab did: chances, and its shift at each boot (number, percent)."""
    return _lab_of(found.posterior.lab, counted)


def _lab_of(lab: bisection.Lab, counted: Sequence[BisectBoot]) -> dict[str, Any]:
    return {
        "drifts": round(lab.moves, DIGITS),
        "steps": round(lab.steps, DIGITS),
        "step_after": lab.step_after,
        "shift_pct": [
            [row.number, _percent(shift)] for row, shift in zip(counted, lab.shift, strict=True)
        ],
        "scatter": round(lab.scatter, DIGITS),
    }


def _percent(log: float) -> float:
    """A difference in log percent as percent of the level before."""
    return round(100 * (_factor(log) - 1), DIGITS)


def _level(log: float) -> float:
    """A level in log percent of 1 as a value in the metric's unit."""
    return float(f"{_factor(log):.9g}")


def _factor(log: float) -> float:
    return exp(min(log, MOST_LOG) / 100)
