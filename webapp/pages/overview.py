"""`/`: what is broken now?"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts.models import Agreement
from webapp.alerts.queries import of_interest, with_agreeing
from webapp.analysis.models import Finding, Verdict
from webapp.bisects.models import Bisect
from webapp.pages.alert_summaries import open_by_severity
from webapp.pages.bisect_lines import lines_of
from webapp.pages.summaries import CommitSummary, summarise
from webapp.results.models import Hardware, Revision, Run, Series

ALERTS_SHOWN = 12
REGRESSIONS_SHOWN: Mapping[str, int] = {
    Finding.State.CONFIRMED: 12,
    Finding.State.ONE_BUILD: 6,
    Finding.State.CANDIDATE: 6,
}
AGREEING_SHOWN = 6
TESTED_SHOWN = 15
BISECTS_SHOWN = 20
RUNS_LOOKED_AT = 400
"""The revisions of the runs received last are those tested lately; an index finds these runs."""

SILENT_AFTER = timedelta(days=14)
"""A lab that tests each week may miss one."""


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The first page: open alerts, what was tested lately, bisects, machines."""
    now = timezone.now()
    regressions, tested = _regressions(), _tested_lately()
    found = with_agreeing(Revision.objects.select_related("tree")).in_bulk([*regressions, *tested])
    context = {
        "alerts": open_by_severity(ALERTS_SHOWN),
        "regressions": _summaries(regressions, found),
        "tested": _summaries(tested, found),
        "bisects": lines_of(list(Bisect.objects.running().with_subjects()[:BISECTS_SHOWN])),
        "hardware": _hardware(now),
        "waiting": Series.objects.dirty().count(),
    }
    return render(request, "pages/overview.html", context)


@require_safe
def progress(request: HttpRequest) -> HttpResponse:
    """How many series still wait to be analysed: a line the overview reads again and again."""
    return render(request, "pages/_progress.html", {"waiting": Series.objects.dirty().count()})


def _regressions() -> list[int]:
    """Commits (ids) that made something worse: confirmed, one build a side, candidates of single
    series, then those at which several agree.
    """
    lately = of_interest(Finding.objects.live()).revisions_lately(Verdict.WORSE, REGRESSIONS_SHOWN)
    return list(dict.fromkeys([*lately, *Agreement.objects.losses_lately(AGREEING_SHOWN)]))


def _tested_lately() -> list[int]:
    runs = Run.objects.placed().lately(RUNS_LOOKED_AT).values_list("revision_id", flat=True)
    return list(dict.fromkeys(runs))[:TESTED_SHOWN]


def _summaries(ids: Sequence[int], found: Mapping[int, Revision]) -> list[CommitSummary]:
    return summarise([found[pk] for pk in ids])


def _hardware(now: datetime) -> list[Hardware]:
    """All hardware, that which was silent longest first, each with ``is_silent``."""
    rows = list(Hardware.objects.select_related("lab").with_last_run())
    for row in rows:
        last = row.last_run_at  # type: ignore[attr-defined] # annotated by with_last_run
        row.is_silent = last is not None and now - last > SILENT_AFTER  # type: ignore[attr-defined]
    return sorted(rows, key=lambda row: not row.is_silent)  # type: ignore[attr-defined]
