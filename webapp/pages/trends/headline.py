"""The sentences above a trend chart: what changed last, and what is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from webapp.charts.text import cost_moved, half_width
from webapp.charts.today import today_sentence
from webapp.charts.trend import Found, Trend, TrendSeries

NAMED = 3
"""Series that a headline names."""


def too_few_known(trend: Trend) -> int:
    """Of how many series so little is known that no change could be proven."""
    return sum(not one.detects for one in trend.series)


def headline(trend: Trend, *, too_few: int) -> str:
    """The last proven change, with its figure and its place; that there is none where there is, and
    of how many series ``too_few`` revisions are known to tell.
    """
    count = len(trend.series)
    if not count:
        return "Nothing to draw"
    changes = [(one, found) for one in trend.series for found in one.found if found.is_confirmed]
    changes = changes or [
        (one, found) for one in trend.costs for found in one.found if found.is_confirmed
    ]
    if not changes:
        return _unproven(count, too_few)
    last = max(found.index for _, found in changes)
    here = [(one, found) for one, found in changes if found.index == last]
    revision = trend.revisions.names[last]
    plain = [each for each in here if not each[0].is_cost]
    if not plain:
        return f"{'; '.join(_cost(*each) for each in here[:NAMED])} at {revision}"
    lost = _side(trend, plain, verdict="worse", verb="lost")
    gained = _side(trend, plain, verdict="better", verb="gained")
    both = f"{lost}; {gained}" if lost and gained else lost or gained
    return f"{both} at {revision}"


@dataclass(frozen=True, slots=True)
class Today:
    """What a series has lost today."""

    series: TrendSeries
    text: str


def todays(trend: Trend) -> list[Today]:
    """What stands lost today, the largest loss first, as many as a headline names."""
    lost = [one for one in (*trend.series, *trend.costs) if one.stands]
    lost.sort(key=lambda one: (one.is_cost, -abs((one.stands or {})["change_pct"] or inf)))
    named = len(trend.series) > 1 or bool(trend.costs)
    return [
        Today(one, f"{trend.short_name(one)}: {text}" if named else _capital(text))
        for one in lost[:NAMED]
        for text in (_today(one, trend.unit),)
    ]


def _today(one: TrendSeries, unit: str) -> str:
    """``today 13.0 % slower […] than before r357934``."""
    stands = one.stands or {}
    return today_sentence(stands, better=one.better, unit=unit, is_cost=one.is_cost)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unproven(count: int, too_few: int) -> str:
    if too_few == count:
        return "Too few revisions to tell of a change"
    said = f"No proven change in {count} series" if count > 1 else "No proven change"
    return f"{said}; of {too_few} too few revisions are known to tell" if too_few else said


def _cost(series: TrendSeries, found: Found) -> str:
    """``The cost of VIMAGE in pf rose from 1.2 to 3.7 %``."""
    return f"The {series.mode} {cost_moved(found.before, found.since, series.better)}"


def _side(
    trend: Trend, here: Sequence[tuple[TrendSeries, Found]], *, verdict: str, verb: str
) -> str:
    """``forwarding and pf lost 7.7 to 8.1 %``."""
    found = [(series, one) for series, one in here if one.verdict == verdict]
    if not found:
        return ""
    names = [trend.short_name(series) for series, _ in found]
    told = _listed(names) if len(names) <= NAMED else f"{len(names)} series"
    sizes = sorted(abs(one.percent) for _, one in found if one.percent is not None)
    if len(sizes) < len(found):  # one is beyond all figures
        return f"{told} {verb}"
    ends = list(dict.fromkeys([half_width(sizes[0]), half_width(sizes[-1])]))
    return f"{told} {verb} {' to '.join(ends)} %"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def subject(trend: Trend) -> str:
    """Machine and mode, for the title of the window."""
    machines = {one.hardware: one.machine for one in trend.series}
    modes = {one.mode for one in trend.series}
    machine = next(iter(machines.values())) if len(machines) == 1 else f"{len(machines)} machines"
    mode = next(iter(modes)) if len(modes) == 1 else f"{len(modes)} modes"
    return f"{mode}, {machine}" if trend.series else ""
