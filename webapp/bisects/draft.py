"""A bisect before it starts: the draft, why one is refused, what it will still cost, how it will
probably end, and whether the history shows another step than the one that it is to search.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import expm1, sqrt
from statistics import fmean
from typing import Any

from webapp.bisects.models import Bisect, BisectAct, BisectBoot
from webapp.bisects.prior import ShownPrior
from webapp.bisects.question import Circumstances, subjects_of
from webapp.bisects.sentences import boots_text, chance_text, gaps_sentence, hours_text
from webapp.charts.text import percent
from webapp.results.models import Revision
from webapp.stats import bisection


@dataclass(frozen=True, slots=True)
class Draft(ShownPrior):
    """It, with its revisions and the boots that history has. ``crosses_epoch``: an epoch of its
    machine begins between its ends, so that what differs may be the machine.
    ``hours_are_guessed``: no job has run on one of its machines.
    """

    bisect: Bisect
    revisions: Sequence[Revision]
    boots: Sequence[BisectBoot]
    crosses_epoch: bool = False
    hours_are_guessed: bool = False

    @property
    def gaps_sentence(self) -> str:
        """That it cannot end with one commit everywhere, where history has gaps."""
        return gaps_sentence(self.names, self.bisect.gaps)

    @property
    def names(self) -> list[str]:
        """The names of the revisions, by index."""
        return [revision.name for revision in self.revisions]


class BisectError(Exception):
    """It makes no sense now; the message has why and what to do instead."""


class BisectChanged(BisectError):
    """Somebody else, or the system, changed the bisect since it was looked at."""


class BisectRunning(BisectError):
    """One that searches the same is running: it was started before, or the button pressed twice."""

    def __init__(self, bisect: Bisect) -> None:
        super().__init__(f"Bisect {bisect.pk} searches the same already.")
        self.bisect = bisect


TRIALS_BEFORE, TRIALS_WHILE = 40, 12
"""Simulated bisects: before the start a person waits for it, later every step makes one."""

ENDINGS = {
    "single": "with one commit",
    "range": "with a range",
    "two steps": "with two steps",
    "not reproduced": "as not reproduced",
    "outside the range": "outside the range",
    "inconclusive": "inconclusively",
    "machine or noise suspected": "with the machine or the noise suspected",
    "lab failed": "with a failure of the lab",
}
GUESSED = " Hours are a guess until a job has run on the machine."

LEAST_SHARE = 0.005
"""Of the simulated ones, weighed with the chance of their kind, from which an ending is reported.
"""

HOPELESS_SHARE = 0.5
"""Of the step: builds that scatter so much hide it (see docs/bisect.md)."""

CLEAR_ERRORS = 3.0
"""Standard errors of the history's step from which it contradicts another one."""

SLACK = 0.5
"""Of the searched step: how far the history's may differ besides its noise, for a step is often
typed by eye."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``effect`` is the step to search instead, in percent; None where the history shows none."""

    sentence: str
    effect: float | None


@dataclass(frozen=True, slots=True)
class Before:
    """The forecast of a draft in words; the noise in percent, that of builds None where no revision
    was booted twice. ``warning`` may be empty.
    """

    sentence: str
    contradiction: Contradiction | None
    warning: str
    boot_pct: float
    build_pct: float | None
    document: Mapping[str, Any]


def forecast_of(draft: Draft) -> Before:
    """Before the start, by simulation with a fixed seed: the same draft, the same words."""
    bisect = draft.bisect
    at_hand = Circumstances(bisect.created_at)
    subjects = subjects_of(bisect, draft.names, draft.boots, (), at_hand)
    least = bisection.TOLD_APART_FROM if bisect.is_of_several else bisection.TOLD_FROM
    found = bisection.forecast(subjects, trials=TRIALS_BEFORE, simulated_from=least)
    plan, known = subjects[0].plan, subjects[0].evidence
    return Before(
        sentence=_sentence(found) + (GUESSED if draft.hours_are_guessed else ""),
        contradiction=_contradiction_of(bisect, plan, known.boots),
        warning=_warning(plan),
        boot_pct=plan.noise.boot_variance(plan.runs) ** 0.5,
        build_pct=plan.noise.build if plan.noise.history_boots > 1 else None,
        document=_document(found),
    )


def forecast_left(
    bisect: Bisect,
    names: Sequence[str],
    known: tuple[Iterable[BisectBoot], Iterable[BisectAct], Circumstances],
    hands: int,
) -> dict[str, Any]:
    """What is left at a decision that rests on ``known``, as plain data. Its hours are those of the
    machine, with so many agents; of several machines or modes those from now to the end.
    """
    found = bisection.forecast(
        subjects_of(bisect, names, *known),
        trials=TRIALS_WHILE,
        simulated_from=bisection.TOLD_APART_FROM,
    )
    return _document(found) | {"hands": 1 if bisect.is_of_several else max(hands, 1)}


def _contradiction_of(
    bisect: Bisect, plan: bisection.Plan, boots: Iterable[bisection.Boot]
) -> Contradiction | None:
    """What the boots up to the good revision and from the bad one on show, where that is another
    step than the bisect's, in size or direction; None too where one side was not measured.
    """
    boots = list(boots)
    before = [one for one in boots if one.index <= 0]
    after = [one for one in boots if one.index >= bisect.last_index]
    if not before or not after:
        return None
    (low, low_error), (high, high_error) = _level(before, plan.noise), _level(after, plan.noise)
    step, clear = high - low, CLEAR_ERRORS * sqrt(low_error + high_error)
    if abs(step - plan.effect) <= clear + SLACK * abs(plan.effect):
        return None
    found = 100 * expm1(step / 100)
    if abs(step) <= clear:
        return Contradiction(_none(bisect, found), None)
    if step * plan.effect < 0:
        mirrored = abs(step + plan.effect) <= clear + SLACK * abs(plan.effect)
        return Contradiction(_opposite(bisect, found), -bisect.effect_pct if mirrored else found)
    return Contradiction(
        f"{_moved(bisect, found)}: a search for {percent(bisect.effect_pct)} % would end as not "
        "reproduced.",
        found,
    )


def _document(found: bisection.Forecast) -> dict[str, Any]:
    return asdict(found) | {
        "outcomes": {kind.value: share for kind, share in found.outcomes.items()}
    }


def _sentence(found: bisection.Forecast) -> str:
    ends = ", ".join(
        f"{share:.0%} end {ENDINGS[kind.value]}".replace("%", " %")
        for kind, share in found.outcomes.items()
        if share >= LEAST_SHARE
    )
    return f"{_how_long(found)} Of {found.trials} simulated bisects, {ends}."


def _how_long(found: bisection.Forecast) -> str:
    if found.shows_two and found.one and found.several:
        rare = chance_text(found.several_chance)
        return (
            f"About {_way(found.one)} if one commit is guilty; about {_way(found.several)} if "
            f"several are, which has a chance of {rare} before anything is measured."
        )
    return (
        f"About {boots_text(round(found.boots_median))}, {hours_text(found.hours_median)}; "
        f"90 % of the time at most {boots_text(round(found.boots_p90))}."
    )


def _way(way: bisection.Way) -> str:
    """``20 boots, 6 h 40 (90 % within 35 boots, 11 h 40)``."""
    usual, most = boots_text(round(way.boots_median)), boots_text(round(way.boots_p90))
    hours, longest = hours_text(way.hours_median), hours_text(way.hours_p90)
    return f"{usual}, {hours} (90 % within {most}, {longest}),"


def _warning(plan: bisection.Plan) -> str:
    if plan.noise.build < HOPELESS_SHARE * abs(plan.effect):
        return ""
    helps = "the lab can build again, which it will" if plan.can_rebuild else "builds are repeated"
    return (
        f"Builds of this series scatter by {plan.noise.build:.2g} %, which is half the step or "
        "more: measuring a commit and its parent cannot distinguish the step from the luck of "
        "two builds. "
        f"The answer will be a range unless {helps}."
    )


def _level(boots: Iterable[bisection.Boot], noise: bisection.Noise) -> tuple[float, float]:
    """The mean of the revisions of one side, and its variance."""
    of_index: dict[int, list[bisection.Boot]] = {}
    for one in boots:
        of_index.setdefault(one.index, []).append(one)
    means = [fmean(one.value for one in its) for its in of_index.values()]
    variances = [
        noise.build**2 + fmean(noise.boot_variance(one.runs) for one in its) / len(its)
        for its in of_index.values()
    ]
    return fmean(means), sum(variances) / len(variances) ** 2


def _none(bisect: Bisect, found: float) -> str:
    return (
        f"The boots before {bisect.good} and those after {bisect.bad} differ by {percent(found)} "
        f"%, which is within their noise: a search for {percent(bisect.effect_pct)} % would end as "
        "not reproduced."
    )


def _opposite(bisect: Bisect, found: float) -> str:
    is_loss = (found < 0) == (bisect.series.better == "more")
    lost, asked = ("lost", "gain") if is_loss else ("gained", "loss")
    return (
        f"The series {lost}; you asked for a {asked}. {_moved(bisect, found)}, so a search for "
        f"{percent(bisect.effect_pct)} % would end as not reproduced."
    )


def _moved(bisect: Bisect, found: float) -> str:
    """``From r1000 to r1016 pps changed by −2.0 %``."""
    return (
        f"From {bisect.good} to {bisect.bad} {bisect.series.metric} changed by {percent(found)} %"
    )
