"""Have candidates booted once more, in the trees whose settings say so.

A candidate rests on one revision. Another boot of it and of the one before it says sooner whether
anything is there: a boot that went wrong is outweighed, and the candidate goes. What no boot of the
same build can say is that the build was not merely lucky, so the detector confirms by the next
revision all the same.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

import structlog
from django.db.models import Exists, OuterRef
from django.utils import timezone

from webapp.alerts.queries import of_interest
from webapp.analysis.models import Finding
from webapp.bisects.models import Bisect, BisectSettings
from webapp.bisects.workers import offers
from webapp.jobs.models import Job
from webapp.jobs.queries import Capability
from webapp.jobs.services import request_more_runs
from webapp.results.models import Run

AT_ONCE = 20
log = structlog.get_logger()


def confirm_candidates(*, now: datetime | None = None) -> int:
    """Queue a boot of each candidate and of the revision before it; how many jobs were queued.

    Once for each revision, hardware and mode, and only where a worker serves them: what nobody
    measures is not piled up. Safe to run twice and at once.
    """
    able = offers(now or timezone.now())
    if not able:
        return 0
    waiting = (row for row in _waiting(able) if any(serves.covers(row.series) for serves in able))
    return sum(_confirm(row) for row in islice(waiting, AT_ONCE))


def _waiting(able: Sequence[Capability]) -> Iterable[Finding]:
    """Candidates worth an alert that nobody has had measured again, on hardware that is served.

    Those of history are not, nor those in a series where a bisect measures single boots.
    """
    measured_there = {
        "revision": OuterRef("revision"),
        "hardware": OuterRef("series__hardware"),
        "mode": OuterRef("series__mode"),
    }
    trees = BisectSettings.objects.filter(confirm_candidates=True).values("tree")
    candidates = Finding.objects.filter(state=Finding.State.CANDIDATE, series__tree__in=trees)
    return (
        of_interest(candidates)
        .filter(Exists(Run.objects.counted().plain().filter(history=False, **measured_there)))
        .exclude(series__in=Bisect.objects.running().values("series"))
        .exclude(Exists(Job.objects.filter(purpose=Job.Purpose.CONFIRM, **measured_there)))
        .select_related("revision", "previous", "series__hardware", "series__mode")
        .select_related("series__metric")
        .filter(series__hardware__in={serves.hardware for serves in able})
        .order_by("pk")
    )


def _confirm(row: Finding) -> int:
    series = row.series
    asked = request_more_runs(
        revisions=[row.previous, row.revision],
        hardware=series.hardware,
        mode=series.mode,
        boots=1,
        requested_by=None,
        purpose=Job.Purpose.CONFIRM,
        metric=series.metric,
        reason=f"candidate at {row.revision}: {row.change_pct:+.1f} %".replace("-", "−"),
    )
    log.info("candidate measured again", finding=row.pk, jobs=[job.pk for job in asked.queued])
    return len(asked.queued)
