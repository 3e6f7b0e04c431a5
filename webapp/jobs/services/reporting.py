"""What a worker says about the job it holds."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.jobs.errors import LeaseLost
from webapp.jobs.models import Job, Worker
from webapp.jobs.services.events import (
    HEARD,
    REASON_MAX,
    RULES,
    Kind,
    end,
    end_cancelled,
    extend_lease,
    fail_attempt,
    lock_job_for,
    may_be_tried_again,
    note,
    put_back,
)
from webapp.jobs.services.leasing import was_leased
from webapp.labs.models import Agent

PROGRESS_MAX = 200
HEARTBEAT_LOG, FAILURE_LOG = 4 * 2**10, 64 * 2**10
"""Characters; of a longer log the end is kept, where the error is."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The answer to a heartbeat: whether to go on, and if not, why."""

    state: str
    cancel: bool
    reason: str


def hear(
    *,
    number: int,
    agent: Agent,
    lease: str,
    stage: str,
    progress: str = "",
    log: str = "",
    now: datetime | None = None,
) -> Heard:
    """Extend the lease, note what the worker does. A job that ended says so with ``cancel``.

    Raises:
        NoSuchJob, ForeignJob.
        LeaseLost: another worker may have the job; a result is taken all the same.
    """
    at = now or timezone.now()
    # By itself: a poll locks first its worker and then its job.
    Worker.objects.filter(agent=agent, jobs__lease=lease).update(last_seen_at=at)
    return _hear(number, agent, lease, at, stage=stage, progress=progress, log=log)


@transaction.atomic
def _hear(number: int, agent: Agent, lease: str, at: datetime, **progress: str) -> Heard:
    job = lock_job_for(number, agent)
    if job.lease != lease:
        raise LeaseLost(f"job {number} is no longer yours; a result of it is still welcome")
    if job.has_ended:
        return Heard(job.state, cancel=True, reason=job.cancel_reason or f"the job is {job.state}")
    if job.state != Job.State.LEASED:
        raise LeaseLost(f"the lease of job {number} ran out; a result of it is still welcome")
    _note_progress(job, at, **progress)
    return Heard(job.state, cancel=job.cancel_requested, reason=job.cancel_reason)


def _note_progress(job: Job, at: datetime, *, stage: str, progress: str, log: str) -> None:
    if job.stage != stage:
        job.stage, job.stage_since = stage, at
    job.progress, job.log = progress[:PROGRESS_MAX], log[-HEARTBEAT_LOG:] or job.log
    extend_lease(job, at)
    job.save(update_fields=["stage", "stage_since", "progress", "log", *HEARD])


@transaction.atomic
def fail(
    *,
    number: int,
    agent: Agent,
    lease: str,
    stage: str,
    reason: str,
    log: str = "",
    now: datetime | None = None,
) -> Job:
    """The attempt failed: try again later, or give the job up. Said twice is as once.

    Raises:
        NoSuchJob, ForeignJob.
        LeaseLost: the lease never was one of this job.
    """
    at = now or timezone.now()
    job = lock_job_for(number, agent)
    if job.state != Job.State.LEASED or job.lease != lease:
        if not was_leased(job, lease):
            raise LeaseLost(f"job {number} was never yours")
        return job
    fail_locked(job, stage=stage, reason=reason, log=log, at=at)
    return job


def fail_locked(job: Job, *, stage: str, reason: str, log: str = "", at: datetime) -> None:
    """`fail` for a leased job that the caller has locked."""
    stated = reason.strip()[:REASON_MAX] or "no reason was given"
    if job.cancel_requested:
        end_cancelled(job, at)
        return
    note(
        job,
        Kind.FAILED,
        at,
        worker=job.worker,
        lease=job.lease,
        stage=stage,
        reason=stated,
        log=log[-FAILURE_LOG:],
    )
    fail_attempt(job, stage=stage, reason=stated)
    if may_be_tried_again(job, stage=stage, failures=_failures(job, stage)):
        put_back(job, at, pause=RULES[stage].pause)
    else:
        end(job, Job.State.FAILED, at)
        note(job, Kind.GAVE_UP, at, stage=stage, reason=f"after {job.attempts} attempts: {stated}")


def _failures(job: Job, stage: str) -> int:
    """At a stage, since a person last queued the job again."""
    retried = job.events.filter(kind=Kind.RETRIED).order_by("-pk").values_list("pk", flat=True)
    failed = job.events.filter(kind=Kind.FAILED, stage=stage, pk__gt=retried.first() or 0)
    return failed.count()
