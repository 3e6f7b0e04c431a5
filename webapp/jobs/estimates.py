"""How long a job takes: as long as the last ones did."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.db import connection

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
