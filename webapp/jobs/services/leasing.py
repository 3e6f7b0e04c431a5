"""Hand a job to a worker, once; end leases of silent workers, and jobs whose deadline passed."""

import random
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Model, Q
from django.db.models.functions import Least
from django.utils import timezone

from webapp.jobs import waiting_polls
from webapp.jobs.capability import TAKES, Capability, as_json
from webapp.jobs.models import Job, JobEvent, Worker
from webapp.jobs.services.events import (
    HEARD,
    LEASE,
    LONGEST_PAUSE,
    Kind,
    end,
    end_cancelled,
    extend_lease,
    fail_attempt,
    note,
    put_back,
)
from webapp.labs.models import Agent
from webapp.results import services
from webapp.results.models import Hardware, Mode, ModeAlias, Tree

CLOCKS_DIFFER_BY = timedelta(minutes=1)
"""Those of two machines of one instance, without anything being wrong."""

AT_ONCE = 100
"""Rows of one transaction; the sweep comes again."""


@dataclass(frozen=True, slots=True)
class Serves:
    """What a worker states it can measure, by name; None: every mode, every tree."""

    hardware: str
    modes: Sequence[str] | None = None
    trees: Sequence[str] | None = None
    rebuilds: bool = False


@dataclass(frozen=True, slots=True)
class PollRequest:
    """A worker that asks for a job."""

    agent: Agent
    worker: str
    serves: Sequence[Serves]
    version: str = ""
    draining: bool = False


LEASE_BYTES = 16

SEE_WORKER = """
INSERT INTO jobs_worker
       (agent_id, name, version, serves, draining, first_seen_at, last_seen_at)
VALUES (%(agent)s, %(name)s, %(version)s, %(serves)s, %(draining)s, %(now)s, %(now)s)
    ON CONFLICT (agent_id, name) DO UPDATE
   SET version = EXCLUDED.version, serves = EXCLUDED.serves, draining = EXCLUDED.draining,
       last_seen_at = EXCLUDED.last_seen_at
RETURNING id
"""
# Most polls find none, so it is written out: composing the whole job takes longer than the poll.
LEASED = """
SELECT id FROM jobs_job
 WHERE worker_id = %s AND state = %s ORDER BY id DESC LIMIT 1 FOR NO KEY UPDATE"""
# Rows that another poll is just taking are passed by: nobody waits, and nobody takes them twice.
# Among jobs asked for together, those of the revision that the worker built last come first.
CLAIM = f"""
WITH next AS MATERIALIZED (
    SELECT job.id
      FROM jobs_job AS job
     WHERE job.state = 'queued' AND job.hardware_id = ANY(%(hardware)s)
       AND job.not_before <= %(now)s AND (job.deadline IS NULL OR job.deadline > %(now)s)
       AND {TAKES}
     ORDER BY job.priority DESC, job.created_at,
              job.revision_id = (SELECT last_revision_id FROM jobs_worker WHERE id = %(worker)s)
                  DESC NULLS LAST,
              job.id
     LIMIT 1
       FOR NO KEY UPDATE OF job SKIP LOCKED)
UPDATE jobs_job
   SET state = 'leased', lease = %(lease)s, lease_until = %(until)s, worker_id = %(worker)s,
       attempts = attempts + 1, started_at = %(now)s, last_heard_at = %(now)s,
       stage = '', stage_since = %(now)s, progress = '', log = ''
  FROM next
 WHERE jobs_job.id = next.id
RETURNING jobs_job.id
"""  # noqa: S608 (no value of a request is in this text)


@transaction.atomic
def claim(
    *, request: PollRequest, capabilities: Sequence[Capability], now: datetime | None = None
) -> Job | None:
    """The job that the worker holds already, else the next that it can do, else None.

    A worker that was restarted gets its job back, with its lease renewed. One worker's polls wait
    for one another at its row, so it never holds two.
    """
    at = now or timezone.now()
    worker = _see(request, capabilities, at)
    leased = _renew(worker, at)
    if leased is not None or request.draining:
        return leased
    expire_leases(now=at)
    return _take(worker, capabilities, at)


def _see(request: PollRequest, capabilities: Sequence[Capability], at: datetime) -> int:
    """Note that the worker reported; its row is locked until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            SEE_WORKER,
            {
                "agent": request.agent.pk,
                "name": request.worker,
                "version": request.version,
                "serves": as_json(capabilities),
                "draining": request.draining,
                "now": at,
            },
        )
        return int(cursor.fetchone()[0])


def _renew(worker: int, at: datetime) -> Job | None:
    """Also of a lease that ran out unnoticed: this is its worker."""
    with connection.cursor() as cursor:
        cursor.execute(LEASED, [worker, Job.State.LEASED])
        row = cursor.fetchone()
    if row is None:
        return None
    job = Job.objects.named().get(pk=row[0])
    extend_lease(job, at)
    job.save(update_fields=HEARD)
    return job


def _take(worker: int, capabilities: Sequence[Capability], at: datetime) -> Job | None:
    lease = secrets.token_hex(LEASE_BYTES)
    with connection.cursor() as cursor:
        cursor.execute(
            CLAIM,
            {
                "worker": worker,
                "hardware": [each.hardware for each in capabilities],
                "serves": as_json(capabilities),
                "lease": lease,
                "now": at,
                "until": at + LEASE,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return None
    job = Job.objects.named().get(pk=row[0])
    note(job, Kind.LEASED, at, worker=job.worker, lease=lease, data={"attempt": job.attempts})
    Worker.objects.filter(pk=worker).update(last_revision=job.revision_id)
    return job


def was_leased(job: Job, lease: str) -> bool:
    """Whether ``lease`` ever was a lease of ``job``."""
    return JobEvent.objects.filter(job=job, kind=Kind.LEASED, lease=lease).exists()


def capabilities_of(request: PollRequest) -> list[Capability]:
    """What the worker states it can measure, by ids; modes and trees not known here are left out.
    Raises Unprocessable: hardware that is not registered; Forbidden: hardware of another lab.
    """
    hardware = _hardware(request)
    modes = _ids(Mode, [each.modes for each in request.serves])
    modes |= _alias_ids([each.modes for each in request.serves], known=modes)
    trees = _ids(Tree, [each.trees for each in request.serves])
    return [
        Capability(
            hardware=hardware[each.hardware].pk,
            modes=_known(each.modes, modes),
            trees=_known(each.trees, trees),
            rebuilds=each.rebuilds,
        )
        for each in request.serves
    ]


def _hardware(request: PollRequest) -> dict[str, Hardware]:
    named = [(f"serves[{i}].hardware", each.hardware) for i, each in enumerate(request.serves)]
    found = services.hardware_named(name for _, name in named)
    if unknown := services.unknown_hardware(named, found):
        raise services.Unprocessable(unknown)
    if foreign := services.foreign_hardware(named, found, request.agent.lab_id):
        raise services.Forbidden(foreign)
    return found


def _ids(model: type[Model], names: Iterable[Sequence[str] | None]) -> dict[str, int]:
    wanted = {name for some in names for name in some or ()}
    if not wanted:
        return {}
    rows: Any = model._default_manager.filter(name__in=wanted)  # noqa: SLF001 (its objects)
    return dict(rows.values_list("name", "pk"))


def _alias_ids(names: Iterable[Sequence[str] | None], *, known: dict[str, int]) -> dict[str, int]:
    wanted = {name for some in names for name in some or ()} - known.keys()
    if not wanted:
        return {}
    return dict(ModeAlias.objects.filter(name__in=wanted).values_list("name", "mode_id"))


def _known(names: Sequence[str] | None, ids: dict[str, int]) -> frozenset[int] | None:
    return None if names is None else frozenset(ids[name] for name in names if name in ids)


MOST_SECONDS = 60.0
COME_BACK_SECONDS = 5.0
"""For whom there is no place to wait. Half as much again or as little: not all at once."""


@dataclass(frozen=True, slots=True)
class Polled:
    """A job, or when to ask again (seconds; 0: at once)."""

    job: Job | None
    again_after: float


def poll(*, request: PollRequest, wait: float = 0.0) -> Polled:
    """The next job for a worker, waiting up to ``wait`` seconds (60 at most) for one. Raises
    Unprocessable, Forbidden: as ``capabilities_of``.
    """
    end = time.monotonic() + min(wait, MOST_SECONDS)
    capabilities = capabilities_of(request)
    if wait <= 0 or request.draining:
        return Polled(claim(request=request, capabilities=capabilities), _later())
    # It enters first: a job that comes between a look and the waiting would be waited past.
    with waiting_polls.polls.entered((request.agent.pk, request.worker), capabilities) as waiting:
        job = claim(request=request, capabilities=capabilities)
        if waiting is None:
            return Polled(job, _later())
        while job is None and waiting_polls.wait_with(waiting, end):
            job = claim(request=request, capabilities=capabilities)
    return Polled(job, 0.0)


def _later() -> float:
    return round(COME_BACK_SECONDS * random.uniform(0.5, 1.5), 2)  # noqa: S311 (no secret)


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
