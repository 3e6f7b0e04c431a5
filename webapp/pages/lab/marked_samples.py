"""Samples of a commit that may not measure what they should, and deciding whether they count.

`/commits/<tree>/<revision>/samples/` takes the decision and its undo.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from webapp.accounts.services import signed_in_user, triager_required
from webapp.pages.parts.links import commit_at, read_number, read_text
from webapp.results.models import Mark, Measurement, Run, SampleDecision, why_counted
from webapp.results.services import Unprocessable, decide_samples, undo_sample_decision

SHOWN = 30
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
def act(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """Have marked samples count or not, or undo that. Http404 for an unknown commit."""
    commit = commit_at(tree, revision)
    try:
        messages.success(request, _do(request))
    except Unprocessable as error:
        for problem in error.problems:
            messages.error(request, problem.message)
        return redirect(commit)
    return redirect(commit.get_absolute_url() + _anchor(request))


def _anchor(request: HttpRequest) -> str:
    """Where the page goes on with the run and metric that were decided about: browsers open the
    `details` that holds what an address names."""
    run, metric = (request.POST.get(name, "")[:100] for name in ("run", "metric"))
    return f"#marked-{quote(run)}-{quote(metric)}"


def _do(request: HttpRequest) -> str:
    by = signed_in_user(request)
    choice = request.POST.get("act", "")[:20]
    if choice == "undo":
        undo_sample_decision(decision=read_number(request.POST.get("decision", "")), by=by)
        return "Undone: the marks alone decide which samples count. The series is analysed anew."
    metric = read_text(request.POST, "metric", 100)
    decide_samples(runs=_runs(request), choice=choice, metric=metric, by=by)
    verb = "count" if choice == SampleDecision.Choice.COUNT else "are left out"
    return f"The marked samples {verb}. The series is analysed anew."


def _runs(request: HttpRequest) -> list[UUID]:
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
