"""Ask for measurements, cancel them, try them again, change their priority."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.accounts.models import User
from webapp.jobs import models, waiting_polls
from webapp.jobs.queries import Durations
from webapp.jobs.services import events
from webapp.results.models import Hardware, Metric, Mode, Revision
from webapp.results.services import begin_writing

MOST_BUILDS = 10
"""Of one revision, in one request by a person."""

PRIORITIES: dict[str, int] = {
    models.Job.Purpose.BISECT: 60,
    models.Job.Purpose.CONFIRM: 50,
    models.Job.Purpose.CANARY: 45,
    models.Job.Purpose.MORE_RUNS: 40,
    models.Job.Purpose.PROFILE: 40,
    models.Job.Purpose.FILL_GAP: 30,
}
"""Who waits for it: a search stands still, a person may look again tomorrow. A canary has its day,
so it comes before what people ask for."""

BY_PEOPLE = (
    models.Job.Purpose.MORE_RUNS,
    models.Job.Purpose.FILL_GAP,
    models.Job.Purpose.CONFIRM,
    models.Job.Purpose.PROFILE,
)


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What is to be measured. ``metric`` is the one that matters, None: all of the mode's.

    ``rebuild`` asks for a build of its own, which ``build_key`` names. ``priority`` follows
    from the purpose where it is None.
    """

    purpose: str
    revision: Revision
    hardware: Hardware
    mode: Mode
    metric: Metric | None = None
    boots: int = 1
    iterations: int = 1
    rebuild: bool = False
    build_key: str = ""
    priority: int | None = None
    reason: str = ""
    not_before: datetime | None = None
    deadline: datetime | None = None
    max_attempts: int = models.ATTEMPTS


@transaction.atomic
def request_jobs(
    *, requests: Sequence[JobRequest], requested_by: User | None, now: datetime | None = None
) -> list[models.Job]:
    """Queue jobs, in the order given; waiting workers are woken when this is committed. Raises
    ActRefused: a number is out of bounds; nothing is queued then.
    """
    at = now or timezone.now()
    for request in requests:
        _check(request)
    begin_writing()
    durations = Durations.of({request.hardware.pk for request in requests})
    jobs = models.Job.objects.bulk_create(
        [_job(each, requested_by, at, durations) for each in requests]
    )
    models.JobEvent.objects.bulk_create(
        models.JobEvent(
            job=job, at=at, kind=models.JobEvent.Kind.QUEUED, actor=requested_by, reason=job.reason
        )
        for job in jobs
    )
    waiting_polls.announce_on_commit()
    return jobs


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a request: ``queued`` are new, ``already_queued`` were asked for before."""

    queued: Sequence[models.Job]
    already_queued: Sequence[models.Job]


@transaction.atomic
def request_more_runs(
    *,
    revisions: Sequence[Revision],
    hardware: Hardware,
    mode: Mode,
    boots: int,
    requested_by: User | None,
    purpose: str = models.Job.Purpose.MORE_RUNS,
    metric: Metric | None = None,
    reason: str = "",
) -> Asked:
    """One job of ``boots`` boots of each revision: more runs of a point, or a point that lacks.

    What waits or is measured already is not queued a second time, whatever its purpose was; a
    profile alone waits for none but a profile. Raises ActRefused: ``boots`` or ``purpose`` is none
    that a person can ask for.
    """
    if purpose not in BY_PEOPLE:
        raise events.ActRefused("purpose: choose more runs, fill gap, confirm or profile")
    begin_writing()
    already_queued = _already_queued(revisions, hardware, mode, metric, purpose)
    requests = [
        JobRequest(
            purpose=purpose,
            revision=revision,
            hardware=hardware,
            mode=mode,
            metric=metric,
            boots=boots,
            reason=reason,
        )
        for revision in revisions
        if revision.pk not in already_queued
    ]
    queued = request_jobs(requests=requests, requested_by=requested_by)
    return Asked(queued, list(already_queued.values()))


@transaction.atomic
def request_builds(
    *,
    revisions: Sequence[Revision],
    hardware: Hardware,
    mode: Mode,
    boots: int,
    builds: int,
    requested_by: User | None,
) -> Asked:
    """So many builds anew of each revision, a job of ``boots`` boots each.

    Those that wait or are measured already are not queued a second time. Raises ActRefused: a
    number is none that a person can ask for.
    """
    if not 1 <= builds <= MOST_BUILDS:
        raise events.ActRefused(f"builds: ask for 1 to {MOST_BUILDS}")
    begin_writing()
    _lock(revisions)
    waiting = list(
        models.Job.objects.asked_for(revisions)
        .filter(hardware=hardware, mode=mode, metric=None, rebuild=True)
        .named()
        .order_by("pk")
    )
    counts = Counter(job.revision_id for job in waiting)
    requests = [
        JobRequest(
            purpose=models.Job.Purpose.MORE_RUNS,
            revision=revision,
            hardware=hardware,
            mode=mode,
            boots=boots,
            rebuild=True,
        )
        for revision in revisions
        for _ in range(builds - counts[revision.pk])
    ]
    return Asked(request_jobs(requests=requests, requested_by=requested_by), waiting)


def _lock(revisions: Sequence[Revision]) -> None:
    """The revisions stay locked until the transaction ends: of two who ask at once, the second
    sees what the first queued. Uploads go on, for they need no more than the key.
    """
    ids = [revision.pk for revision in revisions]
    list(Revision.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))


def _already_queued(
    revisions: Sequence[Revision],
    hardware: Hardware,
    mode: Mode,
    metric: Metric | None,
    purpose: str,
) -> dict[int, models.Job]:
    """The first job of each revision (id) that measures the same already."""
    _lock(revisions)
    same = models.Job.objects.asked_for(revisions).filter(
        Q(metric__isnull=True) | Q(metric=metric), hardware=hardware, mode=mode
    )
    if purpose == models.Job.Purpose.PROFILE:
        same = same.filter(purpose=purpose)
    return {job.revision_id: job for job in same.named().order_by("-pk")}


def check_priority(priority: int) -> None:
    """Raise ActRefused unless jobs can have it."""
    if not models.LEAST_PRIORITY <= priority <= models.MOST_PRIORITY:
        raise events.ActRefused(
            f"priority: give a number from {models.LEAST_PRIORITY} to {models.MOST_PRIORITY}"
        )


def _check(request: JobRequest) -> None:
    if not 1 <= request.boots <= models.MOST_BOOTS:
        raise events.ActRefused(f"boots: ask for 1 to {models.MOST_BOOTS}")
    if not 1 <= request.iterations <= models.MOST_ITERATIONS:
        raise events.ActRefused(f"iterations: ask for 1 to {models.MOST_ITERATIONS}")
    if request.priority is not None:
        check_priority(request.priority)


def _job(request: JobRequest, user: User | None, at: datetime, durations: Durations) -> models.Job:
    priority = PRIORITIES[request.purpose] if request.priority is None else request.priority
    return models.Job(
        purpose=request.purpose,
        reason=request.reason[: events.REASON_MAX],
        tree_id=request.revision.tree_id,
        revision=request.revision,
        hardware=request.hardware,
        mode=request.mode,
        metric=request.metric,
        boots=request.boots,
        iterations=request.iterations,
        rebuild=request.rebuild,
        build_key=request.build_key,
        priority=priority,
        requested_by=user,
        created_at=at,
        not_before=request.not_before or at,
        deadline=request.deadline,
        max_attempts=request.max_attempts,
        estimate_seconds=durations.estimate(
            hardware=request.hardware.pk, mode=request.mode.pk, boots=request.boots
        ),
    )


@transaction.atomic
def cancel_job(
    *, job: int, reason: str, actor: User | None = None, now: datetime | None = None
) -> models.Job:
    """Cancel a queued job at once; a worker hears of it at its next heartbeat. Idempotent.

    A job that ended is left as it is. ``actor`` is None for the system. Raises NoSuchJob;
    ActRefused: no reason is given.
    """
    at = now or timezone.now()
    if not reason.strip():
        raise events.ActRefused("reason: say why the job is cancelled")
    row = events.lock_job(job)
    if row.has_ended or row.cancel_requested:
        return row
    row.cancel_requested, row.cancel_reason = True, reason.strip()[: events.REASON_MAX]
    if row.state == models.Job.State.QUEUED:
        events.end_cancelled(row, at, actor=actor)
        return row
    row.save(update_fields=["cancel_requested", "cancel_reason"])
    events.note(
        row,
        events.Kind.CANCEL_REQUESTED,
        at,
        actor=actor,
        worker=row.worker,
        reason=row.cancel_reason,
    )
    return row


@transaction.atomic
def change_priority(*, job: int, priority: int, actor: User) -> models.Job:
    """Let a queued job come sooner or later. Raises NoSuchJob, ActRefused."""
    check_priority(priority)
    row = events.lock_job(job)
    if row.state != models.Job.State.QUEUED:
        raise events.ActRefused(
            f"job {job} is {row.state}: only a queued job has a place to change"
        )
    if row.priority == priority:
        return row
    change = f"from {row.priority} to {priority}"
    row.priority = priority
    row.save(update_fields=["priority"])
    events.note(row, events.Kind.PRIORITY, timezone.now(), actor=actor, reason=change)
    return row


@transaction.atomic
def retry_job(*, job: int, actor: User, now: datetime | None = None) -> models.Job:
    """Queue a failed or cancelled job again, as if it were new. Raises NoSuchJob, ActRefused."""
    at = now or timezone.now()
    row = events.lock_job(job)
    if not row.may_be_retried:
        raise events.ActRefused(
            f"job {job} is {row.state}: only a failed or cancelled one can be retried"
        )
    events.note(
        row, events.Kind.RETRIED, at, actor=actor, reason=row.cancel_reason or row.failure_reason
    )
    row.attempts, row.ended_at, row.deadline = 0, None, None
    row.cancel_requested, row.cancel_reason = False, ""
    row.failure_stage, row.failure_reason = "", ""
    events.put_back(row, at)
    return row
