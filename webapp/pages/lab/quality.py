"""`/quality/`: how good the alerts were, which series to quieten, and runs of one commit that
disagree beyond their noise, which the page of the commit shows too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from webapp.results.models import Point, PoolingDecision, Revision, Run, Tree
from webapp.results.queries import NamedSeries
from webapp.results.services import Unprocessable, count_together, undo_pooling_decision
from webapp.stats.proportion import Proportion

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


class WaitingLine(NamedTuple):
    """A point that waits for a decision, and how far apart its runs are, in percent."""

    point: Point
    size: str


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


def waiting() -> list[WaitingLine]:
    """Points that wait for a decision, the newest of their trees first; one more than is shown."""
    found = Point.objects.that_disagree().with_subjects().select_related("revision__tree")
    parts = ("series__tree__name", "-position", "series__mode__name", "series__hardware__name")
    return [
        WaitingLine(point, half_width(point.uploads["found"]["percent"]))
        for point in found.order_by(*parts)[: WAITING_SHOWN + 1]
    ]


@require_POST
@triager_required
def act(request: HttpRequest, tree: str, revision: str) -> HttpResponse:
    """Count runs together, or undo that. Http404 for an unknown commit."""
    commit = commit_at(tree, revision)
    try:
        messages.success(request, _do(request, commit))
    except Unprocessable as error:
        for problem in error.problems:
            messages.error(request, problem.message)
    return redirect(commit)


def _do(request: HttpRequest, commit: Revision) -> str:
    by = signed_in_user(request)
    if request.POST.get("act") == "undo":
        number = read_number(request.POST.get("decision", ""))
        undo_pooling_decision(decision=number, by=by)
        return "Undone: the runs are judged as they are. Their series are analysed anew."
    key = read_text(request.POST, "key", 64)
    count_together(revision=commit, key=key, by=by)
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
