"""`/commits/<tree>/<rev>/`: what did this commit do?"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.alerts.models import Alert
from webapp.alerts.queries import agreeing_of, detected_at, why_not, with_agreeing
from webapp.analysis.models import Comparison, Finding
from webapp.analysis.queries import RUNS_DISAGREE, PointVerdict, Side, judge_points
from webapp.bisects.models import Bisect
from webapp.charts.heatmap import cell_class
from webapp.charts.text import common
from webapp.events.models import LabEvent, Release
from webapp.pages import alert_summaries
from webapp.pages.commit_headline import headline, proven
from webapp.pages.disagreements import disagreements
from webapp.pages.links import compare_link
from webapp.results.models import Hardware, Metric, Mode, Point, Revision, Run, Series, Tree
from webapp.stats.compare import MORE_BUILDS

SUSPECTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """One hardware in one mode: its point, and the verdict where there is a point before it.

    ``finding`` is what the detector says begins here, if anything.
    """

    point: Point
    comparison: Comparison | None
    judged: PointVerdict | None
    finding: Finding | None

    @property
    def css_class(self) -> str:
        """The CSS class of the cell."""
        if self.judged is None:
            return cell_class(RUNS_DISAGREE, None) if self.point.disagrees else "first"
        return cell_class(self.judged.label, self.judged.percent)


@dataclass(frozen=True, slots=True)
class Row:
    """One mode; a cell for each hardware, None where it was not measured."""

    mode: Mode
    cells: Sequence[Cell | None]


@dataclass(frozen=True, slots=True)
class Table:
    """Hardware × mode in one metric."""

    metric: Metric
    hardware: Sequence[Hardware]
    rows: Sequence[Row]
    better: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The commits around one; None at the ends of what is known."""

    before: Revision | None
    after: Revision | None
    tested_before: Revision | None
    tested_after: Revision | None


@require_safe
def page(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """What a commit did to each series that was measured there. Http404 for an unknown one."""
    found = get_object_or_404(Tree, name=tree)
    revisions = with_agreeing(Revision.objects.all(), around=True)
    commit = revisions.named(tree=found, name=revision)
    if commit is None:
        raise Http404(f"No revision {revision} is known in {tree}.")
    commit.tree = found
    if commit.name != revision:
        return redirect(commit)
    if commit.is_waiting:
        waiting = {"commit": commit, "runs": Run.objects.of_revision(commit)}
        return render(request, "pages/commit_waiting.html", waiting)
    context = _context(commit) | {"can_ask": is_triager(request.user)}
    return render(request, "pages/commit.html", context)


def _context(commit: Revision) -> dict[str, object]:
    points = list(Point.objects.of_revision(commit).with_subjects())
    runs = list(Run.objects.of_revision(commit))
    comparisons = list(Comparison.objects.of_revision(commit).with_subjects())
    judged = judge_points(points, comparisons)
    detected = detected_at(commit, judged)
    begun = {one.finding.series_id: one.finding for one in detected.begun}
    tables = _tables(points, {row.series_id: row for row in comparisons}, judged, begun)
    neighbours = _neighbours(commit)
    return {
        "commit": commit,
        "headline": headline(detected, judged),
        "agreeing": agreeing_of(commit),
        "alerts": alert_summaries.summarise(
            list(Alert.objects.of_revision(commit).with_revisions().order_by("pk"))
        ),
        "events": LabEvent.objects.in_force().around(commit).named(),
        "releases": Release.objects.of_tree(commit.tree).filter(revision=commit),
        "named_by": list(Bisect.objects.naming(commit).with_subjects().order_by("-pk")),
        "tables": tables,
        "more_builds": MORE_BUILDS,
        "detected": detected,
        "proven": []
        if detected.let_through
        else proven([point.series for point in points], judged),
        "silent": _silent(commit, points, begun),
        "previous": _most_common_base(comparisons),
        "neighbours": neighbours,
        "suspects": _suspects(neighbours.tested_before, commit),
        "compare_before": _compare(neighbours.tested_before, commit),
        "aliases": [alias.name for alias in commit.aliases.exclude(name=commit.name)],
        "runs": runs,
        "disagreements": disagreements(points, runs),
        "in_question": any(point.disagrees for point in points),
        "simulated": any(point.series.hardware.lab.simulated for point in points),
    }


def _tables(
    points: Iterable[Point],
    comparisons: Mapping[int, Comparison],
    judged: Mapping[int, PointVerdict],
    begun: Mapping[int, Finding],
) -> list[Table]:
    cells: dict[Metric, dict[tuple[Mode, Hardware], Cell]] = defaultdict(dict)
    for point in points:
        pk, series = point.series_id, point.series
        cell = Cell(point, comparisons.get(pk), judged.get(pk), begun.get(pk))
        cells[series.metric][series.mode, series.hardware] = cell
    return [_table(metric, its) for metric, its in cells.items()]


def _table(metric: Metric, cells: dict[tuple[Mode, Hardware], Cell]) -> Table:
    modes = sorted({mode for mode, _ in cells}, key=lambda mode: mode.name)
    hardware = sorted({machine for _, machine in cells}, key=lambda machine: machine.name)
    rows = [Row(mode, [cells.get((mode, machine)) for machine in hardware]) for mode in modes]
    better = common(cell.point.series.better for cell in cells.values())
    return Table(metric, hardware, rows, better)


def _silent(
    commit: Revision, points: Iterable[Point], begun: Mapping[int, Finding]
) -> list[tuple[Series, str]]:
    """The series of which nothing is reported here, each with the reason."""
    series = [point.series for point in points if point.series_id not in begun]
    reasons = why_not(commit, [one.pk for one in series])
    named = sorted(series, key=lambda one: (one.mode.name, one.hardware.name, one.metric.name))
    return [(one, reasons[one.pk]) for one in named]


def _most_common_base(comparisons: Iterable[Comparison]) -> Revision | None:
    bases = Counter(comparison.previous for comparison in comparisons)
    return bases.most_common(1)[0][0] if bases else None


def _neighbours(commit: Revision) -> Neighbours:
    before, after = Revision.objects.before(commit), Revision.objects.after(commit)
    found = [rows.first() for rows in (before, after, before.tested(), after.tested())]
    for revision in found:
        if revision is not None:
            revision.tree = commit.tree
    return Neighbours(*found)


def _suspects(before: Revision | None, commit: Revision) -> list[Revision]:
    """Commits since the one tested before: each may be the cause as well. One more than shown."""
    if before is None:
        return []
    found = list(Revision.objects.between(before, commit)[: SUSPECTS_SHOWN + 1])
    for revision in found:
        revision.tree = commit.tree
    return found


def _compare(before: Revision | None, commit: Revision) -> str:
    if before is None:
        return ""
    return compare_link(Side(commit.tree.name, before.name), Side(commit.tree.name, commit.name))
