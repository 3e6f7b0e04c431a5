"""What time does to jobs: leases run out, deadlines pass."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.jobs.models import Job
from webapp.jobs.services.log import Kind, end, end_cancelled, fail_attempt, note, put_back

AT_ONCE = 100
"""Rows of one transaction; the sweep comes again."""


@transaction.atomic(savepoint=False)
def expire_leases(*, now: datetime | None = None) -> int:
    """Queue jobs again whose worker fell silent; give up those tried too often. Their number."""
    at = now or timezone.now()
    locked = Job.objects.expired(at).select_for_update(of=["self"], no_key=True, skip_locked=True)
    expired = list(locked.order_by("pk")[:AT_ONCE])
    for job in expired:
        _expire(job, at)
    return len(expired)


def _expire(job: Job, at: datetime) -> None:
    reason = f"nothing was heard from {job.worker or 'its worker'} for its lease"
    note(job, Kind.EXPIRED, at, worker=job.worker, lease=job.lease, reason=reason)
    fail_attempt(job, stage=Job.Stage.LAB, reason=reason)
    if job.cancel_requested:
        end_cancelled(job, at)
    elif job.attempts < job.max_attempts:
        # Another worker may take it at once; a silent one does not ask.
        put_back(job, at)
    else:
        end(job, Job.State.FAILED, at)
        note(job, Kind.GAVE_UP, at, reason=f"after {job.attempts} attempts: {reason}")


@transaction.atomic
def cancel_overdue(*, now: datetime | None = None) -> int:
    """Cancel queued jobs whose deadline passed. Their number."""
    at = now or timezone.now()
    overdue = Job.objects.filter(state=Job.State.QUEUED, deadline__lte=at).order_by("pk")
    jobs = list(overdue.select_for_update(no_key=True, skip_locked=True)[:AT_ONCE])
    for job in jobs:
        job.cancel_requested, job.cancel_reason = True, "its deadline passed"
        end_cancelled(job, at)
    return len(jobs)


def pass_time(*, now: datetime | None = None) -> None:
    """Both, until nothing is left."""
    while expire_leases(now=now) == AT_ONCE:
        pass
    while cancel_overdue(now=now) == AT_ONCE:
        pass
