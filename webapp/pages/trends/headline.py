"""The sentences above a trend chart: what changed last, and what is shown."""

from collections.abc import Sequence

from webapp.charts.cost_text import cost_moved
from webapp.charts.text import half_width
from webapp.charts.trend import Found, Trend, TrendSeries

NAMED = 3
"""Series that a headline names."""


def headline(trend: Trend) -> str:
    """The last proven change, with its figure and its place; that there is none where there is."""
    count = len(trend.series)
    if not count:
        return "Nothing to draw"
    changes = [(one, found) for one in trend.series for found in one.found if found.is_confirmed]
    changes = changes or [
        (one, found) for one in trend.costs for found in one.found if found.is_confirmed
    ]
    if not changes:
        return f"No proven change in {count} series" if count > 1 else "No proven change"
    last = max(found.index for _, found in changes)
    here = [(one, found) for one, found in changes if found.index == last]
    revision = trend.revisions.names[last]
    if len(here) == 1:
        return f"{_changed(trend, *here[0])} at {revision}"
    sides = [
        _side(trend, here, verdict="worse", one="loses", some="lose"),
        _side(trend, here, verdict="better", one="gains", some="gain"),
    ]
    return f"{len(here)} series changed at {revision}: {', '.join(filter(None, sides))}"


def _changed(trend: Trend, series: TrendSeries, found: Found) -> str:
    """``pf lost 11.4 %``; ``cost of VIMAGE in pf rose from 1.2 to 3.7 %``."""
    if series.is_cost:
        return f"The {series.mode} {cost_moved(found.before, found.since, series.better)}"
    return f"{trend.short_name(series)} {_size(found)}"


def _size(found: Found) -> str:
    verb = "lost" if found.verdict == "worse" else "gained"
    return f"{verb} {half_width(abs(found.percent))} %" if found.percent is not None else verb


def _side(
    trend: Trend,
    here: Sequence[tuple[TrendSeries, Found]],
    *,
    verdict: str,
    one: str,
    some: str,
) -> str:
    names = [trend.short_name(series) for series, found in here if found.verdict == verdict]
    if len(names) > NAMED:
        return f"{len(names)} {some}"
    return f"{' and '.join(names)} {one if len(names) == 1 else some}" if names else ""


def subject(trend: Trend) -> str:
    """Machine and mode, for the title of the window."""
    machines = {one.hardware for one in trend.series}
    modes = {one.mode for one in trend.series}
    machine = next(iter(machines)) if len(machines) == 1 else f"{len(machines)} machines"
    mode = next(iter(modes)) if len(modes) == 1 else f"{len(modes)} modes"
    return f"{mode}, {machine}" if trend.series else ""
