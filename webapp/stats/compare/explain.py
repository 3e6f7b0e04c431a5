"""Why a comparison came out as it did, in one sentence with the figures."""

from math import inf

from webapp.stats.compare.comparing import MORE_BUILDS, Comparison, Rule
from webapp.stats.compare.levels import Level
from webapp.stats.compare.relative import Change
from webapp.stats.compare.significance import critical_t, smallest_p
from webapp.stats.metrics import worth_telling

LEAST_PRICE = 1.1
"""Student's t over the normal quantile from which on a sentence mentions it: 26 degrees of freedom.
"""

_PLURAL = {Level.RUN: "runs", Level.BOOT: "boots", Level.BUILD: "builds"}


def explain(comparison: Comparison) -> str:
    """One sentence: the verdict, the rule that gave it and the numbers that went into it.

    Changes are B relative to A in percent; "more" and "less" refer to the metric's value.
    """
    reasons = {
        Rule.RUNS_DISAGREE: _runs_disagree,
        Rule.NO_INTERVAL: _no_interval,
        Rule.INSIDE_MARGIN: _inside_margin,
        Rule.BUILDS_DIFFER: _builds_differ,
        Rule.EXCLUDES_ZERO: _excludes_zero,
        Rule.INCLUDES_ZERO: _includes_zero,
    }
    verdict = comparison.verdict.value.capitalize()
    if comparison.negligible:
        verdict += " (different, but negligible)"
    return f"{verdict}: {reasons[comparison.rule](comparison)}{_caveat(comparison.change)}."


def _runs_disagree(comparison: Comparison) -> str:
    return (
        "runs of one and the same revision differ by more than their noise, and their mean "
        f"({_size(comparison.change)}) means nothing until one of them is withdrawn or somebody "
        "decides that they count together"
    )


def _no_interval(comparison: Comparison) -> str:
    change = comparison.change
    if min(change.units) == 1:
        return f"{_units(change)} leave a side without scatter to judge {_size(change)} by"
    needed = smallest_p(*change.units)
    return (
        f"no scatter at all in {_units(change)} to judge {_size(change)} by, and ranks alone "
        f"cannot reach {comparison.confidence:g} % (smallest possible p = {needed:.2g})"
    )


def _inside_margin(comparison: Comparison) -> str:
    change = comparison.change
    return (
        f"{_size(change)}, and the whole {_interval(comparison)} lies within "
        f"±{comparison.margin:g} %; {_basis(comparison)}"
    )


def _builds_differ(comparison: Comparison) -> str:
    return (
        f"runs of these builds differ ({_size(comparison.change)}), but builds of equal code do "
        f"too, and with their scatter the {_interval(comparison)} includes 0: {MORE_BUILDS} more "
        f"builds a side would settle it; {_basis(comparison)}"
    )


def _excludes_zero(comparison: Comparison) -> str:
    change = comparison.change
    if change.low is None:
        sign = "more" if change.proven > 0 else "less"
        return (
            f"{sign} than A at {comparison.confidence:g} % confidence, but A's mean is not clearly "
            f"different from zero, so there is no percentage; {_basis(comparison)}"
        )
    return f"{_size(change)}, and the {_interval(comparison)} excludes 0; {_basis(comparison)}"


def _includes_zero(comparison: Comparison) -> str:
    change = comparison.change
    percent = worth_telling(change.visible)
    visible = (
        ""
        if percent is None
        else f"; the smallest change seen four times in five is {_figure(percent)} %"
    )
    if change.low is None:
        return f"the difference is not proven and has no percentage{visible}; {_basis(comparison)}"
    return (
        f"{_size(change)}, but the {_interval(comparison)} includes 0 and is not within "
        f"±{comparison.margin:g} %{visible}; {_basis(comparison)}"
    )


def _basis(comparison: Comparison) -> str:
    change = comparison.change
    if comparison.belief is not None:
        belief = comparison.belief
        whose = ", as on this machine" if belief.of_machine else ""
        return (
            f"one build a side, {_units(change)}, builds believed to scatter by "
            f"{belief.median_pct:.2g} %{whose}"
        )
    if change.df is None:
        return f"{_units(change)} without any scatter, enough for ranks alone{_counts(change)}"
    scale = "logarithms" if change.scale == "log" else "means, Fieller's limits"
    noise = ""
    if change.history is not None:
        noise = f" and {_figure(change.history.percent)} % between builds from the history"
    test = f"{change.test}'s t on {scale} with {change.df:.1f} degrees of freedom"
    return f"{_units(change)}{noise}, {test}{_price(comparison)}{_counts(change)}"


def _counts(change: Change) -> str:
    return (
        "" if change.counts is None else f", and for counts the exact test: p = {change.counts:.2g}"
    )


def _price(comparison: Comparison) -> str:
    """What an inexact noise of the history costs, where that is a tenth."""
    change, confidence = comparison.change, comparison.confidence
    if change.history is None or change.df is None:
        return ""
    price = critical_t(change.df, confidence) / critical_t(inf, confidence)
    if price < LEAST_PRICE:
        return ""
    return f" (an interval {price:.1f} times as wide as with noise known exactly)"


def _caveat(change: Change) -> str:
    if not change.uncounted:
        return ""
    levels = " and ".join(_PLURAL[level] for level in change.uncounted)
    return f"; the noise between {levels} is not known and not counted"


def _units(change: Change) -> str:
    first, second = change.units
    return f"{first} against {second} {_PLURAL[change.unit]}"


def _size(change: Change) -> str:
    if change.percent is None:
        return "the change"
    if change.percent == 0:
        return "no change"
    return f"{_figure(abs(change.percent))} % {'more' if change.percent > 0 else 'less'}"


def _interval(comparison: Comparison) -> str:
    low, high = comparison.change.low, comparison.change.high
    if low is None or high is None:
        return "interval"
    return f"{comparison.confidence:g} % interval from {_signed(low)} to {_signed(high)} %"


def _figure(percent: float) -> str:
    """Three figures, without the exponent that ``g`` gives to large ones."""
    return f"{percent:.0f}" if 100 <= percent < 1e6 else f"{percent:.3g}"


def _signed(percent: float) -> str:
    return ("−" if percent < 0 else "+") + _figure(abs(percent))
