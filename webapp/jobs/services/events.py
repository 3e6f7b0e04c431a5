"""The log of jobs; how a job leaves its worker, back into the queue or ended; when an attempt that
failed is made again; and why something about a job is refused.

`job_ended` is sent (``job``: a `Job`) inside the transaction that ends the job, so what a receiver
writes is there when the end is; what it sends must wait for the commit. A receiver that raises
undoes the end. Where a receiver queues a task, a sweep looks at the jobs that ended all the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.dispatch import Signal

from webapp.accounts.models import User
from webapp.jobs import waiting_polls
from webapp.jobs.models import Job, JobEvent
from webapp.labs.models import Agent

NUMBER_MAX = 2**63 - 1
Kind = JobEvent.Kind
NOW = timedelta(0)
REASON_MAX = 500
HEARD = ("lease_until", "last_heard_at", "started_at")
"""What a word of the worker changes."""

LEASE = timedelta(minutes=5)
"""How long a worker holds a job from its last word on."""

job_ended = Signal()


class JobsError(Exception):
    """Base; the message states what is wrong and what to do instead."""


class NoSuchJob(JobsError):
    """No job has this number."""


class ForeignJob(JobsError):
    """The job is for hardware of another lab than the agent's."""


class LeaseLost(JobsError):
    """The sender no longer holds the job."""


class ActRefused(JobsError):
    """What a person asked for makes no sense now, or is out of bounds."""


class ResultRefused(JobsError):
    """The result is not what the job asked for; ``code`` names the way."""

    code = "wrong_job"


class WrongKernel(ResultRefused):
    """Another revision was measured than the job's."""

    code = "wrong_kernel"


def note(job: Job, kind: Kind, at: datetime, *, actor: User | None = None, **fields: Any) -> None:
    """Add to the job's log."""
    JobEvent.objects.create(job=job, kind=kind, at=at, actor=actor, **fields)


def fail_attempt(job: Job, *, stage: str, reason: str) -> None:
    """Remember the failure of the present attempt. Needs ``put_back`` or ``end`` after it."""
    job.failure_stage, job.failure_reason = stage, reason[:REASON_MAX]


def put_back(job: Job, at: datetime, *, pause: timedelta = NOW) -> None:
    """Queue it again; another worker may take it after ``pause``."""
    job.state, job.lease_until, job.worker = Job.State.QUEUED, None, None
    job.not_before = at + pause
    _forget_progress(job)
    job.save()
    waiting_polls.announce_on_commit()


def extend_lease(job: Job, at: datetime) -> None:
    """Begin the lease of a job anew, whose worker reported. Needs the ``HEARD`` saved after it."""
    _shorten_silence(job, at)
    job.lease_until, job.last_heard_at = at + LEASE, at


def end(job: Job, state: str, at: datetime) -> None:
    """Done, failed or cancelled. `job_ended` is sent in this transaction."""
    _shorten_silence(job, at)
    job.state, job.lease_until, job.ended_at = state, None, at
    _forget_progress(job)
    job.save()
    job_ended.send(Job, job=job)


def end_cancelled(job: Job, at: datetime, *, actor: User | None = None) -> None:
    """End a job whose cancellation was asked for."""
    end(job, Job.State.CANCELLED, at)
    note(job, Kind.CANCELLED, at, actor=actor, worker=job.worker, reason=job.cancel_reason)


def _shorten_silence(job: Job, at: datetime) -> None:
    """Count a silence as work for no longer than a lease: a clock that was set forward by days, or
    a server that was down, must not use up the hours of a bisect.
    """
    if job.started_at and job.last_heard_at:
        job.started_at += max(at - job.last_heard_at - LEASE, NOW)


def _forget_progress(job: Job) -> None:
    job.stage, job.stage_since, job.progress = "", None, ""


def lock_job(number: int) -> Job:
    """The job, which nobody else changes until this transaction ends. Raises NoSuchJob."""
    locked = Job.objects.named().select_for_update(of=["self"], no_key=True)
    job = locked.filter(pk=number).first() if 0 <= number <= NUMBER_MAX else None
    if job is None:
        raise NoSuchJob(f"there is no job {number}")
    return job


def lock_job_for(number: int, agent: Agent) -> Job:
    """`lock_job` for an agent that reports on it. Raises NoSuchJob, ForeignJob."""
    job = lock_job(number)
    if job.hardware.lab_id != agent.lab_id:
        raise ForeignJob(f"job {number} is for hardware of another lab than this token")
    return job


@dataclass(frozen=True, slots=True)
class Rule:
    """``tries`` failures at a stage end the job; before that it waits for ``pause``."""

    tries: int
    pause: timedelta


# A revision that does not build will not build tomorrow; once more, for a full disk. Boots fail now
# and then. A lab that is out of order needs somebody's time, not ours.
RULES: dict[str, Rule] = {
    Job.Stage.BUILD: Rule(tries=2, pause=timedelta(0)),
    Job.Stage.BOOT: Rule(tries=3, pause=timedelta(minutes=1)),
    Job.Stage.RUN: Rule(tries=3, pause=timedelta(minutes=1)),
    Job.Stage.UPLOAD: Rule(tries=5, pause=timedelta(minutes=1)),
    Job.Stage.LAB: Rule(tries=5, pause=timedelta(minutes=5)),
}
LONGEST_PAUSE = max(rule.pause for rule in RULES.values())


def may_be_tried_again(job: Job, *, stage: str, failures: int) -> bool:
    """Whether a job that failed ``failures`` times at ``stage`` gets another attempt."""
    return failures < RULES[stage].tries and job.attempts < job.max_attempts
