"""What it would take to prove a small change between two sets, as a sentence."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, sqrt
from statistics import fmean, variance
from typing import Any

from webapp.alerts.queries import MinEffects
from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.queries import ComparedSet, build_noise_of
from webapp.charts.text import half_width
from webapp.results.models import Series
from webapp.stats.compare import Comparison, Level
from webapp.stats.limits import is_sample, worth_telling
from webapp.stats.power import NoiseLevels, Plan, Requirement, plan_for

TARGET_PERCENT = 1.0
A_FEW, MOST_ASKED = 5, 50
"""Boots asked for where nothing is known of the scatter, and of one job at most."""

MOST = Plan(builds=10, boots=20, runs=1)
MOST_OF_ONE_KIND = Plan(builds=1, boots=200, runs=1)
"""More than anybody would measure for one comparison. The second is for sides that hold several
builds, each a unit that carries all its noise, and for those where nothing is known of the noise
between builds, so that nothing can be said of what more builds would bring.
"""


def power_line(base: ComparedSet, other: ComparedSet, judged: Comparison) -> str:
    """How many builds and boots a side would prove 1 % in 80 of 100 cases; empty without scatter.

    The scatter is that of the units the comparison rests on; between builds it is the history's.
    """
    unit, history = judged.change.unit, judged.change.history
    found = _needed(base, other, judged)
    if found is None:
        return ""
    needed, most = found
    is_counted = history is not None or unit == Level.BUILD
    counted = "" if is_counted else ", not counting the noise between builds"
    aim = f"To prove {TARGET_PERCENT:g} % here in 80 of 100 cases{counted}"
    if needed.plan is not None:
        return f"{aim}: {planned(needed, unit)}."
    most_told = worth_telling(needed.provable)
    provable = f"only {half_width(most_told)} %" if most_told else "nothing"
    return f"{aim}: not by {measured(most, unit)}, which would prove {provable}."


def planned(needed: Requirement, unit: Level) -> str:
    """A plan in words, as a range where the scatter is an estimate."""
    least, most = needed.least, needed.plan
    if least is None or most is None:
        return ""
    if least == most:
        return measured(most, unit)
    same = least.builds == most.builds
    text = measured(most, unit, least if same else None)
    if not same:
        text = f"{measured(least, unit)}, to {text}"
    return f"{text}, by the lower and the upper 80 % bound of the scatter"


def boots_to_ask_for(base: ComparedSet, other: ComparedSet, judged: Comparison) -> int:
    """How many boots of one side to ask for next: what the plan has in a build, else a few."""
    found = _needed(base, other, judged)
    plan = found[0].plan if found else None
    return A_FEW if plan is None else min(max(plan.boots, 1), MOST_ASKED)


def _needed(
    base: ComparedSet, other: ComparedSet, judged: Comparison
) -> tuple[Requirement, Plan] | None:
    """What would prove `TARGET_PERCENT`, and the most that was looked at; None without scatter."""
    unit, history = judged.change.unit, judged.change.history
    scatter = _scatter([_units(one, unit) for one in (base, other)])
    if scatter is None:
        return None
    noise, most = NoiseLevels(run=0.0, boot=scatter.percent, df=scatter.df), MOST_OF_ONE_KIND
    if history is not None:
        noise, most = replace(noise, build=history.percent, build_df=history.df), MOST
    return plan_for(TARGET_PERCENT, noise, most=most), most


def measured(plan: Plan, unit: Level, least: Plan | None = None) -> str:
    """A plan in words; with ``least``, of as many builds, as a range from that one on."""
    boots = f"{plan.boots}" if least is None else f"{least.boots} to {plan.boots}"
    units = f"{boots} {unit.value}{'' if plan.boots == 1 else 's'}"
    if plan.builds == 1:
        return f"{units} a side"
    return f"{plan.builds} builds a side, {units} of each"


def _units(one: ComparedSet, unit: Level) -> list[float]:
    """The mean of each unit of the comparison."""
    of_unit: dict[Hashable, list[float]] = defaultdict(list)
    keys: Sequence[Hashable] = range(len(one.samples))
    if unit == Level.BUILD:
        keys = one.levels.build_codes
    elif unit == Level.BOOT and one.levels.boot_codes is not None:
        keys = one.levels.boot_codes
    for key, value in zip(keys, one.samples, strict=True):
        of_unit[key].append(value)
    return [fmean(values) for values in of_unit.values()]


@dataclass(frozen=True, slots=True)
class _Scatter:
    """Pooled standard deviation of units in percent of their means, and its degrees of freedom."""

    percent: float
    df: int


def _scatter(sides: Sequence[Sequence[float]]) -> _Scatter | None:
    """None when there is none.

    What was stored before samples had bounds is left out: its squares leave the range of a double.
    """
    bounded = [side for side in sides if len(side) > 1 and all(map(is_sample, side))]
    usable = [side for side in bounded if fmean(side) > 0]
    freedom = sum(len(side) - 1 for side in usable)
    if not freedom:
        return None
    squares = sum(variance(side) * (len(side) - 1) / fmean(side) ** 2 for side in usable)
    scatter = 100 * sqrt(squares / freedom)
    return _Scatter(scatter, freedom) if 0 < scatter < inf else None


@dataclass(frozen=True, slots=True)
class BootsPlan:
    """``boots`` of one build to ask for, and in ``text`` what they are enough for.

    ``knows_builds``: the history of the series tells how builds scatter.
    """

    boots: int
    text: str
    knows_builds: bool


def boots_plan(series: Series) -> BootsPlan:
    """What would prove the smallest effect worth an alert of ``series``: three queries.

    Where nothing is known of the scatter, or no plan proves it, a few are proposed.
    """
    analysis = SeriesAnalysis.objects.filter(series=series).values_list("summary", flat=True)
    summary: dict[str, Any] = analysis.first() or {}
    least = MinEffects.of([series.pk], tree=series.tree_id).for_series(series).percent
    aim = f"a change of {half_width(least)} %, the smallest worth an alert here"
    noise, knows_builds = _noise(summary), build_noise_of(summary) is not None
    if noise is None:
        text = "How much this series scatters is not known yet: a few boots are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    most = MOST if noise.build else MOST_OF_ONE_KIND
    needed = plan_for(least, noise, most=most)
    if needed.plan is None:
        text = f"Not even {measured(most, Level.BOOT)} would prove {aim}: a few are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    several = "; a job measures one build" if needed.plan.builds > 1 else ""
    text = f"To prove {aim}, in 80 of 100 cases: {planned(needed, Level.BOOT)}{several}."
    return BootsPlan(min(needed.plan.boots, MOST_ASKED), text, knows_builds)


def _noise(summary: dict[str, Any]) -> NoiseLevels | None:
    """Of boots with one run each, as jobs have them; None where the data does not tell it."""
    noise = summary.get("noise") or {}
    run, boot, within = (noise.get(f"{name}_pct") for name in ("run", "boot", "within"))
    scatter = within if run is None or boot is None else hypot(run, boot)
    if not scatter:
        return None
    # What was analysed before the freedom was stored has that of revisions, which is less.
    df = max(noise.get("within_freedom") or noise.get("freedom") or 1.0, 1.0)
    build = build_noise_of(summary)
    if build is None:
        return NoiseLevels(run=0.0, boot=scatter, df=df)
    return NoiseLevels(run=0.0, boot=scatter, df=df, build=build.percent, build_df=build.df)
