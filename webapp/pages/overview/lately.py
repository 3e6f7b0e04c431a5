"""`/lately/`: what was tested lately, and losses that are not proven: beside the front page."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.alerts.queries import of_interest
from webapp.analysis.models import Finding, Verdict
from webapp.pages.parts.summaries import CommitSummary, summarise
from webapp.results.models import Revision, Run

REGRESSIONS_SHOWN: Mapping[str, int] = {
    Finding.State.CONFIRMED: 12,
    Finding.State.ONE_BUILD: 6,
    Finding.State.CANDIDATE: 6,
}
TESTED_SHOWN = 15
RUNS_LOOKED_AT = 400
"""The revisions of the runs received last are those tested lately; an index finds these runs."""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Commits where something got worse, proven or not, and those tested last."""
    regressions, tested = _regressions(), _tested_lately()
    found = Revision.objects.select_related("tree").in_bulk([*regressions, *tested])
    context = {
        "regressions": _summaries(regressions, found),
        "tested": _summaries(tested, found),
    }
    return render(request, "pages/lately.html", context)


def _regressions() -> list[int]:
    """Commits (ids) that made something worse: confirmed, one build a side, candidates."""
    return of_interest(Finding.objects.live()).revisions_lately(Verdict.WORSE, REGRESSIONS_SHOWN)


def _tested_lately() -> list[int]:
    runs = Run.objects.placed().plain().lately(RUNS_LOOKED_AT).values_list("revision_id", flat=True)
    return list(dict.fromkeys(runs))[:TESTED_SHOWN]


def _summaries(ids: Sequence[int], found: Mapping[int, Revision]) -> list[CommitSummary]:
    return summarise([found[pk] for pk in ids])
