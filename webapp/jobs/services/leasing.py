"""Hand a job to a worker, once."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from webapp.jobs.capability import TAKES, Capability, as_json
from webapp.jobs.models import Job, JobEvent, Worker
from webapp.jobs.rules import LEASE
from webapp.jobs.services.events import HEARD, Kind, extend_lease, note
from webapp.jobs.services.expiring import expire_leases
from webapp.jobs.services.poll_requests import PollRequest

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
    """Note that the worker spoke; its row is locked until the transaction ends."""
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
