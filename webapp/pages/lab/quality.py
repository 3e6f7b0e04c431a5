"""`/quality/`: how good the alerts were, which series to quieten, and runs of one commit that
disagree beyond their noise, which the page of the commit shows too; there also samples that may
not measure what they should. `/commits/<tree>/<revision>/runs/` and `…/samples/` take what is
decided of both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import signed_in_user, triager_required
from webapp.alerts import queries
from webapp.analysis.queries import CommitPoint
from webapp.charts import bars
from webapp.charts.text import half_width
from webapp.pages.parts.links import commit_at, days_before, days_of, read_number, read_text
from webapp.results import services
from webapp.results.models import (
    Mark,
    Measurement,
    Point,
    PoolingDecision,
    Revision,
    Run,
    SampleDecision,
    Tree,
    why_counted,
)
from webapp.results.queries import NamedSeries
from webapp.stats.intervals import Proportion

TIMES = "Alerts by the time until somebody acted on them"


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """How good the alerts of the last days were, of one tree or all."""
    tree = read_text(request.GET, "tree")
    days, now = days_of(request), timezone.now()
    start = days_before(now, days)
    found = waiting()
    triage, waits = queries.triage_quality(start, tree=tree), queries.open_by_age(now, tree=tree)
    context = {
        "tree": tree,
        "trees": Tree.objects.all(),
        "days": days,
        "triage": triage,
        "not_real": triage.precision.total - triage.precision.count if triage.precision else 0,
        "open": waits,
        "waits": sum(count for _, count in waits),
        "kinds": [
            (one, _bar(one.real) if one.real else "")
            for one in queries.judged_by_kind(start, tree=tree)
        ],
        "times": bars.draw_counts(triage.times, described=TIMES) if triage.acted_on else "",
        "mails": queries.mail_quality(start, now),
        "noisy": queries.noisiest(start, tree=tree),
        "waiting": found[:WAITING_SHOWN],
        "more_waiting": len(found) > WAITING_SHOWN,
    }
    return render(request, "pages/lab/quality.html", context)


def _bar(real: Proportion) -> str:
    return bars.draw_share(real.share, real.low, real.high, total=real.total)


LEAST_CHANCE = 1e-5
"""What is printed as it is: of less, the digits mean nothing."""

WAITING_SHOWN = 20
"""Points that wait for a decision, on the page of quality."""


@dataclass(frozen=True, slots=True)
class UploadLine:
    """One run of a point, with the mean of its ``n`` samples."""

    run: Run
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class InSeries:
    """The disagreement of runs in one series: of the two that differ most one lies ``percent``
    above the other, which without a cause is seen with ``chance``, at most ``limit`` for a mark.
    ``sessions`` are their names, the lower first, where two sessions differ so; else empty.
    """

    series: NamedSeries
    uploads: Sequence[UploadLine]
    percent: float
    chance: float
    limit: float
    sessions: Sequence[str]

    @property
    def size(self) -> str:
        """The same as text, without a sign: neither is the right one."""
        return half_width(self.percent)

    @property
    def chance_text(self) -> str:
        """The chance in percent, beside its limit."""
        seen = "less than 0.001 %" if self.chance < LEAST_CHANCE else f"{100 * self.chance:.2g} %"
        return f"{seen} (limit {100 * self.limit:.2g} %)"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Runs of one commit (``key``) that differ beyond their noise, series by series. ``decided``
    where somebody decided that they count together.
    """

    key: str
    rows: Sequence[InSeries]
    decided: PoolingDecision | None


def needs_runs(points: Iterable[CommitPoint]) -> bool:
    """Whether `disagreements` looks at the runs of the commit of ``points`` at all."""
    return any(_is_beyond_noise(point) for point in points)


def disagreements(points: Iterable[CommitPoint], runs: Iterable[Run]) -> list[Disagreement]:
    """Disagreements of the ``points`` of a commit, whose ``runs`` are all of its. A query only
    where somebody decided about one.
    """
    apart = [point for point in points if _is_beyond_noise(point)]
    if not apart:
        return []
    by_uuid = {str(run.uuid): run for run in runs if not run.is_superseded}
    by_key: dict[str, list[InSeries]] = {}
    for point in apart:
        by_key.setdefault(point.uploads["key"], []).append(_in_series(point, by_uuid))
    decided = _decided({point.uploads["key"] for point in apart if not point.disagrees})
    return [Disagreement(key, rows, decided.get(key)) for key, rows in by_key.items()]


def waiting() -> list[tuple[Point, str]]:
    """Points that wait for a decision, the newest of their trees first, and how far apart their
    runs are, in percent; one more than is shown.
    """
    found = Point.objects.that_disagree().with_subjects().select_related("revision__tree")
    parts = ("series__tree__name", "-position", "series__mode__name", "series__hardware__name")
    return [
        (point, half_width(point.uploads["found"]["percent"]))
        for point in found.order_by(*parts)[: WAITING_SHOWN + 1]
    ]


@require_POST
@triager_required
def act(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """Count runs together, or undo that. Http404 for an unknown commit."""
    commit = commit_at(tree, revision)
    try:
        messages.success(request, _do(request, commit))
    except services.Unprocessable as error:
        for problem in error.problems:
            messages.error(request, problem.message)
    return redirect(commit)


def _do(request: HttpRequest, commit: Revision) -> str:
    by = signed_in_user(request)
    if request.POST.get("act") == "undo":
        number = read_number(request.POST.get("decision", ""))
        services.undo_pooling_decision(decision=number, by=by)
        return "Undone: the runs are judged as they are. Their series are analysed anew."
    key = read_text(request.POST, "key", 64)
    services.count_together(revision=commit, key=key, by=by)
    return "The runs count together. Their series are analysed anew."


def _is_beyond_noise(point: CommitPoint) -> bool:
    found: Mapping[str, Any] | None = point.uploads and point.uploads["found"]
    return bool(found and found["beyond"])


def _in_series(point: CommitPoint, by_uuid: Mapping[str, Run]) -> InSeries:
    found = point.uploads["found"]
    uploads = [
        UploadLine(by_uuid[one["name"]], one["mean"], one["n"])
        for one in point.uploads["runs"]
        if one["name"] in by_uuid
    ]
    return InSeries(
        point.series,
        sorted(uploads, key=lambda one: (-one.mean, str(one.run.uuid))),
        found["percent"],
        found["chance"],
        found["limit"],
        [found["first"], found["second"]] if found.get("of_sessions") else [],
    )


def _decided(keys: set[str]) -> dict[str, PoolingDecision]:
    if not keys:
        return {}
    rows = PoolingDecision.objects.in_force().filter(key__in=keys).select_related("decided_by")
    return {row.key: row for row in rows}


RUNS_SHOWN = 30
"""Runs (in one metric) of a commit that are shown with each sample; the API has all."""


@dataclass(frozen=True, slots=True)
class MarkLine:
    """One mark: the number of its sample from 1, the value in the metric's unit, and why it counts
    though it is marked; empty: it does not.
    """

    number: int
    value: float
    mark: Mark
    why_counted: str


@dataclass(frozen=True, slots=True)
class MarkedRun:
    """One run in one metric with its marks; ``decision`` where somebody decided."""

    run: Run
    measurement: Measurement
    lines: Sequence[MarkLine]
    decision: SampleDecision | None

    @property
    def summary(self) -> str:
        """What it comes to."""
        excluded = self.measurement.excluded
        if excluded is not None:
            return excluded.text
        samples = len({line.number for line in self.lines})
        of = len(self.measurement.samples)
        return f"{samples} of {of} samples marked; all count"


def marked_runs(runs: Iterable[Run]) -> list[MarkedRun]:
    """The runs among ``runs`` (``with_marks``) that have marks and are not withdrawn. A query only
    where there are any.
    """
    found = [
        (run, one)
        for run in runs
        if not run.is_withdrawn
        for one in run.marked  # type: ignore[attr-defined]
    ]
    if not found:
        return []
    decided = SampleDecision.objects.of_all([one for _, one in found])
    return [MarkedRun(run, one, _lines(one, decided), decided.get(one.pk)) for run, one in found]


@require_POST
@triager_required
def decide_samples_of(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """Have marked samples count or not, or undo that. Http404 for an unknown commit."""
    commit = commit_at(tree, revision)
    try:
        messages.success(request, _decide(request))
    except services.Unprocessable as error:
        for problem in error.problems:
            messages.error(request, problem.message)
        return redirect(commit)
    return redirect(commit.get_absolute_url() + _anchor(request))


def _anchor(request: HttpRequest) -> str:
    """Where the page goes on with the run and metric that were decided about: browsers open the
    `details` that holds what an address names."""
    run, metric = (request.POST.get(name, "")[:100] for name in ("run", "metric"))
    return f"#marked-{quote(run)}-{quote(metric)}"


def _decide(request: HttpRequest) -> str:
    by = signed_in_user(request)
    choice = request.POST.get("act", "")[:20]
    if choice == "undo":
        services.undo_sample_decision(decision=read_number(request.POST.get("decision", "")), by=by)
        return "Undone: the marks alone decide which samples count. The series is analysed anew."
    metric = read_text(request.POST, "metric", 100)
    services.decide_samples(runs=_run_of(request), choice=choice, metric=metric, by=by)
    verb = "count" if choice == SampleDecision.Choice.COUNT else "are left out"
    return f"The marked samples {verb}. The series is analysed anew."


def _run_of(request: HttpRequest) -> list[UUID]:
    try:
        return [UUID(request.POST.get("run", ""))]
    except ValueError:
        return []


def _lines(one: Measurement, decided: dict[int, SampleDecision]) -> list[MarkLine]:
    marks, excluded = one.marks, set(one.left_out or ())
    return [
        MarkLine(
            mark.sample + 1,
            one.samples[mark.sample],
            mark,
            "" if mark.sample in excluded else _why(mark, marks, one, decided),
        )
        for mark in sorted(marks, key=lambda mark: mark.sample)
    ]


def _why(
    mark: Mark, marks: Sequence[Mark], one: Measurement, decided: dict[int, SampleDecision]
) -> str:
    if one.pk in decided:
        return "counts, as was decided"
    return f"counts, {why_counted(mark, marks, len(one.samples))}"
