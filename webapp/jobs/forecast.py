"""When each queued job will begin and end, as far as can be told now."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db import connection

from webapp.jobs.capability import Capability, takes
from webapp.jobs.models import Job, Worker

LOOKED_AT = 20
UNKNOWN_SECONDS_A_BOOT = 600.0
"""A build kept from before, a boot and a run of five minutes; said only until one job was done."""

# From the last lease to the end, for each boot; a lateral join reads a few rows of each mode.
LAST_DONE = """
SELECT wanted.hardware_id, wanted.mode_id, done.seconds
  FROM (SELECT DISTINCT hardware_id, mode_id FROM jobs_job
         WHERE hardware_id = ANY(%s) AND state = 'done') AS wanted
 CROSS JOIN LATERAL (
       SELECT extract(epoch FROM ended_at - started_at) / boots AS seconds
         FROM jobs_job AS job
        WHERE job.hardware_id = wanted.hardware_id AND job.mode_id = wanted.mode_id
          AND job.state = 'done' AND job.started_at < job.ended_at
        ORDER BY job.ended_at DESC
        LIMIT %s) AS done
"""


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds a boot of the last jobs, by (hardware, mode)."""

    of_modes: Mapping[tuple[int, int], Sequence[float]]

    @classmethod
    def of(cls, hardware: Collection[int]) -> "Durations":
        """Of some hardware (ids), in one query."""
        found: dict[tuple[int, int], list[float]] = defaultdict(list)
        with connection.cursor() as cursor:
            cursor.execute(LAST_DONE, [list(hardware), LOOKED_AT])
            for hardware_id, mode_id, seconds in cursor.fetchall():
                found[hardware_id, mode_id].append(float(seconds))
        return cls(found)

    def estimate(self, *, hardware: int, mode: int, boots: int) -> float:
        """Seconds: by this mode's median, else by that of all modes there, else a guess."""
        own = self.of_modes.get((hardware, mode))
        others = [
            each for (at, _), some in self.of_modes.items() if at == hardware for each in some
        ]
        return boots * median(own or others or [UNKNOWN_SECONDS_A_BOOT])

    def is_guess(self, *, hardware: int) -> bool:
        """No job has run there, in any mode."""
        return not any(at == hardware and some for (at, _), some in self.of_modes.items())


LEAST_LEFT = timedelta(seconds=30)
"""Of a job that takes longer than the last ones did."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A queued or leased job. Without a worker nobody who reported lately can do it."""

    job: Job
    worker: Worker | None
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(slots=True)
class _Hand:
    """A worker in the forecast, and when it is free."""

    worker: Worker
    capabilities: Sequence[Capability]
    free_at: datetime


def ends_about(job: Job, now: datetime) -> datetime:
    """When a leased job is likely to end."""
    started = job.started_at or now
    return max(started + timedelta(seconds=job.estimate_seconds), now + LEAST_LEFT)


def queue_forecast(
    *, now: datetime, hardware: Collection[int] | None = None
) -> dict[int, list[Forecast]]:
    """By hardware (id; all, or those given): first what is measured, then what waits, in order.

    Each job goes to the worker that is free first among those that can do it, as in the real
    queue. Three statements, however long the queue is.
    """
    jobs = Job.objects.named()
    hands = [
        _Hand(each, each.capabilities, now) for each in Worker.objects.alive(now).with_agents()
    ]
    rows = [_running(job, hands, now) for job in jobs.leased()]
    # All hardware is forecast: a worker that serves two is kept by the other's queue as well.
    rows += [_waiting(job, hands, now) for job in jobs.queued()]
    found: dict[int, list[Forecast]] = defaultdict(list)
    for row in rows:
        if hardware is None or row.job.hardware_id in hardware:
            found[row.job.hardware_id].append(row)
    return dict(found)


def _running(job: Job, hands: Sequence[_Hand], now: datetime) -> Forecast:
    end = ends_about(job, now)
    for hand in hands:
        if hand.worker.pk == job.worker_id:
            hand.free_at = end
    return Forecast(job, job.worker, job.started_at, end)


def _waiting(job: Job, hands: Sequence[_Hand], now: datetime) -> Forecast:
    able = [hand for hand in hands if takes(hand.capabilities, job)]
    if not able:
        return Forecast(job, None, None, None)
    hand = min(able, key=lambda each: each.free_at)
    starts = max(hand.free_at, job.not_before, now)
    hand.free_at = starts + timedelta(seconds=job.estimate_seconds)
    return Forecast(job, hand.worker, starts, hand.free_at)
