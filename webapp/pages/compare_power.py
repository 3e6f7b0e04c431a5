"""What it would take to prove a small change between two sets, as a sentence."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import inf, sqrt
from statistics import fmean, variance

from webapp.charts.text import half_width
from webapp.regressions.compare import ComparedSet
from webapp.stats.compare import Comparison, Level
from webapp.stats.power import NoiseLevels, Plan, Requirement, plan_for

TARGET_PERCENT = 1.0
MOST = Plan(builds=10, boots=20, runs=1)
"""More than anybody would measure for one comparison."""


def power_line(base: ComparedSet, other: ComparedSet, judged: Comparison) -> str:
    """How many builds and boots a side would prove 1 % in 80 of 100 cases; empty without scatter.

    The scatter is that of the units the comparison rests on; between builds it is the history's.
    """
    unit = judged.change.unit
    scatter = _scatter([_units(one, unit) for one in (base, other)])
    if scatter is None:
        return ""
    needed = plan_for(TARGET_PERCENT, _noise(scatter, judged), most=MOST)
    counted = "" if _knows_builds(judged) else ", not counting the noise between builds"
    return f"To prove {TARGET_PERCENT:g} % here in 80 of 100 cases{counted}: {_need(needed, unit)}."


def _need(needed: Requirement, unit: Level) -> str:
    word = "runs" if unit == Level.RUN else "boots"
    if needed.plan is None:
        provable = f"only {half_width(needed.provable)} %" if needed.provable else "nothing"
        return f"{MOST.builds} builds of {MOST.boots} {word} a side would prove {provable}"
    builds, boots = needed.plan.builds, needed.plan.boots
    if builds == 1:
        return f"{boots} {word} a side"
    return f"{builds} builds a side, {boots} {word if boots > 1 else word[:-1]} of each"


def _noise(scatter: float, judged: Comparison) -> NoiseLevels:
    if judged.change.unit == Level.BUILD:
        return NoiseLevels(run=0.0, build=scatter)
    history = judged.change.history
    if history is None:
        return NoiseLevels(run=0.0, boot=scatter)
    return NoiseLevels(run=0.0, boot=scatter, build=history.percent, build_df=history.df)


def _knows_builds(judged: Comparison) -> bool:
    return judged.change.unit == Level.BUILD or judged.change.history is not None


def _units(one: ComparedSet, unit: Level) -> list[float]:
    """The mean of each unit of the comparison."""
    of_unit: dict[Hashable, list[float]] = defaultdict(list)
    keys: Sequence[Hashable] = range(len(one.samples))
    if unit == Level.BUILD:
        keys = one.builds
    elif unit == Level.BOOT and one.boots is not None:
        keys = one.boots
    for key, value in zip(keys, one.samples, strict=True):
        of_unit[key].append(value)
    return [fmean(values) for values in of_unit.values()]


def _scatter(sides: Sequence[Sequence[float]]) -> float | None:
    """Pooled standard deviation of units in percent of their means; None when there is none."""
    usable = [side for side in sides if len(side) > 1 and fmean(side) > 0]
    freedom = sum(len(side) - 1 for side in usable)
    if not freedom:
        return None
    squares = sum(variance(side) * (len(side) - 1) / fmean(side) ** 2 for side in usable)
    scatter = 100 * sqrt(squares / freedom)
    return scatter if 0 < scatter < inf else None
