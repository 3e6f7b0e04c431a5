"""What people do to jobs."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.jobs.errors import ActRefused
from webapp.jobs.models import Job
from webapp.jobs.services.events import REASON_MAX, Kind, end_cancelled, lock_job, note, put_back
from webapp.jobs.services.requesting import check_priority


@transaction.atomic
def cancel_job(
    *, job: int, reason: str, actor: User | None = None, now: datetime | None = None
) -> Job:
    """Cancel a queued job at once; a worker hears of it at its next heartbeat. Idempotent.

    A job that ended is left as it is. ``actor`` is None for the system.

    Raises:
        NoSuchJob.
        ActRefused: no reason is given.
    """
    at = now or timezone.now()
    if not reason.strip():
        raise ActRefused("reason: say why the job is cancelled")
    row = lock_job(job)
    if row.has_ended or row.cancel_requested:
        return row
    row.cancel_requested, row.cancel_reason = True, reason.strip()[:REASON_MAX]
    if row.state == Job.State.QUEUED:
        end_cancelled(row, at, actor=actor)
        return row
    row.save(update_fields=["cancel_requested", "cancel_reason"])
    note(row, Kind.CANCEL_REQUESTED, at, actor=actor, worker=row.worker, reason=row.cancel_reason)
    return row


@transaction.atomic
def change_priority(*, job: int, priority: int, actor: User, now: datetime | None = None) -> Job:
    """Let a queued job come sooner or later. Raises NoSuchJob, ActRefused."""
    check_priority(priority)
    row = lock_job(job)
    if row.state != Job.State.QUEUED:
        raise ActRefused(f"job {job} is {row.state}: only a queued job has a place to change")
    if row.priority == priority:
        return row
    change = f"from {row.priority} to {priority}"
    row.priority = priority
    row.save(update_fields=["priority"])
    note(row, Kind.PRIORITY, now or timezone.now(), actor=actor, reason=change)
    return row


@transaction.atomic
def retry_job(*, job: int, actor: User, now: datetime | None = None) -> Job:
    """Queue a failed or cancelled job again, as if it were new. Raises NoSuchJob, ActRefused."""
    at = now or timezone.now()
    row = lock_job(job)
    if not row.may_be_retried:
        raise ActRefused(f"job {job} is {row.state}: only a failed or cancelled one can be retried")
    note(row, Kind.RETRIED, at, actor=actor, reason=row.cancel_reason or row.failure_reason)
    row.attempts, row.ended_at, row.deadline = 0, None, None
    row.cancel_requested, row.cancel_reason = False, ""
    row.failure_stage, row.failure_reason = "", ""
    put_back(row, at)
    return row
