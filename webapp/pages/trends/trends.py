"""`/trends/`: the chart of several series along one tree, with the sentences above (what changed
last, and what is shown) and the list of what the chart shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import takewhile
from math import inf

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import is_triager
from webapp.analysis.queries import trend_link
from webapp.charts.text import cost_moved, half_width, today_sentence
from webapp.charts.trend import (
    NARROW,
    Axis,
    Found,
    Split,
    Trend,
    TrendSeries,
    Values,
    Whiskers,
    draw,
    legend,
)
from webapp.charts.trend import figure as figure_of
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.figures import WITH_PLOTLY, as_json
from webapp.pages.trends import data as trend_data
from webapp.pages.trends.data import Loaded, Selection
from webapp.pages.trends.offer import NotOffered
from webapp.pages.trends.query import MOST_LAST, TrendQuery
from webapp.pages.trends.rows import change_rows, newest_points, series_rows, text_rows
from webapp.stats.metrics import least_of

PERIODS = (("last month", 31), ("quarter", 92), ("year", 366))
"""Days of each."""

ORDERS = {
    "": "as chosen",
    "name": "by name",
    "value": "by value",
    "level": "by level",
    "change": "by change",
    "detects": "by what they detect",
}
"""Of the list of series, by the address."""

CHOICES = (
    (
        "split",
        "Lanes",
        (
            (Split.SCALE, "By scale"),
            (Split.ONE, "One chart"),
            (Split.MODE, "By mode"),
            (Split.HARDWARE, "By hardware"),
        ),
    ),
    ("y", "Values", ((Values.RAW, "Values"), (Values.INDEXED, "% of first"))),
    ("x", "Along", ((Axis.COMMIT, "Commits"), (Axis.TIME, "Time"))),
)
WHISKERS = (
    (Whiskers.CONFIDENCE, "95 %"),
    (Whiskers.RANGE, "min to max"),
    (Whiskers.NONE, "left out"),
)


SHOWN: Cache[dict[str, object]] = Cache(most=32, seconds=60.0)
"""Drawn explorers. What an operator renames may show late here, by a minute at most."""

NAMED = 3
"""Series that a headline names."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """What an option costs: ``since`` which revision, how it ``moved``; empty: it never did."""

    series: TrendSeries
    href: str
    since: str
    moved: str
    change: Found | None


@csp_update(WITH_PLOTLY)
@require_safe
@vary_on_headers("HX-Request")
def page(request: HttpRequest) -> HttpResponse:
    """The chart that the query asks for; 404 and the nearest names for what is not measured."""
    query = TrendQuery.parse(request.GET)
    try:
        selection = trend_data.select(query)
    except NotOffered as error:
        context = {"query": query, "unknown": [error.unknown]}
        return render(request, "pages/trends/trends.html", context, status=404)
    if selection is None:
        return render(request, "pages/trends/trends.html", {"query": query})
    can_ask = is_triager(request.user)
    here = request.get_full_path() if can_ask else ""
    found = trend_data.known(selection)
    shown = SHOWN.get(
        (trend_data.key_of(selection, found), here),
        lambda: _shown(selection, trend_data.load(selection, found), here),
    )
    fragment = request.headers.get("HX-Request") == "true"
    template = "pages/trends/_explorer.html" if fragment else "pages/trends/trends.html"
    return render(request, template, _chosen(selection) | shown)


def _chosen(selection: Selection) -> dict[str, object]:
    """What the choice of series needs, whatever they show."""
    return {
        "query": selection.query,
        "selection": selection,
        "trees": selection.trees,
        "choices": _choices(selection.query),
        "whiskers": WHISKERS,
    }


def _shown(selection: Selection, loaded: Loaded, here: str) -> dict[str, object]:
    """The explorer with all that hangs on it as HTML, and what stands above it. ``here`` is the
    address of the page where its reader may ask for jobs, else empty.
    """
    trend = loaded.trend
    drawable = is_drawable(trend)
    order = selection.query.beside("sort")
    # Of the past no summary is kept.
    too_few = 0 if selection.query.asof else too_few_known(trend)
    above = {
        "headline": headline(trend, too_few=too_few),
        "todays": todays(trend),
        "won_back": not selection.query.asof and any(one.found for one in trend.series),
        "subject": subject(trend),
        "has_series": bool(trend.series),
    }
    context = {
        "query": selection.query,
        "selection": selection,
        "trend": trend,
        "unknown": selection.unknown,
        "drawable": drawable,
        "by_commit": selection.query.link(axis=Axis.COMMIT),
        **(_drawn(trend) if drawable else {}),
        "legend": legend(),
        "ranges": _ranges(selection.query, trend),
        "changes": change_rows(trend),
        "too_few": too_few,
        "rows": series_rows(trend, order, names_machine=len(selection.query.hardware) != 1),
        "orders": ORDERS,
        "order": order,
        "texts": text_rows(trend, loaded.conclusions),
        "costs": _costs(selection, trend),
        "points": newest_points(trend, here),
        "undated": sum(time is None for time in trend.revisions.times),
        "simulated": any(series.simulated for series in trend.series),
        "left_out": selection.matching - len(selection.series),
        "can_ask": bool(here),
        "here": here,
    }
    return above | {"explorer": render_to_string("pages/trends/_body.html", context)}


def _drawn(trend: Trend) -> dict[str, object]:
    """The chart wide and narrow, and the figure that the wide one shows, for the script."""
    described = f"{trend.y_title} by revision of {trend.tree}"
    wide, narrow = figure_of(trend), figure_of(trend, NARROW)
    return {
        "image": draw(wide, described=described),
        "narrow": draw(narrow, described=described),
        "figure": as_json(wide),
    }


def _ranges(query: TrendQuery, trend: Trend) -> list[tuple[str, str, bool]]:
    """Name and address of each usual range, and whether it is the one shown: so many revisions, and
    along the time the last month, quarter and year.
    """
    free = replace(query, start="", end="", view="", heights=())
    shown = 0 if query.view or query.start or query.end else query.last
    found = [
        (name, free.link(last=last), shown == last)
        for name, last in (("last 50", 50), ("last 200", 200), ("all", MOST_LAST))
    ]
    dated = [time for time in trend.revisions.times if time is not None]
    if trend.axis != Axis.TIME or not dated:
        return found
    newest = datetime.fromtimestamp(max(dated) / 1000, UTC).toordinal()
    for title, days in PERIODS:
        start = date.fromordinal(max(newest - days, 1)).isoformat()
        found.append((title, free.link(start=start), not query.view and query.start == start))
    return found


def _costs(selection: Selection, trend: Trend) -> list[CostLine]:
    """What each option costs, with its last change and the address of its own chart."""
    links = {one.pk: trend_link(one) for one in selection.costs}
    lines = []
    for one in trend.costs:
        change = one.last_change
        since = trend.revisions.names[change.index] if change else ""
        moved = cost_moved(change.before, change.since, one.better) if change else ""
        lines.append(CostLine(one, links[one.id], since, moved, change))
    return lines


def _choices(query: TrendQuery) -> list[tuple[str, str, Sequence[tuple[str, str]], str]]:
    """Name, title, values and the chosen value of each group of buttons."""
    chosen = {"split": query.split, "y": query.values, "x": query.axis}
    return [(name, title, values, chosen[name]) for name, title, values in CHOICES]


def is_drawable(trend: Trend) -> bool:
    """Whether any point can be drawn on the axis."""
    has_times = any(time is not None for time in trend.revisions.times)
    return bool(trend.series) and (trend.axis == Axis.COMMIT or has_times)


def too_few_known(trend: Trend) -> int:
    """Of how many series so little is known that no change could be proven."""
    return sum(not one.detects for one in trend.series)


def headline(trend: Trend, *, too_few: int) -> str:
    """The last proven change, with its figure and its place, else what moved slowly; that there is
    none, and of how many series, ``too_few``, too little is known to prove one.
    """
    count = len(trend.series)
    if not count:
        return "Nothing to draw"
    changes = [(one, found) for one in trend.series for found in one.found if found.is_confirmed]
    changes = changes or [
        (one, found) for one in trend.costs for found in one.found if found.is_confirmed
    ]
    failed = _failed(trend)
    if failed or not changes:
        return failed or _slowly(trend) or _unproven(trend, too_few)
    last = max(found.index for _, found in changes)
    here = [(one, found) for one, found in changes if found.index == last]
    place = _began(here, trend.revisions.names[last])
    plain = [each for each in here if not each[0].is_cost]
    if not plain:
        return f"{'; '.join(_cost(*each) for each in here[:NAMED])} {place}"
    lost = _side(trend, plain, verdict="worse", verb="lost")
    gained = _side(trend, plain, verdict="better", verb="gained")
    both = f"{lost}; {gained}" if lost and gained else lost or gained
    return f"{both} {place}"


def _began(here: Sequence[tuple[TrendSeries, Found]], revision: str) -> str:
    """``at r303643``; where the clearest leaves more places, ``after r357751, at the latest in
    r357934``.
    """
    _, clearest = min(here, key=lambda each: each[1].last - each[1].after)
    if clearest.last - clearest.after <= 1:
        return f"at {revision}"
    return "after {}, at the latest in {}".format(*clearest.suspects)


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
        Today(one, f"{trend.short_name(one)}: {text}" if named else (text[:1].upper() + text[1:]))
        for one in lost[:NAMED]
        for text in (_today(one, trend.unit),)
    ]


def _today(one: TrendSeries, unit: str) -> str:
    """``today 13.0 % slower […] than before r357934``."""
    stands = one.stands or {}
    least = 0.0 if one.is_cost else least_of(unit)
    return today_sentence(stands, better=one.better, unit=unit, is_cost=one.is_cost, least=least)


def _failed(trend: Trend) -> str:
    """``forwarding measured 0 from r303070 on``; empty where the newest revision has more.

    That is so from the first on, whether it is a change yet or not.
    """
    if trend.better != "more" or least_of(trend.unit):
        return ""
    begun: dict[str, list[str]] = {}
    for one in trend.series:
        failed = len(list(takewhile(lambda mean: mean <= 0, reversed(one.centres))))
        if 0 < failed < len(one.centres):
            since = trend.revisions.names[one.indices[-failed]]
            begun.setdefault(since, []).append(trend.short_name(one))
    return "; ".join(f"{_subject(names)} measured 0 from {at} on" for at, names in begun.items())


def _slowly(trend: Trend) -> str:
    """``forwarding lost 14.9 % by and by``; empty where no slow change is proven."""
    moves = [
        (one, found)
        for one in trend.series
        for found in one.marks
        if found.kind == "slow" and found.is_confirmed
    ]
    lost = _side(trend, moves, verdict="worse", verb="lost")
    gained = _side(trend, moves, verdict="better", verb="gained")
    return "; ".join(f"{one} by and by" for one in (lost, gained) if one)


def _unproven(trend: Trend, too_few: int) -> str:
    """Of the revisions shown: what stands lost today may have begun before them."""
    count, revisions = len(trend.series), len(trend.revisions.names)
    if too_few == count:
        return "Too little known to prove a change"
    shown = f"these {revisions} revisions" if revisions > 1 else "this revision"
    text = f"No proven change in {shown}{f' of {count} series' if count > 1 else ''}"
    return f"{text}; of {too_few} too little is known to prove one" if too_few else text


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
    subject = _subject([trend.short_name(series) for series, _ in found])
    sizes = sorted(abs(one.percent) for _, one in found if one.percent is not None)
    if len(sizes) < len(found):  # one is beyond all figures
        return f"{subject} {verb}"
    ends = list(dict.fromkeys([half_width(sizes[0]), half_width(sizes[-1])]))
    return f"{subject} {verb} {' to '.join(ends)} %"


def _subject(names: Sequence[str]) -> str:
    return _listed_text(names) if len(names) <= NAMED else f"{len(names)} series"


def _listed_text(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def subject(trend: Trend) -> str:
    """Machine and mode, for the title of the window."""
    machines = {one.hardware: one.machine for one in trend.series}
    modes = {one.mode for one in trend.series}
    machine = next(iter(machines.values())) if len(machines) == 1 else f"{len(machines)} machines"
    mode = next(iter(modes)) if len(modes) == 1 else f"{len(modes)} modes"
    return f"{mode}, {machine}" if trend.series else ""
