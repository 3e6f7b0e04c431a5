"""A way to the server that loses, doubles and delays, as networks and agents do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labagent.client import Client
from labagent.errors import UnavailableError
from labagent.simulate.truth import Truth
from labagent.work.api import JobsApi, Poll, Pulse
from labagent.work.stops import Watch

PAST_THE_LEASE = 1.2


@dataclass
class Silence:
    """Keeps heartbeats back until the lease has run out."""

    lease_seconds: float = 0.0
    kept: bool = False

    def keep(self, watch: Watch) -> None:
        """Say nothing until the lease has run out."""
        self.kept = True
        watch.wait(PAST_THE_LEASE * self.lease_seconds)


class FaultyApi(JobsApi):
    """`JobsApi` with the truth's faults `late` and `twice`."""

    def __init__(self, client: Client, worker: str, truth: Truth, silence: Silence) -> None:
        super().__init__(client, worker)
        self.truth = truth
        self.silence = silence

    def poll(self, serves: Sequence[Mapping[str, Any]], wait: float, *, draining: bool) -> Poll:
        """As its base; a new job gives the silence its length."""
        found = super().poll(serves, wait, draining=draining)
        if found.job is not None:
            self.silence.kept = False
            self.silence.lease_seconds = found.job.lease.seconds
        return found

    def heartbeat(self, job: int, lease: str, stage: str, progress: str, log: str) -> Pulse:
        """As its base. Raises UnavailableError during the silence."""
        if self.silence.kept:
            raise UnavailableError("simulated silence")
        return super().heartbeat(job, lease, stage, progress, log)

    def send_result(self, job: int, lease: str, run: Mapping[str, Any]) -> None:
        """As its base, and now and then twice."""
        super().send_result(job, lease, run)
        if self.truth.happens(self.truth.faults.twice, "twice", job):
            super().send_result(job, lease, run)
