"""`/commits/<tree>/<rev>/`: what did this commit do?"""

from collections.abc import Collection, Sequence

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import is_triager
from webapp.alerts.models import Alert
from webapp.alerts.queries import BesideCommit, beside_commit
from webapp.analysis.models import Finding
from webapp.analysis.queries import CommitPoint, Gap, ProfiledPair, Side, Subject, profiled_around
from webapp.bisects.models import Bisect
from webapp.events.models import LabEvent, Release
from webapp.pages.commits.body import INLINE_MOST, body_of
from webapp.pages.commits.charts import steps, strip
from webapp.pages.lab.disagreements import disagreements, needs_runs
from webapp.pages.lab.marked_samples import marked_runs
from webapp.pages.parts.links import compare_link, diff_link
from webapp.results.models import Profile, Revision, Run, Tree
from webapp.results.queries import Neighbour, Neighbours, neighbours_of

SUSPECTS_SHOWN = 20
OTHERS_MOST = 20

PARTS = {
    "runs": "pages/commits/_runs.html",
    "why": "pages/commits/_why.html",
    "findings": "pages/commits/_all_findings.html",
    "profiles": "pages/commits/_profiles.html",
}
"""What is folded, and read when it is opened: `?part=…`."""

PROFILED = 3
"""Machines and modes whose profiles are compared."""


@require_safe
@vary_on_headers("HX-Request")
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
        return render(request, "pages/commits/waiting.html", waiting)
    asked = request.GET.get("part", "")
    part = asked if asked in PARTS else ""
    context = _context(commit, part, ask_from=request.path if is_triager(request.user) else "")
    _show_runs_of(request, context)
    is_fragment = part and request.headers.get("HX-Request") == "true"
    return render(request, PARTS[part] if is_fragment else "pages/commits/commit.html", context)


def _context(commit: Revision, part: str, *, ask_from: str) -> dict[str, object]:
    beside = beside_commit(commit)
    body = body_of(commit, beside.stamp, part, ask_from=ask_from)
    return {
        "commit": commit,
        "body": body,
        "detected": body.detected,
        "findings": body.findings,
        "silent": body.silent,
        "is_why_open": part == "why",
        "commit_source": commit.tree.source_of(commit.name, beside.aliases),
        **_named_by(commit, beside),
        **_neighbours(commit, body.tested),
        **_runs(commit, beside, body.everything, part),
        "others": _others(commit) if beside.others else [],
        "is_profiles_open": part == "profiles",
        "pairs": _profiled(commit) if part == "profiles" else [],
    }


def _profiled(commit: Revision) -> list[tuple[ProfiledPair, str]]:
    """Its profiled kernels, each against the last profiled one before, and the differences."""
    runs = Run.objects.counted().filter(revision=commit, profiles__isnull=False)
    subjects = runs.order_by().values_list("hardware", "mode", "variant").distinct()[:PROFILED]
    gaps = [Gap.before(Subject(commit.tree_id, *ids), commit.position) for ids in subjects]
    return [(pair, diff_link(pair.a.text, pair.b.text)) for pair in profiled_around(gaps)]


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


def _runs(
    commit: Revision, beside: BesideCommit, everything: Collection[CommitPoint], part: str
) -> dict[str, object]:
    """Its runs where they are few or asked for, and what is to be decided about any of them."""
    profiled = Exists(Profile.objects.filter(run=OuterRef("pk")))
    rows = Run.objects.of_revision(commit).with_marks().annotate(is_profiled=profiled)
    is_whole = part == "runs" or beside.runs <= INLINE_MOST
    runs: list[Run] = []
    if beside.runs and (is_whole or needs_runs(everything) or beside.marked):
        runs = list(rows)
    for run in runs:
        run.revision = commit  # with its tree
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


def _neighbours(commit: Revision, tested: Sequence[int]) -> dict[str, object]:
    """The tested revisions around it, how many untested ones lie between, and those untested since
    the last test: each may be the cause as well.
    """
    near = neighbours_of(commit, tested)
    tested_before = near.tested_before[-1] if near.tested_before else None
    untested = near.steps.get(commit.position, 1) - 1
    return {
        "neighbours": near,
        "tested_before": tested_before,
        "tested_after": near.tested_after[0] if near.tested_after else None,
        "strip": strip(steps(near, commit), commit),
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
