"""Whether the history shows another step than the one that a bisect is to search."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import expm1, sqrt
from statistics import fmean

from webapp.bisects.models import Bisect
from webapp.charts.text import percent
from webapp.stats import bisection

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


def contradiction_of(
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
