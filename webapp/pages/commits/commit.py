"""`/commits/<tree>/<rev>/`: what did this commit do?"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.alerts.models import Alert
from webapp.alerts.queries import (
    Agreeing,
    BesideCommit,
    Detected,
    FindingAt,
    agreeing_of,
    beside_commit,
    detected_at,
    why_not,
    with_agreeing,
)
from webapp.analysis.models import Finding
from webapp.analysis.queries import (
    CommitPoint,
    PointVerdict,
    Previous,
    Side,
    judge_commit,
    points_of_rows,
    rows_of_commit,
)
from webapp.bisects.models import Bisect
from webapp.events.models import LabEvent, Release
from webapp.pages.commits.charts import drawn, ranges, steps, strip
from webapp.pages.commits.headline import headline, proven
from webapp.pages.commits.table import Surroundings, Table, tables
from webapp.pages.lab.disagreements import disagreements, needs_runs
from webapp.pages.lab.marked_samples import marked_runs
from webapp.pages.parts.kept import Kept, fingerprint
from webapp.pages.parts.links import compare_link
from webapp.pages.parts.variants import variants_of_commit
from webapp.results.models import Revision, Run, Tree
from webapp.results.queries import NamedSeries, Neighbour, Neighbours, neighbours_of
from webapp.stats.compare import MORE_BUILDS

SUSPECTS_SHOWN = 20
STEPS_SHOWN = 9
"""Tested revisions on either side."""

OTHERS_MOST = 20
INLINE_MOST = 12
"""Up to so many runs, findings or reasons are in the page at once; more are read when opened."""

PARTS = {
    "runs": "pages/_commit_runs.html",
    "why": "pages/_commit_why.html",
    "findings": "pages/_commit_all_findings.html",
}
"""What is folded, and read when it is opened: `?part=…`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured at a commit, without variants (``points``) and with them, and the verdict
    on each point by series (id); all of it follows from what ``key`` is the fingerprint of.
    """

    key: bytes
    everything: Sequence[CommitPoint]
    points: Sequence[CommitPoint]
    judged: Mapping[int, PointVerdict]


MEASURED: Kept[Measured] = Kept(most=16, seconds=600.0)
TABLES: Kept[Sequence[Table]] = Kept(most=16, seconds=600.0)
"""Never too old: their keys are all that they are made of. The age frees what nobody reads."""


@require_safe
def page(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """What a commit did to each series that was measured there. Http404 for an unknown one.

    `?part=…` opens one of `PARTS`; htmx gets that part alone. With ``hardware`` or ``mode``, only
    their runs are listed.
    """
    found = get_object_or_404(Tree, name=tree)
    commit = Revision.objects.named(tree=found, name=revision)
    if commit is None:
        raise Http404(f"No revision {revision} is known in {tree}.")
    commit.tree = found
    if commit.name != revision:
        return redirect(commit)
    if commit.is_waiting:
        waiting = {"commit": commit, "runs": Run.objects.of_revision(commit).with_marks()}
        return render(request, "pages/commit_waiting.html", waiting)
    part = request.GET.get("part", "")
    context = _context(commit, part, ask_from=request.path if is_triager(request.user) else "")
    _show_runs_of(request, context)
    is_fragment = part in PARTS and request.headers.get("HX-Request") == "true"
    return render(request, PARTS[part] if is_fragment else "pages/commit.html", context)


def _context(commit: Revision, part: str, *, ask_from: str) -> dict[str, object]:
    beside = beside_commit(commit)
    measured = _measured(commit)
    everything, points, judged = measured.everything, measured.points, measured.judged
    detected = detected_at(commit, judged, {one.series_id: one.series for one in everything})
    begun = {one.finding.series.pk: one.finding for one in detected.begun}
    of_cells = [point for point in points if not point.series.is_cost]
    told = {one.series_id: judged[one.series_id] for one in of_cells if one.series_id in judged}
    previous = _most_common_base(points)
    return {
        "commit": commit,
        "headline": headline(detected, told),
        "agreeing": _agreeing(commit) if beside.agreeing else None,
        "commit_source": commit.tree.source_of(commit.name, beside.aliases),
        **_named_by(commit, beside),
        "tables": _tables(measured, begun, Surroundings(commit, ask_from, previous)),
        "more_builds": MORE_BUILDS,
        "can_ask": bool(ask_from),
        "detected": detected,
        "charts": drawn(detected.let_through, commit),
        "proven": [] if detected.let_through else proven(of_cells, told),
        "previous": previous,
        **_neighbours(commit),
        **_runs(commit, beside, everything, part),
        **_silent(commit, points, begun, part),
        "findings": _findings(detected, part),
        "others": _others(commit) if beside.others else [],
        "is_findings_open": part == "findings",
        "variants": variants_of_commit(
            commit, [point for point in everything if not point.series.is_plain], points
        ),
        "in_question": any(point.disagrees for point in points),
        "simulated": any(point.series.hardware.lab.simulated for point in everything),
    }


def _measured(commit: Revision) -> Measured:
    """One query. What follows from its rows is not made again while they are the same."""
    rows = rows_of_commit(commit)
    key = fingerprint(rows)
    return MEASURED.get(key, lambda: _judged(key, rows))


def _judged(key: bytes, rows: Sequence[tuple[object, ...]]) -> Measured:
    everything = points_of_rows(rows)
    points = [point for point in everything if point.series.is_plain]
    judged = judge_commit(points)
    return Measured(key, _without_levels(everything), _without_levels(points), judged)


def _without_levels(points: Iterable[CommitPoint]) -> Sequence[CommitPoint]:
    """What they are judged by is most of their size, and they are."""
    return [point._replace(pair=None) for point in points]


def _tables(
    measured: Measured, begun: Mapping[int, FindingAt], around: Surroundings
) -> Sequence[Table]:
    """The heat maps, drawn anew when anything in them changed."""
    findings = tuple(
        (pk, row.state, row.verdict, row.change_pct, row.low_pct, row.high_pct)
        for pk, row in begun.items()
    )
    commit = around.commit
    return TABLES.get(
        (measured.key, findings, commit.tree.name, commit.name, around.ask_from),
        lambda: tables(measured.points, measured.judged, begun, around),
    )


def _agreeing(commit: Revision) -> Agreeing | None:
    """What several series show together, with it among the commits in question."""
    rows = Revision.objects.filter(pk=commit.pk).defer("message", "paths")
    return agreeing_of(with_agreeing(rows, around=True).get())


def _others(commit: Revision) -> list[Finding]:
    """What is seen at it beside changes of level: nothing of it is the commit's."""
    told = Finding.all_kinds.live().shown_alone().filter(revision=commit)
    shown = told.exclude(kind__in=[Finding.Kind.LEVEL, Finding.Kind.SLOW])
    named = shown.with_subjects().order_by("kind", "series__hardware__name", "series__mode__name")
    return list(named[:OTHERS_MOST])


def _named_by(commit: Revision, beside: BesideCommit) -> dict[str, object]:
    """What else names it. Read only where there is any."""
    return {
        "aliases": beside.aliases,
        "alerts": [Alert(pk=pk, state=state) for pk, state in beside.alerts or ()],
        "events": list(LabEvent.objects.in_force().around(commit).named()) if beside.events else [],
        "releases": list(Release.objects.of_tree(commit.tree).filter(revision=commit))
        if beside.releases
        else [],
        "named_by": list(Bisect.objects.naming(commit).with_subjects().order_by("-pk"))
        if beside.bisects
        else [],
    }


def _findings(detected: Detected, part: str) -> Sequence[object]:
    """The findings that begin here, in full: at first no more than fit a page."""
    everything = part == "findings" or len(detected.begun) <= INLINE_MOST
    return detected.begun if everything else detected.begun[:INLINE_MOST]


def _silent(
    commit: Revision, points: Iterable[CommitPoint], begun: Mapping[int, FindingAt], part: str
) -> dict[str, object]:
    """The series of which nothing is reported here, each with the reason; the reasons of many are
    read when they are asked for.
    """
    series = [point.series for point in points if point.series_id not in begun]
    reasons: Mapping[int, str] = {}
    if series and (part == "why" or len(series) <= INLINE_MOST):
        reasons = why_not(commit, [one.pk for one in series])
    named = sorted(series, key=lambda one: (one.mode.name, one.hardware.name, one.metric.name))
    silent: list[tuple[NamedSeries, str]] = [(one, reasons[one.pk]) for one in named if reasons]
    return {"silent": silent, "silent_count": len(series), "is_why_open": part == "why"}


def _runs(
    commit: Revision, beside: BesideCommit, everything: Collection[CommitPoint], part: str
) -> dict[str, object]:
    """Its runs where they are few or asked for, and what is to be decided about any of them."""
    rows = Run.objects.of_revision(commit).with_marks()
    is_whole = part == "runs" or beside.runs <= INLINE_MOST
    runs: list[Run] = []
    if beside.runs and (is_whole or needs_runs(everything) or beside.marked):
        runs = list(rows)
    return {
        "runs": runs if is_whole else [],
        "beside": beside,
        "is_runs_open": part == "runs",
        "disagreements": disagreements(everything, runs),
        "marked": marked_runs(runs) if beside.marked else [],
    }


def _show_runs_of(request: HttpRequest, context: dict[str, object]) -> None:
    """Leave the runs of the machine and the mode that are asked for, with their facts in sight."""
    hardware, mode = request.GET.get("hardware", ""), request.GET.get("mode", "")
    runs = context["runs"]
    if (hardware or mode) and isinstance(runs, list):
        context["runs"] = [
            run
            for run in runs
            if hardware in ("", run.hardware.name) and mode in ("", run.mode.name)
        ]
        context["are_facts_open"] = True


def _most_common_base(points: Iterable[CommitPoint]) -> Previous | None:
    """What most points are compared with, whether that point is still there or not."""
    bases = Counter(point.previous for point in points if point.previous is not None)
    return bases.most_common(1)[0][0] if bases else None


def _neighbours(commit: Revision) -> dict[str, object]:
    """The tested revisions around it, how many untested ones lie between, and those untested since
    the last test: each may be the cause as well.
    """
    near = neighbours_of(commit, most=STEPS_SHOWN)
    between = Revision.objects.counts(ranges(near, commit))
    tested_before = near.tested_before[-1] if near.tested_before else None
    untested = between[len(near.tested_before) - 1] - 1 if tested_before else 0
    return {
        "neighbours": near,
        "tested_before": tested_before,
        "tested_after": near.tested_after[0] if near.tested_after else None,
        "strip": strip(steps(near, commit, between), commit),
        "untested": untested,
        "suspects": _suspects(near, commit) if untested else [],
        "compare_before": _compare(tested_before, commit),
    }


def _suspects(near: Neighbours, commit: Revision) -> list[Revision]:
    """The last commits before it that nobody tested, in their order."""
    rows = Revision.objects.before(commit).filter(position__gt=near.tested_before[-1].position)
    found = list(rows.only("name", "subject", "author_name")[:SUSPECTS_SHOWN])[::-1]
    for revision in found:
        revision.tree = commit.tree
    return found


def _compare(before: Neighbour | None, commit: Revision) -> str:
    if before is None:
        return ""
    return compare_link(Side(commit.tree.name, before.name), Side(commit.tree.name, commit.name))
