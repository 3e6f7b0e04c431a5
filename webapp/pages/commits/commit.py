"""`/commits/<tree>/<rev>/`: what did this commit do?

The body of the page, its points and findings, is drawn once for as long as they stay. Nothing in
the body belongs to one reader but the links of those who may ask for jobs, nothing there is shown
against the clock, and nothing is of its runs: the page adds these each time.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import is_triager
from webapp.alerts import queries
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.analysis.queries import (
    CommitPoint,
    Gap,
    PointVerdict,
    Previous,
    ProfiledPair,
    Side,
    Subject,
    judge_commit,
    points_of_rows,
    profiled_around,
    rows_of_commit,
)
from webapp.bisects.models import Bisect
from webapp.events.models import LabEvent, Release
from webapp.pages.commits.headline import Cells, answer, cells_of, headline
from webapp.pages.commits.table import Surroundings, Table, tables
from webapp.pages.lab.quality import disagreements, marked_runs, needs_runs
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.pages.parts.links import commit_at, compare_link, diff_link, read_number
from webapp.pages.parts.summaries import variants_of_commit
from webapp.pages.parts.summary_rows import drawn, steps, strip
from webapp.results.models import Profile, Revision, Run
from webapp.results.queries import NamedSeries, Neighbour, Neighbours, neighbours_of, tested_near
from webapp.stats.compare import MORE_BUILDS

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

PAGES_MOST = 10_000
"""Of machines; an address that asks for a later one gets the last."""

STEPS_SHOWN = 9
"""Tested revisions on either side."""

INLINE_MOST = 12
"""Up to so many runs, findings or reasons are in the page at once; more are read when opened."""


@require_safe
@vary_on_headers("HX-Request")
def page(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """What a commit did to each series that was measured there. Http404 for an unknown one.

    `?part=…` opens one of `PARTS`; htmx gets that part alone. With ``hardware`` or ``mode``, only
    their runs are listed. `?page=…` has the next machines of a commit of very many.
    """
    commit = commit_at(tree, revision)
    if commit.name != revision:
        return redirect(commit)
    if commit.is_waiting:
        waiting = {"commit": commit, "runs": Run.objects.of_revision(commit).with_marks()}
        return render(request, "pages/commits/waiting.html", waiting)
    asked = request.GET.get("part", "")
    part = asked if asked in PARTS else ""
    number = min(max(read_number(request.GET.get("page", "")), 1), PAGES_MOST)
    hardware = request.GET.get("hardware", "").replace("\0", "")
    beside = queries.beside_commit(commit, hardware=hardware, page=number)
    ask_from = request.path if is_triager(request.user) else ""
    context = _context(commit, beside, part, ask_from=ask_from) | _turned(beside, number)
    _show_runs_of(request, context)
    is_fragment = part and request.headers.get("HX-Request") == "true"
    return render(request, PARTS[part] if is_fragment else "pages/commits/commit.html", context)


def _turned(beside: queries.BesideCommit, number: int) -> dict[str, object]:
    """What leads from page ``number`` of the machines to the others, where there are others."""
    number = min(number, beside.pages)
    return {
        "turned": f"&page={number}" if number > 1 else "",
        "page_before": number - 1,
        "page_after": number + 1 if number < beside.pages else 0,
    }


def _context(
    commit: Revision, beside: queries.BesideCommit, part: str, *, ask_from: str
) -> dict[str, object]:
    body = body_of(commit, beside, part, ask_from=ask_from)
    # Not in what is kept: its stamp knows nothing of findings of other kinds.
    others = _others(commit) if beside.others else []
    reported = {one.series_id for one in others}
    return {
        "commit": commit,
        "body": body,
        "detected": body.detected,
        "findings": body.findings,
        "silent": [(one, why) for one, why in body.silent if one.pk not in reported],
        "silent_count": len(body.silent_series - reported),
        "is_why_open": part == "why",
        "commit_source": commit.tree.source_of(commit.name, beside.aliases),
        **_named_by(commit, beside),
        **_neighbours(commit, body.tested),
        **_runs(commit, beside, body.everything, part),
        "others": others,
        "is_profiles_open": part == "profiles",
        "pairs": _profiled(commit) if part == "profiles" else [],
    }


def _profiled(commit: Revision) -> list[tuple[ProfiledPair, str]]:
    """Kernels of a commit with profiles, each against the last one before, and the differences."""
    runs = Run.objects.counted().filter(revision=commit, profiles__isnull=False)
    subjects = runs.order_by().values_list("hardware", "mode", "variant").distinct()[:PROFILED]
    gaps = [Gap.before(Subject(commit.tree_id, *ids), commit.position) for ids in subjects]
    return [(pair, diff_link(pair.a.text, pair.b.text)) for pair in profiled_around(gaps)]


def _others(commit: Revision) -> list[Finding]:
    """What is seen at it beside changes of level: nothing of it is the commit's."""
    live = Finding.all_kinds.live().shown_alone().filter(revision=commit)
    shown = live.exclude(kind__in=[Finding.Kind.LEVEL, Finding.Kind.SLOW])
    named = shown.with_subjects().order_by("kind", "series__hardware__name", "series__mode__name")
    return list(named[:OTHERS_MOST])


def _named_by(commit: Revision, beside: queries.BesideCommit) -> dict[str, object]:
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
    commit: Revision, beside: queries.BesideCommit, everything: Collection[CommitPoint], part: str
) -> dict[str, object]:
    """Runs of a commit where they are few or asked for, and what is to be decided about them."""
    is_whole = part == "runs" or beside.runs <= INLINE_MOST
    runs: list[Run] = []
    if beside.runs and (is_whole or needs_runs(everything) or beside.marked):
        profiled = Exists(Profile.objects.filter(run=OuterRef("pk")))
        rows = Run.objects.of_revision(commit).with_marks().annotate(is_profiled=profiled)
        runs = list(rows if beside.is_whole else rows.filter(hardware__in=beside.machines))
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


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured at a commit on the machines that are shown, without variants (``points``)
    and with them, and the verdict on each point by series (id); all of it follows from what ``key``
    is the fingerprint of.
    """

    key: bytes
    everything: Sequence[CommitPoint]
    points: Sequence[CommitPoint]
    judged: Mapping[int, PointVerdict]


@dataclass(frozen=True, slots=True)
class Body:
    """What the page shows of ``everything`` that was measured at a commit: the answer and what is
    below it, as HTML, and what the rest of the page follows from. ``tested`` are the positions of
    the tested commits around it, ``silent_series`` (ids) those with no change of level, ``silent``
    they with the reason, where these are few or asked for.
    """

    everything: Sequence[CommitPoint]
    tested: Sequence[int]
    detected: queries.Detected
    findings: Sequence[object]
    silent: Sequence[tuple[NamedSeries, str]]
    silent_series: Set[int]
    has_tables: bool
    has_variants: bool
    simulated: bool
    lead: SafeString
    html: SafeString


MEASURED: Cache[Measured] = Cache(most=16, seconds=600.0)
TABLES: Cache[Sequence[Table]] = Cache(most=16, seconds=600.0)
CELLS: Cache[Cells] = Cache(most=16, seconds=600.0)
"""Never too old: their keys are all that they are made of. The age frees what nobody reads."""

OPENED = ("why", "findings")
"""What is read of it when it is opened."""

BODIES: Cache[Body] = Cache(most=32, seconds=60.0)
"""What changes without a sign of it in the stamp, as a row that no service wrote, shows late, by
a minute at most."""


def body_of(commit: Revision, beside: queries.BesideCommit, part: str, *, ask_from: str) -> Body:
    """What is drawn of ``commit`` and of the machines ``beside`` it; no query where it is kept."""
    opened = part if part in OPENED else ""
    identity = (commit.pk, commit.name, commit.position, commit.tree.name)
    return BODIES.get(
        (identity, beside.stamp, opened, ask_from),
        lambda: _body(commit, beside, opened, ask_from=ask_from),
    )


def _body(commit: Revision, beside: queries.BesideCommit, part: str, *, ask_from: str) -> Body:
    measured = _measured(commit, beside.machines)
    everything, points, judged = measured.everything, measured.points, measured.judged
    known = {one.series_id: one.series for one in everything}
    elsewhere = 0 if beside.is_whole else queries.compared_elsewhere(commit, beside.machines)
    detected = queries.detected_at(commit, judged, known, others=elsewhere)
    begun = {one.finding.series.pk: one.finding for one in detected.begun}
    cells = _cells(measured, frozenset(begun))
    previous = _most_common_base(points)
    own = [point for point in everything if not point.series.is_plain]
    findings = _findings(detected, part)
    shown = {
        "tables": _tables(measured, begun, Surroundings(commit, ask_from, previous)),
        "headline": headline(detected, cells),
        "answer": answer(detected.let_through, cells),
        "detected": detected,
        "findings": findings,
        "is_findings_open": part == "findings",
        "charts": drawn(detected.let_through, commit),
        "variants": variants_of_commit(commit, own, points),
        "more_builds": MORE_BUILDS,
        "can_ask": bool(ask_from),
        "in_question": any(point.disagrees for point in points),
        "previous": previous,
    }
    silent = [point.series for point in points if point.series_id not in begun]
    return Body(
        everything=everything,
        tested=tested_near(commit, most=STEPS_SHOWN),
        detected=detected,
        findings=findings,
        silent=_reasons(commit, silent) if part == "why" or len(silent) <= INLINE_MOST else [],
        silent_series=frozenset(one.pk for one in silent),
        has_tables=bool(shown["tables"]),
        has_variants=bool(shown["variants"]),
        simulated=any(point.series.hardware.lab.simulated for point in everything),
        lead=render_to_string("pages/commits/_lead.html", shown),
        html=render_to_string("pages/commits/_body.html", shown),
    )


def _measured(commit: Revision, machines: Sequence[int]) -> Measured:
    """One query. What follows from its rows is not made again while they are the same."""
    rows = rows_of_commit(commit, machines)
    key = fingerprint(rows)
    return MEASURED.get(key, lambda: _judged(key, rows))


def _judged(key: bytes, rows: Sequence[tuple[object, ...]]) -> Measured:
    everything = points_of_rows(rows)
    judged = judge_commit([point for point in everything if point.series.is_plain])
    # What they are judged by is most of their size, and they are.
    everything = [point._replace(pair=None) for point in everything]
    points = [point for point in everything if point.series.is_plain]
    return Measured(key, everything, points, judged)


def _tables(
    measured: Measured, begun: Mapping[int, queries.FindingAt], around: Surroundings
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


def _cells(measured: Measured, begun: Set[int]) -> Cells:
    """What may be claimed of the cells, where findings begin in the series (ids) of ``begun``."""
    of_cells = [point for point in measured.points if not point.series.is_cost]
    return CELLS.get((measured.key, begun), lambda: cells_of(of_cells, measured.judged, begun))


def _findings(detected: queries.Detected, part: str) -> Sequence[object]:
    """The findings that begin here, in full: at first no more than fit a page."""
    everything = part == "findings" or len(detected.begun) <= INLINE_MOST
    return detected.begun if everything else detected.begun[:INLINE_MOST]


def _reasons(commit: Revision, series: Iterable[NamedSeries]) -> list[tuple[NamedSeries, str]]:
    """Each series with the reason why nothing of it is reported."""
    named = sorted(series, key=lambda one: (one.mode.name, one.hardware.name, one.metric.name))
    reasons = queries.why_not(commit, [one.pk for one in named]) if named else {}
    return [(one, reasons[one.pk]) for one in named]


def _most_common_base(points: Iterable[CommitPoint]) -> Previous | None:
    """What most points are compared with, whether that point is still there or not."""
    bases = Counter(point.previous for point in points if point.previous is not None)
    return bases.most_common(1)[0][0] if bases else None
