"""The verdict of a comparison in a few words, for the page and its reports."""

from webapp.analysis.queries import BUILDS_DIFFER, ONE_BUILD, RUNS_DISAGREE
from webapp.charts.text import direction, half_width
from webapp.stats.compare import MORE_BUILDS, Comparison, Verdict
from webapp.stats.limits import worth_telling


def compared_sentence(comparison: Comparison, *, better: str, unit: str) -> str:
    """``11.4 % slower``, ``equivalent``, ``cannot tell; would see 3.1 %``, ``builds differ``."""
    change = comparison.change
    if comparison.verdict == Verdict.CANNOT_TELL:
        return _cannot_tell(comparison)
    if comparison.verdict == Verdict.EQUIVALENT:
        return "different, but negligible" if comparison.negligible else "equivalent"
    if change.percent is None:
        return f"{comparison.verdict.value}, without a percentage"
    way = direction(percent=change.percent, better=better, unit=unit)
    single = f", {ONE_BUILD}" if comparison.one_build else ""
    return f"{half_width(abs(change.percent))} % {way}{single}"


def _cannot_tell(comparison: Comparison) -> str:
    visible = worth_telling(comparison.change.visible)
    if comparison.runs_disagree:
        return f"{RUNS_DISAGREE} runs of one revision disagree"
    if comparison.builds_differ:
        return f"{BUILDS_DIFFER}; {MORE_BUILDS} more builds a side would settle it"
    return "cannot tell" if visible is None else f"cannot tell; would see {half_width(visible)} %"
