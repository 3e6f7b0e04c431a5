"""`/`: what got worse since I last looked? The page opens with an answer: one sentence with a
number and a place, and a second that states what else there is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.services import note_visit
from webapp.alerts.models import Alert
from webapp.alerts.queries import OpenLoss, counts, of_interest, open_losses
from webapp.analysis.models import Finding, SeriesAnalysis, Verdict
from webapp.analysis.services import FEWEST_REVISIONS
from webapp.bisects.queries import running_bisects
from webapp.charts.around import SHOWN
from webapp.charts.text import cost_moved, half_width, levels_moved, percent
from webapp.experiments.models import Experiment
from webapp.jobs.queries import SILENT_AFTER, Machine, machines
from webapp.labs.models import Agent
from webapp.pages.overview import losses as overview_losses
from webapp.pages.overview import strip as overview_timeline
from webapp.pages.overview import wall as overview_wall
from webapp.pages.overview.strip import Strip
from webapp.pages.overview.wall import FILTERS, REVISIONS_SHOWN, Chosen, Wall
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.pages.parts.components import age, counted
from webapp.pages.parts.links import agent_address
from webapp.pages.parts.summaries import CommitSummary, summarise
from webapp.results.models import Revision, Run, Series, Tree

TREES_SHOWN = 3
REGRESSIONS_SHOWN: Mapping[str, int] = {
    Finding.State.CONFIRMED: 12,
    Finding.State.ONE_BUILD: 6,
    Finding.State.CANDIDATE: 6,
}
TESTED_SHOWN = 15
RUNS_LOOKED_AT = 400
"""The revisions of the runs received last are those tested lately; an index finds these runs."""
LOSSES_SHOWN = 12
BISECTS_SHOWN = 20
DAYS = SILENT_AFTER.days
NEW_TO_STRANGERS = timedelta(hours=24)
WALLS: Cache[dict[str, object]] = Cache(most=6, seconds=60.0)
"""Drawn walls: most readers of a morning see the same. A revision may be renamed, a point be
computed anew from what an operator decided, or a series fall silent without a sign of it here: that
shows in a minute."""


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The first page: what is open, every series, what was tested, which machines report."""
    now = timezone.now()
    found = {one.id: one for one in machines(now=now, days=DAYS)}
    wall = overview_wall.every_series()
    if not wall.series and not any(one.has_runs for one in found.values()):
        return render(request, "pages/overview/first_steps.html", first_steps(request))
    since, since_text = _since(request, now)
    losses = open_losses(since=since, most=LOSSES_SHOWN, beside=SHOWN)
    bisects = running_bisects(BISECTS_SHOWN)
    by_alert = {one.alert: one for one in bisects}
    context = {
        "headline": headline_of(losses, wall, found, since_text=since_text),
        "strip": Strip(losses, found, bisects, now),
        "reports": _reports(found.values()),
        "losses": overview_losses.draw(losses, found, by_alert, most=LOSSES_SHOWN, now=now),
        "waiting": wall.waiting,
        "repeated": wall.repeated,
        "has_simulated": any(one.is_simulated for one in found.values()),
        **_wall(request, wall, found, now),
    }
    return render(request, "pages/overview/overview.html", context)


@require_safe
def progress(request: HttpRequest) -> HttpResponse:
    """How many series still wait to be analysed, and how far the repetition after an upgrade is:
    lines the overview reads again and again.
    """
    waiting, repeated = Series.objects.dirty().count(), SeriesAnalysis.objects.repeated()
    return render(request, "pages/overview/_news.html", {"waiting": waiting, "repeated": repeated})


def _since(request: HttpRequest, now: datetime) -> tuple[datetime, str]:
    """What opened after it is new, and the page's text for it."""
    user = request.user
    seen = note_visit(user=user, now=now) if isinstance(user, User) else None
    if seen is None:
        return now - NEW_TO_STRANGERS, "in the last day"
    return seen, f"since you looked {age(now - seen)} ago"


def _reports(found: Collection[Machine]) -> int:
    """How many reports were made of imported results; asked for as long as an import is news."""
    if not any(one.imported for one in found):
        return 0
    return Experiment.objects.about(state=Experiment.State.IMPORTED).count()


def _wall(
    request: HttpRequest, wall: Wall, found: Mapping[int, Machine], now: datetime
) -> dict[str, object]:
    asked = request.GET.get("show", "")
    show = asked if asked in FILTERS else FILTERS[0]
    wanted = request.GET.get("tree", "")
    tree = wanted if wanted in wall.trees else ""
    names = [(pk, one.name, *one.called, one.lab, one.is_simulated) for pk, one in found.items()]
    return {
        "show": show,
        "filters": FILTERS,
        "metric": next(iter(wall.metrics)) if len(wall.metrics) == 1 else None,
        "revisions_shown": REVISIONS_SHOWN,
        **WALLS.get(
            (wall.stamp, show, tree, fingerprint(names)),
            lambda: _drawn(wall, overview_wall.choose(wall.series, show, now), found, tree),
        ),
    }


def _drawn(
    wall: Wall, chosen: Chosen, found: Mapping[int, Machine], tree: str
) -> dict[str, object]:
    metrics = len(wall.metrics)
    tiles = overview_wall.tiles_of(wall, chosen.drawn)
    trees = overview_wall.lay_out(chosen, tiles, found)
    columns = overview_wall.columns_of(trees, metrics)
    main = overview_timeline.tree_of(trees, tree)
    return {
        "drawn_count": len(chosen.drawn),
        "counted": len(chosen.series) - len(chosen.drawn),
        "columns": columns,
        "trees": [
            overview_wall.draw(one, tiles, columns, metrics=metrics)
            for one in trees
            if not one.is_short
        ],
        "short_trees": overview_wall.draw_short(trees),
        "timeline": overview_timeline.draw(main, tiles) if main else None,
        "timeline_trees": overview_timeline.others(trees),
    }


@require_safe
def lately(request: HttpRequest) -> HttpResponse:
    """Commits where something got worse, proven or not, and those tested last."""
    # Commits (ids) that made something worse: confirmed, one build a side, candidates.
    worse = of_interest(Finding.objects.live(), or_alerted=True)
    regressions = worse.revisions_lately(Verdict.WORSE, REGRESSIONS_SHOWN)
    runs = Run.objects.placed().plain().lately(RUNS_LOOKED_AT).values_list("revision_id", flat=True)
    tested = list(dict.fromkeys(runs))[:TESTED_SHOWN]
    found = Revision.objects.select_related("tree").in_bulk([*regressions, *tested])
    context = {
        "regressions": _summaries(regressions, found),
        "tested": _summaries(tested, found),
    }
    return render(request, "pages/overview/lately.html", context)


def _summaries(ids: Sequence[int], found: Mapping[int, Revision]) -> list[CommitSummary]:
    return summarise([found[pk] for pk in ids])


@require_safe
def first_steps_progress(request: HttpRequest) -> HttpResponse:
    """The steps, read again and again; once something has arrived, the page is loaded anew."""
    if Run.objects.exists():
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "pages/overview/_first_steps.html", first_steps(request))


def first_steps(request: HttpRequest) -> dict[str, Any]:
    """Which of the steps are done: the history of trees, and agents that may upload."""
    agents = Agent.objects.order_by("-last_seen_at", "pk")
    return {"known": _known_trees(), "agent": agents.first(), "wheel": agent_address(request)}


def _known_trees() -> list[dict[str, Any]]:
    """Trees whose history was imported, how much of it, and the newest revision."""
    found = []
    for tree in Tree.objects.filter(revisions__isnull=False).distinct()[:TREES_SHOWN]:
        placed = Revision.objects.of_tree(tree).placed()
        newest = placed.order_by("-position").first()
        found.append({"tree": tree, "revisions": placed.count(), "newest": newest})
    return found


@dataclass(frozen=True, slots=True)
class Headline:
    """Both sentences as HTML; ``lead`` may be empty."""

    title: SafeString
    lead: SafeString


def headline_of(
    losses: Sequence[OpenLoss], wall: Wall, machines: Mapping[int, Machine], *, since_text: str
) -> Headline:
    """What to know first: a loss that is open, or why there is none."""
    if losses:
        return _of_loss(losses, machines, since_text)
    if wall.are_single:
        return _of_singles(wall)
    if all(machine.is_history for machine in machines.values() if machine.has_runs):
        return _of_history(wall)
    return _of_quiet(wall, machines)


def _of_loss(
    losses: Sequence[OpenLoss], machines: Mapping[int, Machine], since_text: str
) -> Headline:
    one = next(loss for loss in losses if loss.leads)
    machine = escape(str(machines[one.hardware_id].called))
    title = f"{escape(one.mode)} {_what(one)} on {machine} {_where(one)}"
    if one.is_one_build:
        title = f"One build a side: {title}, against {_mono(one.after)}"
    return _headline(title, _rest_of(one, losses, since_text))


def _where(one: OpenLoss) -> str:
    last = _mono(one.last)
    if one.kind == Alert.Kind.EXCURSION:
        return f"at {last}, one revision, back afterwards"
    if one.kind == Alert.Kind.SLOW:
        return f"by {last}, no single commit"
    return f"at {last}" if one.is_named or one.is_one_build else f"at the latest in {last}"


def _mono(name: str) -> str:
    return f'<span class="mono">{escape(name)}</span>'


def _what(one: OpenLoss) -> str:
    """``lost 12.1 %``; where less is better, a figure that rose."""
    if one.percent is None:
        return "changed beyond any percentage"
    if one.option:
        return cost_moved(one.level_before, one.level, one.direction)
    if one.end_levels and not one.is_one_build:
        levels = levels_moved(one.end_levels, grown=one.percent > 0, unit=escape(one.unit))
        return f"{levels}, which is worse," if one.percent > 0 else levels
    size = half_width(abs(one.percent))
    if one.is_one_build:
        return f"seems {size}\N{NO-BREAK SPACE}% {'lower' if one.percent < 0 else 'higher'}"
    return (
        f"lost {size}\N{NO-BREAK SPACE}%"
        if one.percent < 0
        else f"rose by {size}\N{NO-BREAK SPACE}%, which is worse,"
    )


def _rest_of(one: OpenLoss, losses: Sequence[OpenLoss], since_text: str) -> str:
    """``New in the last day; one older loss is larger, and four more are open.``"""
    news = f"New {since_text}" if one.is_fresh else f"Nothing is new {since_text}"
    if one.is_simulated:
        news += ", on a simulated machine"
    others = one.open - 1
    if not others:
        return f"{news}; nothing else is open."
    larger = sum(loss.rank < one.rank and loss.is_simulated == one.is_simulated for loss in losses)
    simulated = one.simulated - one.is_simulated
    parts = []
    if larger:
        parts.append(f"{_count(larger)} {'loss is' if larger == 1 else 'losses are'} larger")
    if others > larger:
        left = others - larger
        more = " more" if larger else " other" if left == 1 else " others"
        parts.append(f"{_count(left)}{more} {'is' if left == 1 else 'are'} open")
    text = ", and ".join(parts)
    if simulated and simulated == others:
        text += f" on {'a simulated machine' if simulated == 1 else 'simulated machines'}"
    elif simulated:
        text += f", {_count(simulated)} of the {_count(others)} on simulated machines"
    return f"{news}; {text}."


def _of_singles(wall: Wall) -> Headline:
    return _headline(
        f"{_series(wall)} of one revision each on {counted(wall.machines, 'machine')}",
        f"Changes are found from {FEWEST_REVISIONS} revisions of a series on; until then revisions "
        "can be compared with one another.",
    )


def _of_history(wall: Wall) -> Headline:
    """A change is what an alert is about, as in the inbox: one may concern several series, and a
    series may have several, or one too small for an alert.
    """
    changes = counts(timezone.now()).history
    places = f"{_series(wall)} on {counted(wall.machines, 'machine')}"
    found = counted(changes, "change") if changes else "no proven change beyond the threshold"
    below = (
        f"{_count(wall.moved) if wall.moved else 'none'} of the series below changed, by any size"
    )
    if changes:
        link = f'<a href="{reverse("alerts")}?state=history">{counted(changes, "change")}</a>'
        below = f"{link} beyond the alert threshold, each at one commit or in one interval; {below}"
    else:
        below = below.capitalize()
    return _headline(
        f"Imported results: {found} in {places}",
        f"{below}. Nobody was mailed, and no regression is open.{_too_few(wall)}",
    )


def _of_quiet(wall: Wall, machines: Mapping[int, Machine]) -> Headline:
    runs = sum(sum(machine.days[-DAYS:]) for machine in machines.values())
    alive = sum(machine.is_alive for machine in machines.values())
    title = f"No regression is open; {counted(runs, 'run')} in two weeks on "
    title += counted(alive, "machine")
    newest = wall.last_change
    if newest is None:
        return _headline(title, f"No change is proven in the revisions shown.{_too_few(wall)}")
    machine = escape(str(machines[newest.hardware_id].called))
    return _headline(
        title,
        f"The last change: {escape(newest.mode)} {percent(newest.percent)} % on {machine}, "
        f"{counted(newest.since or 0, 'revision')} ago.",
    )


def _too_few(wall: Wall) -> str:
    """Of how many series nothing is known yet."""
    few = wall.too_few
    return f" Of {few:,} of {_series(wall)} too little is known to tell." if few else ""


def _series(wall: Wall) -> str:
    return f"{len(wall.series):,} series"


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _count(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else f"{count:,}"


def _headline(title: str, lead: str) -> Headline:
    return Headline(mark_safe(title), mark_safe(lead))  # noqa: S308
