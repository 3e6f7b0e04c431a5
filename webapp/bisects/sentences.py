"""The state of a bisect in one sentence, and that of each lane of its page: a machine and mode of a
bisect over several.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.bisects.models import Bisect, BisectDecision
from webapp.bisects.question import Scope, machine_of
from webapp.stats import bisection

MOST_NAMED = 4
"""Measurements that are named; the others are counted."""

SHOWN = 3
LEAST_SHOWN = 0.01
LEAST_LEAD = 0.2
"""Probability from which a suspect is worth a name of its own."""

NOTHING_FOUND = {
    bisection.Kind.NOT_REPRODUCED: (
        "Not reproduced: good and bad do not differ by the alerted step."
    ),
    bisection.Kind.SUSPECTED: "The machine or the noise is suspected, not a commit.",
    bisection.Kind.LAB_FAILED: "The lab failed: nothing can be concluded.",
}

MINUTES_AN_HOUR, MINUTES_A_DAY = 60, 1440

MOVED, SPARED = 0.8, 0.2
"""Chances that the commit moves a machine and mode, from which and up to which that is stated."""


def progress_sentence(
    found: bisection.Decision, names: Sequence[str], gaps: Collection[int] = ()
) -> str:
    """``93 % r303643, 5 % r303640`` while it runs; what came of it at its end.

    Before the revisions at the indices ``gaps`` commits may lie that are not known. What is left to
    do is written by ``with_what_is_left``.
    """
    if found.outcome is not None:
        return _answer(found.outcome, names, gaps)
    return leading(found.posterior, names, gaps)


def gaps_sentence(names: Sequence[str], gaps: Collection[int]) -> str:
    """That the search need not end with one commit, where history has gaps; else empty."""
    if not gaps:
        return ""
    revisions = len(names) - 1
    known = f"{revisions:,} revision{' is' if revisions == 1 else 's are'} known"
    return (
        f"After {names[0]} up to {names[-1]} {known}, and other commits may lie between: the "
        "search can end between two of these revisions, and names no commit there. Import the "
        "history of the tree to search all of it."
    )


def with_what_is_left(figures: Mapping[str, Any]) -> str:
    """``93 % r303643, 5 % r303640; 2 to 5 boots left, about 40 min`` from a decision's figures.

    Where several culprits are likelier than the 90 % leaves out, what is left in either case.
    """
    sentence, left = str(figures["sentence"]), figures.get("left")
    if not left:
        return sentence
    one, several = left.get("one"), left.get("several")
    if one and several and left["several_chance"] >= bisection.TOLD_APART_FROM:
        return (
            f"{sentence}; {_left(one, left['hands'])} if one commit is guilty, "
            f"{_left(several, left['hands'])} if several are"
            f" ({chance_text(left['several_chance'])})"
        )
    return f"{sentence}; {_left(left, left['hands'])}"


def _left(way: Mapping[str, Any], hands: int) -> str:
    least, most = round(way["boots_median"]), round(way["boots_p90"])
    boots = boots_text(most) if least >= most else f"{least} to {most} boots"
    return f"{boots} left, about {hours_text(way['hours_median'] / hands)}"


def lab_sentence(figures: Mapping[str, Any], anchors: int, beside: Sequence[str] = ()) -> str:
    """The text of a decision on the lab itself; empty for one that was made before it was asked.

    ``beside``: the names of what the same boots measured as well.
    """
    lab = figures.get("lab")
    if not lab:
        return ""
    together = f", and by {', '.join(beside)} in the same boots" if beside else ""
    steady = chance_text(max(1 - lab["drifts"] - lab["steps"], 0.0))
    return (
        f"The machine itself: stable {steady}, drifting {chance_text(lab['drifts'])}, "
        f"a step of its own {chance_text(lab['steps'])}, by {anchors} anchor "
        f"boot{'' if anchors == 1 else 's'} among others{together}. "
        f"Boots scatter {lab['scatter']:.1f} "
        "times as much as in the history of the series."
    )


def leading(now: bisection.Posterior, names: Sequence[str], gaps: Collection[int] = ()) -> str:
    """The likeliest suspects; while none leads, between which of them it is."""
    if now.candidates.max() >= LEAST_LEAD:
        shown = bisection.leaders(
            now.candidates,
            render=chance_text,
            name=lambda index: _one(index + 1, names, gaps),
            most=SHOWN,
            least=LEAST_SHOWN,
        )
    else:
        left = bisection.credible_set(now)
        chance = chance_text(float(now.candidates[[at - 1 for at in left]].sum()))
        shown = [f"{chance} one of {_span(left, names, gaps)}".rstrip(",")]
    if now.none >= LEAST_SHOWN:
        shown.append(f"{chance_text(now.none)} no step")
    return ", ".join(shown)


def chance_text(chance: float) -> str:
    """A probability that is never rounded up to certainty."""
    if chance > 0.995:
        return "over 99 %"
    return f"{100 * chance:.0f} %" if chance >= 0.005 else "under 1 %"


def hours_text(hours: float) -> str:
    """``40 min``, ``2 h 10``, ``3 days``; never less than a minute."""
    minutes = max(round(hours * 60), 1)
    if minutes < MINUTES_AN_HOUR:
        return f"{minutes} min"
    if minutes < 2 * MINUTES_A_DAY:
        return f"{minutes // MINUTES_AN_HOUR} h {minutes % MINUTES_AN_HOUR:02d}"
    return f"{round(minutes / MINUTES_A_DAY)} days"


def boots_text(count: int) -> str:
    """``1 boot``, ``5 boots``."""
    return f"{count} boot{'' if count == 1 else 's'}"


def _answer(outcome: bisection.Outcome, names: Sequence[str], gaps: Collection[int]) -> str:
    kinds = bisection.Kind
    if outcome.kind in NOTHING_FOUND:
        return NOTHING_FOUND[outcome.kind]
    chance = chance_text(outcome.probability)
    match outcome.kind:
        case kinds.SINGLE:
            more = ", the first of several" if outcome.several else ""
            culprit = _one(outcome.candidates[0], names, gaps)
            sentence = f"{culprit} made the step ({chance}){more}."
            return sentence.replace("a commit", "A commit", 1) if gaps else sentence
        case kinds.RANGE:
            return _range(outcome.candidates, names, gaps, chance)
        case kinds.OUTSIDE if outcome.outside:
            end = names[0] if outcome.outside.side is bisection.Side.BEFORE else names[-1]
            return f"The step lies {outcome.outside.side.value}, {end} ({chance})."
        case kinds.TWO_STEPS:
            first = _span(outcome.candidates, names, gaps)
            second = _span(outcome.second, names, gaps)
            return f"Two steps ({chance}): one at {first}, one at {second}."
    more = (
        f", about {boots_text(outcome.more_boots)} more would be needed"
        if outcome.more_boots
        else ""
    )
    return f"Inconclusive{more}."


def _range(
    candidates: Sequence[int], names: Sequence[str], gaps: Collection[int], chance: str
) -> str:
    if len(candidates) == 1:
        only = _one(candidates[0], names, gaps)
        return f"Probably {only} made the step ({chance}); not confirmed."
    return f"One of {_span(candidates, names, gaps)} made the step ({chance})."


def _one(index: int, names: Sequence[str], gaps: Collection[int]) -> str:
    """A candidate; where other commits may lie before it, all of these."""
    return (
        f"a commit after {names[index - 1]} up to {names[index]}" if index in gaps else names[index]
    )


def _span(indices: Sequence[int], names: Sequence[str], gaps: Collection[int]) -> str:
    if len(indices) == 1:
        return _one(indices[0], names, gaps)
    if not set(gaps).isdisjoint(range(indices[0], indices[-1] + 1)):
        return f"the commits after {names[indices[0] - 1]} up to {names[indices[-1]]}"
    return f"{len(indices)} commits, {names[indices[0]]} to {names[indices[-1]]},"


def action_text(bisect: Bisect, row: BisectDecision, names: Sequence[str]) -> str:
    """``measures r1004 on Atom/T540, r1000 on Xeon/CX4``; ``names`` are those along the bisect."""
    measured = row.figures.get("measure", [])
    subjects = row.figures.get("measure_at", [])
    if not (bisect.is_of_several and measured and subjects):
        return row.action
    each = [
        f"{names[index]} on {location_of(bisect, number)}"
        for index, number in zip(measured, subjects, strict=True)
    ]
    shown, more = ", ".join(each[:MOST_NAMED]), len(each) - MOST_NAMED
    return f"measures {shown}" + (f" and {more} more" if more > 0 else "")


def location_of(bisect: Bisect, number: int) -> str:
    """The hardware of a machine and mode, with the mode where the hardware has several."""
    machines = [machine_of(scope) for scope in bisect.scopes]
    series = bisect.scopes[number].series
    mode = f" ({series.mode})" if machines.count(machines[number]) > 1 else ""
    return f"{series.hardware}{mode}"


@dataclass(frozen=True, slots=True)
class Lane:
    """One of them. ``figures`` are those of the newest decision, empty before the first."""

    scope: Scope
    figures: Mapping[str, Any]
    boots: int

    @property
    def number(self) -> int:
        """0 is the bisect's own series."""
        return self.scope.number

    @property
    def name(self) -> str:
        """``forwarding on Atom/T540``."""
        return f"{self.scope.series.mode} on {self.scope.series.hardware}"

    @property
    def leads(self) -> bool:
        """Whether the bisect's rules go by its boots."""
        return bool(self.figures.get("leads"))

    @property
    def sentence(self) -> str:
        """Whether the commit moves it and by how much, after how many boots."""
        measured = f"{boots_text(self.boots)} measured for it"
        if not self.figures:
            return f"Nothing is decided yet; {measured}."
        moved = self.figures["moved"]
        if not self.boots:
            return f"Not booted for this bisect; the commit moves it with {chance_text(moved)}."
        if moved <= SPARED:
            return f"Not moved by the commit ({chance_text(1 - moved)}); {measured}."
        low, high = (_signed(self.figures[f"effect_{end}_pct"]) for end in ("low", "high"))
        step = f"{_signed(self.figures['effect_pct'])} % (95 %: {low} to {high} %)"
        sure = "Moved" if moved >= MOVED else "Perhaps moved"
        return f"{sure} by {step}, {chance_text(moved)} sure; {measured}.{self._machine}"

    @property
    def _machine(self) -> str:
        lab = self.figures["lab"]
        unsteady = lab["drifts"] + lab["steps"]
        return (
            f" Its machine changed meanwhile ({chance_text(unsteady)})." if unsteady > 0.5 else ""
        )


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def lane_document(lane: Lane) -> dict[str, Any]:
    """The lane as plain data; null before the first decision."""
    series, known = lane.scope.series, lane.figures
    return {
        "number": lane.number,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "alerted": lane.scope.alerted,
        "expected_percent": lane.scope.effect_pct,
        "leads": lane.leads,
        "moved": known.get("moved"),
        "effect_percent": known.get("effect_pct"),
        "effect_low_percent": known.get("effect_low_pct"),
        "effect_high_percent": known.get("effect_high_pct"),
        "boots": lane.boots,
        "noise": lane.scope.noise,
        "machine": known.get("lab"),
        "sentence": lane.sentence,
    }
