"""A bisect in a sentence, and as a report: what the page says on top, and what people paste."""

from webapp.stats.bisection.case import Decision
from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.explain import LEAST_CHANCE, change, effect, leading, percent
from webapp.stats.bisection.forecast import Forecast
from webapp.stats.bisection.plan import Evidence, Plan, Purpose
from webapp.stats.markdown import inline

MOST_ROWS = 10
"""Candidates in a report; the others are counted."""


def headline(plan: Plan, decision: Decision, coming: Forecast | None = None) -> str:
    """Say "93 % r303643, 5 % r303640; 2 to 5 boots left, about 40 min"; in the end, the answer."""
    outcome = decision.outcome
    if outcome is None:
        return "; ".join([leading(plan, decision.posterior), *_left(coming)])
    chance = percent(outcome.probability)
    match outcome.kind:
        case Kind.SINGLE:
            text = f"{plan.name(outcome.candidates[0])}, {chance}"
            text += ", the first of several" if outcome.several else ""
        case Kind.RANGE:
            text = f"One of {_listed(plan, outcome.candidates)}, {chance}"
        case Kind.TWO_STEPS:
            first, second = _span(plan, outcome.candidates), _span(plan, outcome.second)
            text = f"Two steps: {first} and {second}, {chance}"
        case Kind.OUTSIDE if outcome.outside:
            text = f"The step lies {outcome.outside.side.value}, {chance}"
        case Kind.INCONCLUSIVE if outcome.more_boots:
            text = f"Inconclusive, needs about {outcome.more_boots} more boots"
        case kind:
            text = kind.value.capitalize()
    return text


def forecast_text(coming: Forecast) -> str:
    """Say "about 15 boots, 2 h 10; 90 %: 22 boots", and how it is likely to end."""
    boots = f"about {coming.boots_median:.0f} boots, {duration(coming.hours_median)}"
    ends = [
        f"{percent(chance)} {kind.value}"
        for kind, chance in coming.outcomes.items()
        if chance >= 0.05
    ]
    return f"{boots}; 90 %: {coming.boots_p90:.0f} boots; likely to end as: {', '.join(ends)}"


def report(plan: Plan, evidence: Evidence, decision: Decision) -> str:
    """The bisect as Markdown: answer, reason, chances, effort. Ends with a line feed."""
    now = decision.posterior
    lines = [
        f"## Bisect of {inline(plan.name(0))} … {inline(plan.name(plan.bad))}",
        "",
        f"**{inline(headline(plan, decision))}**",
        "",
        inline(decision.text),
        "",
        f"* Step: {effect(now)} (alerted {change(plan.effect)})",
        f"* Noise: {now.boot_sd:.2f} % between boots, {now.build_sd:.2f} % between builds",
        f"* Effort: {_effort(evidence)}",
    ]
    for title, indices in (
        ("Could not be measured", evidence.skipped),
        ("Ruled out by a person", evidence.excluded),
        ("Built as their parents", evidence.identical),
        ("Limited by a person to", evidence.forced),
    ):
        if indices:
            names = ", ".join(plan.name(index) for index in sorted(indices))
            lines.append(f"* {title}: {inline(names)}")
    return "\n".join([*lines, "", *_table(plan, evidence, decision)]) + "\n"


def duration(hours: float) -> str:
    """Hours as "40 min" or "2 h 10"."""
    minutes = round(60 * hours)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d}"


def _left(coming: Forecast | None) -> list[str]:
    if coming is None:
        return []
    low, high = round(coming.boots_median), round(coming.boots_p90)
    boots = f"{low} to {high} boots" if high > low else _count(low)
    return [f"{boots} left, about {duration(coming.hours_median)}"]


def _count(boots: int) -> str:
    return "1 boot" if boots == 1 else f"{boots} boots"


def _table(plan: Plan, evidence: Evidence, decision: Decision) -> list[str]:
    chances = decision.posterior.candidates
    order = [int(i) + 1 for i in (-chances).argsort(kind="stable") if chances[i] > 0]
    shown = [index for index in order[:MOST_ROWS] if chances[index - 1] >= LEAST_CHANCE]
    rows = [
        _row(plan.name(index), percent(float(chances[index - 1])), _boots(evidence, index))
        for index in shown
    ]
    rest = len(order) - len(rows)
    others = float(sum(chances[index - 1] for index in order[len(rows) :]))
    tail = [f"| {rest} others | {percent(others)} | |"] if rest > 0 else []
    return ["| candidate | chance | boots |", "|---|---|---|", *rows, *tail]


def _row(name: str, chance: str, boots: str) -> str:
    return f"| {inline(name)} | {chance} | {boots} |"


def _boots(evidence: Evidence, index: int) -> str:
    if index in evidence.skipped:
        return "skipped"
    return str(sum(boot.index == index for boot in evidence.boots))


def _effort(evidence: Evidence) -> str:
    parts = [
        f"{count} {purpose.value}"
        for purpose in Purpose
        if purpose is not Purpose.HISTORY
        and (count := sum(boot.purpose is purpose for boot in evidence.boots))
    ]
    detail = f" ({', '.join(parts)})" if parts else ""
    return f"{evidence.effort} boots{detail}"


def _listed(plan: Plan, candidates: tuple[int, ...], most: int = 5) -> str:
    if len(candidates) <= most:
        return ", ".join(plan.name(index) for index in candidates)
    return f"{len(candidates)} from {_span(plan, candidates)}"


def _span(plan: Plan, candidates: tuple[int, ...]) -> str:
    first, last = plan.name(candidates[0]), plan.name(candidates[-1])
    return first if first == last else f"{first} to {last}"
