"""`/`: what got worse since I last looked?"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.services import note_visit
from webapp.alerts.queries import of_interest, open_losses
from webapp.analysis.models import Finding, SeriesAnalysis, Verdict
from webapp.analysis.queries import WallSeries, wall_series, wall_tiles
from webapp.bisects.queries import running_bisects
from webapp.charts.around import SHOWN
from webapp.experiments.models import Experiment
from webapp.jobs.queries import SILENT_AFTER, Machine, machines
from webapp.labs.models import Agent
from webapp.pages.overview import losses as overview_losses
from webapp.pages.overview import strip as overview_timeline
from webapp.pages.overview import wall as overview_wall
from webapp.pages.overview.headline import headline_of
from webapp.pages.overview.strip import Strip
from webapp.pages.overview.wall import FILTERS, REVISIONS_SHOWN, Chosen
from webapp.pages.parts.ages import age
from webapp.pages.parts.kept import Kept
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
WALLS: Kept[dict[str, object]] = Kept(most=6, seconds=60.0)
"""Drawn walls: most readers of a morning see the same. A revision may be renamed, or a point be
computed anew from what an operator decided, without a sign of it here: that shows in a minute."""


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The first page: what is open, every series, what was tested, which machines report."""
    now = timezone.now()
    found = {one.id: one for one in machines(now=now, days=DAYS)}
    series = wall_series(counted=REVISIONS_SHOWN)
    if not series and not any(one.has_runs for one in found.values()):
        return render(request, "pages/overview/first_steps.html", first_steps(request))
    since, since_text = _since(request, now)
    losses = open_losses(since=since, most=LOSSES_SHOWN, beside=SHOWN)
    bisects = running_bisects(BISECTS_SHOWN)
    by_alert = {one.alert: one for one in bisects}
    context = {
        "headline": headline_of(losses, series, found, since_text=since_text),
        "strip": Strip(losses, found, bisects, now),
        "reports": _reports(found.values()),
        "losses": overview_losses.draw(losses, found, by_alert, most=LOSSES_SHOWN, now=now),
        "waiting": sum(one.is_dirty for one in series),
        "repeated": SeriesAnalysis.objects.repeated(),
        "has_simulated": any(one.is_simulated for one in found.values()),
        **_wall(request, series, found, now),
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
    """What opened after it is new, and how the page says so."""
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
    request: HttpRequest,
    series: Sequence[WallSeries],
    found: Mapping[int, Machine],
    now: datetime,
) -> dict[str, object]:
    asked = request.GET.get("show", "")
    show = asked if asked in FILTERS else FILTERS[0]
    metrics = {(one.metric, one.unit, one.better) for one in series}
    chosen = overview_wall.choose(series, show, now)
    wanted = request.GET.get("tree", "")
    tree = wanted if any(one.tree == wanted for one in series) else ""
    shown = WALLS.get(_key(chosen, found, tree), lambda: _drawn(chosen, found, len(metrics), tree))
    return {
        "show": show,
        "filters": FILTERS,
        "metric": next(iter(metrics)) if len(metrics) == 1 else None,
        "drawn_count": len(chosen.drawn),
        "counted": len(chosen.series) - len(chosen.drawn),
        "revisions_shown": REVISIONS_SHOWN,
        **shown,
    }


def _key(chosen: Chosen, found: Mapping[int, Machine], tree: str) -> str:
    """All that the wall shows or follows from, by the versions of points and conclusions."""
    rows = [one._replace(live_at=None, is_dirty=False) for one in chosen.series]
    live = {one.tree for one in chosen.series if one.live_at}
    names = [(pk, one.name, one.called, one.lab, one.is_simulated) for pk, one in found.items()]
    return sha256(repr((rows, sorted(live), names, tree)).encode()).hexdigest()


def _drawn(
    chosen: Chosen, found: Mapping[int, Machine], metrics: int, tree: str
) -> dict[str, object]:
    tiles = wall_tiles(sorted(chosen.drawn), last=REVISIONS_SHOWN)
    trees = overview_wall.lay_out(chosen, tiles, found)
    columns = overview_wall.columns_of(trees, metrics)
    main = overview_timeline.tree_of(trees, tree)
    return {
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
    regressions, tested = _regressions(), _tested_lately()
    found = Revision.objects.select_related("tree").in_bulk([*regressions, *tested])
    context = {
        "regressions": _summaries(regressions, found),
        "tested": _summaries(tested, found),
    }
    return render(request, "pages/overview/lately.html", context)


def _regressions() -> list[int]:
    """Commits (ids) that made something worse: confirmed, one build a side, candidates."""
    return of_interest(Finding.objects.live()).revisions_lately(Verdict.WORSE, REGRESSIONS_SHOWN)


def _tested_lately() -> list[int]:
    runs = Run.objects.placed().plain().lately(RUNS_LOOKED_AT).values_list("revision_id", flat=True)
    return list(dict.fromkeys(runs))[:TESTED_SHOWN]


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
