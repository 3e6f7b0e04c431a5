"""One decision: made from the evidence, and made again to see that it is the same."""

from collections.abc import Sequence
from itertools import dropwhile
from math import exp
from typing import Any

from webapp.bisects.models import Bisect, BisectAct, BisectBoot, BisectDecision
from webapp.bisects.question import PAST, Circumstances, machine_of, marks_of, subjects_of
from webapp.bisects.sentences import progress_sentence
from webapp.stats import bisection
from webapp.stats.intervals import TWO_SIDED_95

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
    """The row, unsaved, and the decision of the statistics that it describes.

    ``boots`` and ``acts`` are those known then, in their order; ``names`` those of the
    revisions along the bisect.
    """
    subjects = subjects_of(bisect, names, boots, acts, circumstances)
    found = bisection.decide(
        subjects, circumstances.asked, circumstances.free, now=circumstances.at
    )
    row = BisectDecision(
        bisect=bisect,
        number=_next_number(bisect),
        at=circumstances.at,
        state=found.state.value,
        text=found.text,
        action=_action(found, names),
        boots=max((boot.number for boot in boots), default=0),
        acts=max((act.number for act in acts), default=0),
        pending=_pending_of(circumstances),
        agents=sum(circumstances.free.values()),
        hours=circumstances.hours,
        failure=circumstances.failure,
        together=_together_of(circumstances),
        figures=_figures(found, names, bisect.gaps),
    )
    shown = [_subject(found, number, boots, acts) for number in range(len(found.views))]
    row.figures["lab"] = shown[found.lead]["lab"]
    if bisect.is_of_several:
        row.figures |= {
            "measure_at": [one.subject for one in found.actions],
            "lead": found.lead,
            "subjects": shown,
        }
    return row, found


def replay(bisect: Bisect, names: Sequence[str]) -> list[BisectDecision]:
    """Every decision of a bisect made again, unsaved, from the rows that it rested on."""
    boots, acts = list(bisect.boots.all()), list(bisect.acts.all())
    again = []
    for row in bisect.decisions.all():
        known = [boot for boot in boots if boot.number <= row.boots and _counts(boot, row.number)]
        done = [act for act in acts if act.number <= row.acts]
        made, _ = decision_of(bisect, names, known, done, _circumstances_of(bisect, row))
        made.number = row.number
        again.append(made)
    return again


def check_candidates(bisect: Bisect, names: Sequence[str], acts: Sequence[BisectAct]) -> str:
    """Why the acts make no sense together; empty when they do.

    The statistics only doubt what a person ruled out; if that were everything, nothing would be
    concluded.
    """
    own, *_ = subjects_of(bisect, names, (), acts, Circumstances(bisect.created_at))
    possible = {index for index, weight in enumerate(own.plan.weights, start=1) if weight}
    if possible <= own.evidence.excluded | own.evidence.identical:
        return "no candidate is left: let at least one commit be possible"
    return ""


def _circumstances_of(bisect: Bisect, row: BisectDecision) -> Circumstances:
    """What a stored decision depended on. Rows of one machine and mode may name neither the
    subject of what was pending nor the machine of the agents that were free.
    """
    return Circumstances(
        at=row.at,
        hours=row.hours,
        failure=row.failure,
        asked=tuple(
            bisection.Asked(
                subject[0] if subject else 0,
                bisection.Measure(index, bisection.Purpose(purpose), rebuild),
            )
            for index, purpose, rebuild, *subject in row.pending
        ),
        free=row.together.get("free", {machine_of(bisect): row.agents}),
        failures={int(one): text for one, text in row.together.get("failures", {}).items()},
    )


def _pending_of(circumstances: Circumstances) -> list[list[Any]]:
    """What is under measurement, as JSON."""
    return [
        [one.measure.index, one.measure.purpose.value, one.measure.rebuild, one.subject]
        for one in circumstances.asked
    ]


def _together_of(circumstances: Circumstances) -> dict[str, Any]:
    """The machines that a decision depends on, as JSON."""
    return {
        "free": dict(circumstances.free),
        "failures": {str(number): text for number, text in circumstances.failures.items()},
    }


def _subject(
    found: bisection.Decision, number: int, boots: Sequence[BisectBoot], acts: Sequence[BisectAct]
) -> dict[str, Any]:
    """What one machine and mode shows, in percent and in its metric's unit."""
    view = found.views[number]
    own = [row for row in boots if row.subject == number]
    counted = _counted(own, acts, found.odd[number], number)
    now, is_known = view.posterior, bool(own)
    return {
        "number": number,
        "leads": number == found.lead,
        "moved": round(view.moved, DIGITS),
        **_effect(now),
        "level_before": _level(now.good_level) if is_known else None,
        "level_after": _level(now.good_level + now.effect) if is_known else None,
        "boots": sum(row.purpose not in PAST for row in own),
        "lab": _lab_of(now.lab, counted),
    }


def _counts(boot: BisectBoot, decision: int) -> bool:
    return boot.dropped_at is None or decision < boot.dropped_at


def _next_number(bisect: Bisect) -> int:
    last = bisect.decisions.order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1


def _effect(now: bisection.Posterior) -> dict[str, float]:
    """The step with its 95 % interval."""
    reach = TWO_SIDED_95 * now.effect_sd
    return {
        "effect_pct": _percent(now.effect),
        "effect_low_pct": _percent(now.effect - reach),
        "effect_high_pct": _percent(now.effect + reach),
    }


def _action(found: bisection.Decision, names: Sequence[str]) -> str:
    """In a few words: what happens next."""
    if found.outcome is not None:
        return f"ends, {Bisect.Outcome(found.outcome.kind.value).label}"
    if not found.actions:
        return "waits for what is measured"
    indices = list(dict.fromkeys(one.measure.index for one in found.actions))
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
        **_effect(now),
        "level_before": _level(now.good_level) if has_levels else None,
        "level_after": _level(now.good_level + now.effect) if is_inside else None,
        "measure": [one.measure.index for one in found.actions],
        "rebuild": [one.measure.index for one in found.actions if one.measure.rebuild],
        "effort": found.effort,
        "several": bool(outcome and outcome.several),
        "other_pct": _other_percent(outcome),
        "second": list(outcome.second) if outcome else [],
        "more_boots": outcome.more_boots if outcome else None,
        "outside": _outside(outcome),
    }


def _other_percent(outcome: bisection.Outcome | None) -> float | None:
    """How large a change beside the named commit is not ruled out; None: not known."""
    other = outcome.other if outcome else None
    return None if other is None else _percent(other)


def _outside(outcome: bisection.Outcome | None) -> dict[str, Any] | None:
    """On which side of the range the step lies, and between which indices it was measured."""
    found = outcome.outside if outcome else None
    if found is None:
        return None
    return {"side": found.side.value, "between": list(found.between)}


def _counted(
    boots: Sequence[BisectBoot], acts: Sequence[BisectAct], odd: Sequence[int], subject: int
) -> list[BisectBoot]:
    """The boots that the decision counted, from the first one on that was not history."""
    marks = marks_of(acts, subject)
    kept = [row for row in boots if row.purpose != BisectBoot.BEYOND and not marks.excludes(row)]
    counted = [row for at, row in enumerate(kept) if at not in odd]
    return list(dropwhile(lambda row: row.purpose == bisection.Purpose.HISTORY, counted))


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
