"""Which machines report: when each was measured last, how often lately, and who is at it now."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from webapp.jobs.capability import Capability, takes
from webapp.jobs.forecast import Durations, Forecast, queue_forecast
from webapp.jobs.models import SILENT_AFTER as WORKER_SILENT_AFTER
from webapp.results.models import MachineName
from webapp.results.queries import machine_of

__all__ = [
    "MOST_IMPORTED",
    "SILENT_AFTER",
    "Capability",
    "Durations",
    "Forecast",
    "Machine",
    "machines",
    "queue_forecast",
    "takes",
]

SILENT_AFTER = timedelta(days=14)
"""A lab that tests each week may miss one."""

DAY = timedelta(days=1)

MOST_IMPORTED = 10_000
"""Runs imported lately are counted so far: an archive is loaded at once, and may be any size."""

# Any run is looked for among the series first, which are few: of the indexes of runs the planner
# takes one by time, and reads all that other machines measured since.
# A day is 24 hours back from now, 0 the last: a calendar day would begin elsewhere for each reader.
MACHINES = """
SELECT hardware.id, hardware.name, hardware.display_name, hardware.cpu, hardware.nic,
       hardware.agreed_cpu, hardware.agreed_nic,
       lab.name, lab.simulated, live.at,
       CASE WHEN live.at IS NOT NULL THEN true
            WHEN EXISTS (SELECT FROM results_series AS series
                          WHERE series.hardware_id = hardware.id) THEN true
            ELSE EXISTS (SELECT FROM results_run AS run WHERE run.hardware_id = hardware.id)
       END,
       days.since, days.runs, imported.runs,
       EXISTS (SELECT FROM jobs_worker AS worker
                WHERE worker.last_seen_at >= %(heard)s::timestamptz AND NOT worker.draining
                  AND worker.serves @> jsonb_build_array(
                          jsonb_build_object('hardware', hardware.id))),
       measuring.name
  FROM results_hardware AS hardware
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
  LEFT JOIN LATERAL (SELECT COALESCE(run.measured_at, run.received_at) AS at
                       FROM results_run AS run
                      WHERE run.hardware_id = hardware.id AND NOT run.history
                        AND run.withdrawn_at IS NULL
                      ORDER BY COALESCE(run.measured_at, run.received_at) DESC
                      LIMIT 1) AS live ON true
  LEFT JOIN LATERAL (
       SELECT array_agg(day.since) AS since, array_agg(day.runs) AS runs
         FROM (SELECT date_bin('1 day', COALESCE(run.measured_at, run.received_at),
                               %(now)s::timestamptz) AS since, count(*)::int AS runs
                 FROM results_run AS run
                WHERE run.hardware_id = hardware.id AND NOT run.history
                  AND run.withdrawn_at IS NULL
                  AND COALESCE(run.measured_at, run.received_at) > %(since)s::timestamptz
                GROUP BY 1) AS day) AS days ON true
  CROSS JOIN LATERAL (
       SELECT count(*)::int AS runs
         FROM (SELECT FROM results_run AS run
                WHERE run.hardware_id = hardware.id AND run.history
                  AND run.received_at >= %(fresh)s::timestamptz
                LIMIT %(imported)s) AS few) AS imported
  LEFT JOIN LATERAL (SELECT revision.name
                       FROM jobs_job AS job
                       JOIN results_revision AS revision ON revision.id = job.revision_id
                      WHERE job.state = 'leased' AND job.hardware_id = hardware.id
                      ORDER BY job.id LIMIT 1) AS measuring ON true
 ORDER BY lab.name, hardware.name
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
    given: dict[str, datetime | int] = {
        "now": now,
        "since": now - timedelta(days=days),
        "fresh": now - SILENT_AFTER,
        "heard": now - WORKER_SILENT_AFTER,
        "imported": MOST_IMPORTED,
    }
    with connection.cursor() as cursor:
        cursor.execute(MACHINES, given)
        rows = cursor.fetchall()
    return [_machine(row, now, days) for row in rows]


def _machine(row: tuple[Any, ...], now: datetime, days: int) -> Machine:
    hardware = machine_of(row[:7])
    lab, is_simulated, live_at, has_runs, since, runs, imported, has_worker, measuring = row[7:]
    is_silent = live_at is not None and live_at < now - SILENT_AFTER
    counts = _per_day(since, runs, now, days)
    named = hardware.pk, hardware.name, hardware.called, lab, is_simulated
    return Machine._make(
        [*named, live_at, has_runs, counts, imported, has_worker, measuring, is_silent]
    )


def _per_day(
    since: Sequence[datetime] | None, runs: Sequence[int] | None, now: datetime, days: int
) -> list[int]:
    """The oldest day first. A run from after now, by a clock that is fast, counts as today's."""
    counts = [0] * days
    for began, count in zip(since or (), runs or (), strict=True):
        back = max(0, (now - began) // DAY - 1)
        if back < days:
            counts[days - 1 - back] += count
    return counts
