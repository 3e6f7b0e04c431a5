"""Which machines report (when each was measured last, how often lately, who is at it now), and when
each queued job will begin and end, as far as can be foreseen now.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import Any, NamedTuple

from webapp.jobs.capability import Capability, takes
from webapp.jobs.models import SILENT_AFTER as WORKER_SILENT_AFTER
from webapp.jobs.models import Job, Worker
from webapp.results.models import MachineName
from webapp.results.queries import machine_of, rows_of

SILENT_AFTER = timedelta(days=14)
"""A lab that tests each week may miss one."""

HOUR = timedelta(hours=1)

MOST_IMPORTED = 10_000
"""Runs imported lately are counted so far: an archive is loaded at once, and may be any size."""

# Any run is looked for among the series first, which are few: of the indexes of runs the planner
# takes one by time, and reads all that other machines measured since. The newest live run lies in
# the last hour that has one.
# A day is 24 hours back from the end of this one: runs are counted by the hour, and a calendar day
# would begin elsewhere for each reader.
MACHINES = """
SELECT hardware.id, hardware.name, hardware.display_name, hardware.cpu, hardware.nic,
       hardware.agreed_cpu, hardware.agreed_nic,
       lab.name, lab.simulated, extract(epoch FROM live.at)::float8,
       CASE WHEN live.at IS NOT NULL THEN true
            WHEN EXISTS (SELECT FROM results_series AS series
                          WHERE series.hardware_id = hardware.id) THEN true
            ELSE EXISTS (SELECT FROM results_run AS run WHERE run.hardware_id = hardware.id)
       END,
       days.back, days.runs, imported.runs,
       EXISTS (SELECT FROM jobs_worker AS worker
                WHERE worker.last_seen_at >= %(heard)s::timestamptz AND NOT worker.draining
                  AND worker.serves @> jsonb_build_array(
                          jsonb_build_object('hardware', hardware.id))),
       measuring.name
  FROM results_hardware AS hardware
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
  LEFT JOIN LATERAL (SELECT counted.hour
                       FROM results_hourlyruns AS counted
                      WHERE counted.hardware_id = hardware.id
                      GROUP BY counted.hour HAVING sum(counted.runs) > 0
                      ORDER BY counted.hour DESC LIMIT 1) AS newest ON true
  LEFT JOIN LATERAL (SELECT COALESCE(run.measured_at, run.received_at) AS at
                       FROM results_run AS run
                      WHERE run.hardware_id = hardware.id AND NOT run.history
                        AND run.withdrawn_at IS NULL AND run.superseded_by_id IS NULL
                        AND COALESCE(run.measured_at, run.received_at) >= newest.hour
                        AND COALESCE(run.measured_at, run.received_at)
                            < newest.hour + interval '1 hour'
                      ORDER BY COALESCE(run.measured_at, run.received_at) DESC
                      LIMIT 1) AS live ON true
  LEFT JOIN LATERAL (
       SELECT array_agg(day.back) AS back, array_agg(day.runs) AS runs
         FROM (SELECT extract(day FROM %(last)s::timestamptz - counted.hour)::int AS back,
                      sum(counted.runs)::int AS runs
                 FROM results_hourlyruns AS counted
                WHERE counted.hardware_id = hardware.id
                  AND counted.hour >= %(since)s::timestamptz
                GROUP BY 1) AS day) AS days ON true
  CROSS JOIN LATERAL (
       SELECT count(*)::int AS runs
         FROM (SELECT FROM results_run AS run
                WHERE run.hardware_id = hardware.id AND run.history
                  AND run.received_at >= %(fresh)s::timestamptz
                LIMIT %(imported)s) AS few) AS imported
  LEFT JOIN (SELECT DISTINCT ON (job.hardware_id) job.hardware_id, revision.name
               FROM jobs_job AS job
               JOIN results_revision AS revision ON revision.id = job.revision_id
              WHERE job.state = 'leased'
              ORDER BY job.hardware_id, job.id) AS measuring
    ON measuring.hardware_id = hardware.id
 ORDER BY lab.name, hardware.name
"""

LOOKED_AT = 20
UNKNOWN_SECONDS_A_BOOT = 600.0
"""A build kept from before, a boot and a run of five minutes; shown only until one job was done."""

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


class Machine(NamedTuple):
    """One hardware: its name and what people call it, its lab, and what it reports.

    ``live_at`` is when the newest run that is no history was measured (where untold, received),
    None: there is none; ``has_runs``: there is one of any kind. ``days`` are the live runs of each
    of the last days, today the last; ``imported`` are those received as history within
    `SILENT_AFTER`, at most `MOST_IMPORTED`. ``has_worker``: an agent that measures
    on it reported within minutes; ``measuring`` is the revision it measures now.
    """

    id: int
    name: str
    called: MachineName
    lab: str
    is_simulated: bool
    live_at: datetime | None
    has_runs: bool
    days: Sequence[int]
    imported: int
    has_worker: bool
    measuring: str | None
    is_silent: bool

    @property
    def is_alive(self) -> bool:
        """Whether it reports: a result within `SILENT_AFTER`, or a worker within minutes."""
        return self.has_worker or (self.live_at is not None and not self.is_silent)

    @property
    def is_history(self) -> bool:
        """Whether all that is known of it was imported."""
        return self.live_at is None and self.has_runs


def machines(*, now: datetime, days: int) -> list[Machine]:
    """All machines by lab and name, with the runs of the last ``days`` days, in one statement."""
    until = now.replace(minute=0, second=0, microsecond=0) + HOUR
    given: dict[str, datetime | int] = {
        "last": until - HOUR,
        "since": until - timedelta(days=days),
        "fresh": now - SILENT_AFTER,
        "heard": now - WORKER_SILENT_AFTER,
        "imported": MOST_IMPORTED,
    }
    return [_machine(row, now, days) for row in rows_of(MACHINES, given)]


@lru_cache(maxsize=4096)
def _called(names: tuple[Any, ...]) -> MachineName:
    """What a machine is called by its id and its names; a model takes longer than all the rest."""
    return machine_of(names).called


def _machine(row: tuple[Any, ...], now: datetime, days: int) -> Machine:
    lab, is_simulated, live, has_runs, back, runs, imported, has_worker, measuring = row[7:]
    live_at = None if live is None else datetime.fromtimestamp(live, UTC)
    is_silent = live_at is not None and live_at < now - SILENT_AFTER
    counts = _per_day(back, runs, days)
    named = row[0], row[1], _called(row[:7]), lab, is_simulated
    return Machine._make(
        [*named, live_at, has_runs, counts, imported, has_worker, measuring, is_silent]
    )


def _per_day(back: Sequence[int] | None, runs: Sequence[int] | None, days: int) -> list[int]:
    """The oldest day first. A run from after it, by a clock that is fast, counts as today's."""
    counts = [0] * days
    for day, count in zip(back or (), runs or (), strict=True):
        if day < days:
            counts[days - 1 - max(0, day)] += count
    return counts


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds a boot of the last jobs, by (hardware, mode)."""

    of_modes: Mapping[tuple[int, int], Sequence[float]]

    @classmethod
    def of(cls, hardware: Collection[int]) -> "Durations":
        """Of some hardware (ids), in one query."""
        found: dict[tuple[int, int], list[float]] = defaultdict(list)
        for hardware_id, mode_id, seconds in rows_of(LAST_DONE, [list(hardware), LOOKED_AT]):
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
