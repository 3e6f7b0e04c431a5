"""The server's jobs API. Each method asks once; whoever calls decides when to ask again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labagent.client import Client, agent_version
from labagent.errors import RefusedError
from labagent.job import Lease, Leased

LEASE_LOST = "lease_lost"
OVER = frozenset({"done", "failed", "cancelled"})
SHORTEST_LEASE = 1.0


@dataclass(frozen=True)
class Poll:
    """An answer to a poll: a job or none, and how many seconds to stay away."""

    job: Leased | None
    pause: float = 0.0


@dataclass(frozen=True)
class Pulse:
    """An answer to a heartbeat."""

    cancel: bool
    reason: str


class JobsApi:
    """Talks about jobs as one worker, `worker` being its name."""

    def __init__(self, client: Client, worker: str) -> None:
        self.client = client
        self.worker = worker

    def poll(self, serves: Sequence[Mapping[str, Any]], wait: float, *, draining: bool) -> Poll:
        """Wait at most `wait` seconds for a job; the one that this worker holds comes again."""
        body = {
            "serves": list(serves),
            "wait": round(wait),
            "worker": self.worker,
            "version": agent_version(),
            "draining": draining,
        }
        answer = self.client.call("/api/v1/jobs/poll", body)
        pause = answer.get("poll_again_after")
        job = answer.get("job")
        return Poll(
            _leased(job) if job else None,
            float(pause) if isinstance(pause, int | float) else 0.0,
        )

    def heartbeat(self, job: int, lease: str, stage: str, progress: str, log: str) -> Pulse:
        """Renew the lease; whether to stop, and why."""
        body = {"lease": lease, "stage": stage, "progress": progress, "log": log}
        answer = self.client.call(f"/api/v1/jobs/{job}/heartbeat", body)
        return Pulse(bool(answer.get("cancel")), str(answer.get("reason") or ""))

    def send_result(self, job: int, lease: str, run: Mapping[str, Any]) -> None:
        """Send the run that a job asked for."""
        self.client.call(f"/api/v1/jobs/{job}/result", {"lease": lease, "run": run})

    def send_profile(self, run: str, profile: Mapping[str, Any]) -> None:
        """Send a profile of the run with this UUID."""
        self.client.call(f"/api/v1/runs/{run}/profiles", profile)

    def fail(self, job: int, lease: str, failure: Mapping[str, Any]) -> None:
        """`failure` holds stage, reason and log."""
        self.client.call(f"/api/v1/jobs/{job}/fail", {"lease": lease, **failure})

    def is_over(self, job: int) -> bool:
        """Whether the server has closed the job: nobody waits for its result."""
        answer = self.client.fetch(f"/api/v1/jobs/{job}")
        inner = answer.get("job")
        document = inner if isinstance(inner, dict) else answer
        return document.get("state") in OVER


def _leased(document: Any) -> Leased:
    """What the loop itself needs of a job; the rest is read, and refused, later."""
    try:
        number, token, seconds = document["id"], document["lease"], document["lease_seconds"]
        lease = Lease(str(token), max(SHORTEST_LEASE, float(seconds)))
        return Leased({**document, "id": int(number)}, lease)
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"the server gave a job without {error}", "is it newer than this agent?"
        ) from error
