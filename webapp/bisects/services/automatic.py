"""Start bisects of alerts by themselves, and have candidates booted once more, in the trees whose
settings ask for that.

A candidate rests on one revision. Another boot of it and of the one before it shows sooner whether
anything is there: a boot that went wrong is outweighed, and the candidate goes. No boot of the same
build can show that the build was not merely lucky, so the detector confirms by the next revision
all the same.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of, of_interest
from webapp.analysis.models import Finding
from webapp.bisects.draft import BisectError
from webapp.bisects.models import Bisect, BisectSettings
from webapp.bisects.question import offers
from webapp.bisects.services.drafting import draft_bisect, start_bisect
from webapp.jobs.models import Job
from webapp.jobs.queries import Capability
from webapp.jobs.services import request_more_runs
from webapp.results.models import Revision, Run
from webapp.results.services import begin_writing, lock_trees

AT_ONCE = 20
log = structlog.get_logger()

REQUESTED_AT_ONCE = 20


def start_automatic_bisects() -> list[int]:
    """One for each open alert that has several suspects and no bisect yet; their numbers.

    Safe to run twice and at once.
    """
    at = timezone.now()
    started = [_start(alert, tree, at) for alert, tree in _waiting()]
    return [number for number in started if number is not None]


def _waiting() -> list[tuple[int, int]]:
    """Alerts without a bisect, with their trees, the newest first: those of which none can begin
    (the noise is not known) wait on, and must not hold up the others.
    """
    trees = BisectSettings.objects.filter(automatic=True).values("tree")
    waiting = (
        Alert.objects.open()
        .of_levels()
        .filter(
            tree__in=trees, is_active=True, history=False, one_build=False, bisects__isnull=True
        )
    )
    several = Revision.objects.filter(
        tree=OuterRef("tree"),
        position__gt=OuterRef("after__position"),
        position__lt=OuterRef("revision__position"),
    )
    waiting = waiting.exclude(state=Alert.State.RECOVERED).filter(Exists(several))
    return list(waiting.order_by("-pk").values_list("pk", "tree_id")[:AT_ONCE])


@transaction.atomic
def _start(alert: int, tree: int, now: datetime) -> int | None:
    begin_writing()
    lock_trees([tree])
    row = Alert.objects.with_revisions().filter(pk=alert, bisects__isnull=True).first()
    worst = findings_of([alert]).with_subjects().first()
    if (
        row is None
        or row.one_build
        or not row.suspects_commits
        or worst is None
        or worst.series.is_cost
        or not worst.change_pct
        or not _has_several(row)
    ):
        return None
    try:
        with transaction.atomic():
            bisect = _begin(row, worst, now)
    except BisectError as error:
        # Not for ever: more uploads may show the noise, and the next sweep tries again.
        log.info("no bisect started", alert=alert, reason=str(error))
        return None
    log.info("bisect started", alert=alert, bisect=bisect.pk)
    return int(bisect.pk)


def _begin(alert: Alert, worst: Finding, now: datetime) -> Bisect:
    draft = draft_bisect(
        series=worst.series,
        good=alert.after,
        bad=alert.revision,
        effect_pct=worst.change_pct or 0.0,
        alert=alert,
        now=now,
    )
    return start_bisect(draft=draft, created_by=None)


def _has_several(alert: Alert) -> bool:
    return Revision.objects.between(alert.after, alert.revision).exists()


def confirm_candidates() -> int:
    """Queue a boot of each candidate and of the revision before it; how many jobs were queued.

    Once for each revision, hardware and mode, and only where a worker serves them: what nobody
    measures is not piled up. Safe to run twice and at once.
    """
    able = offers(timezone.now())
    if not able:
        return 0
    waiting = (
        row
        for row in _waiting_candidates(able)
        if any(serves.covers(row.series) for serves in able)
    )
    return sum(_confirm(row) for row in islice(waiting, REQUESTED_AT_ONCE))


def _waiting_candidates(able: Sequence[Capability]) -> Iterable[Finding]:
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
