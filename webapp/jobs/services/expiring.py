"""What time does to jobs: leases run out, deadlines pass, and the clock is set back."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Least
from django.utils import timezone

from webapp.jobs.models import Job, Worker
from webapp.jobs.rules import LEASE, LONGEST_PAUSE
from webapp.jobs.services.events import Kind, end, end_cancelled, fail_attempt, note, put_back

CLOCKS_DIFFER_BY = timedelta(minutes=1)
"""Those of two machines of one instance, without anything being wrong."""

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


@transaction.atomic
def correct_times(*, now: datetime | None = None) -> int:
    """Take back what lies further ahead than anything we write: the clock was set back. How many.

    Otherwise jobs would wait, and silent workers count as alive, until it is there again.
    """
    at = now or timezone.now()
    ahead = at + CLOCKS_DIFFER_BY
    times = ("started_at", "last_heard_at", "stage_since")
    leased = Job.objects.leased().filter(lease_until__gt=ahead + LEASE)
    queued = Job.objects.queued().filter(
        Q(not_before__gt=ahead + LONGEST_PAUSE) | Q(created_at__gt=ahead)
    )
    return (
        leased.update(lease_until=at + LEASE, **{name: Least(name, at) for name in times})
        + queued.update(not_before=Least("not_before", at), created_at=Least("created_at", at))
        + Worker.objects.filter(last_seen_at__gt=ahead).update(last_seen_at=at)
    )


def pass_time(*, now: datetime | None = None) -> None:
    """Correct times, end leases and cancel overdue jobs, until nothing is left to do."""
    correct_times(now=now)
    while expire_leases(now=now) == AT_ONCE:
        pass
    while cancel_overdue(now=now) == AT_ONCE:
        pass
