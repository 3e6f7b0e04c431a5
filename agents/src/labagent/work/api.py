"""The server's jobs API, each of whose methods asks once, and the heartbeat that keeps a lease."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from labagent.client import Client, agent_version
from labagent.errors import AgentError, RefusedError
from labagent.job import Lease, Leased
from labagent.work.running import HEARTBEAT_TAIL, Cancelled, Ended, JobLog, Watch

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


BEATS_A_LEASE = 3
"""Two heartbeats may be lost before the lease is."""

LEAST_SECONDS_APART = 1.0


class Heartbeat:
    """A thread that beats three times a lease, and when the stage changes.

    A server that does not answer is no reason to stop: the job goes on, and a late result is taken.
    """

    def __init__(self, api: JobsApi, leased: Leased, log: JobLog, watch: Watch) -> None:
        self.api = api
        self.leased = leased
        self.log = log
        self.watch = watch
        self._stage, self._text = "build", ""
        self._changed = threading.Event()
        self._done = threading.Event()
        self._quiet = False
        self._thread = threading.Thread(target=self._beat_on, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._changed.set()
        # It may wait for an answer; a job's end does not wait with it.
        self._thread.join(LEAST_SECONDS_APART)

    def report(self, stage: str, text: str) -> None:
        """The stage and the progress that the next heartbeat tells; it goes out at once."""
        self._stage, self._text = stage, text
        self._changed.set()

    def _beat_on(self) -> None:
        while not self._done.is_set() and self._beat():
            self._done.wait(min(LEAST_SECONDS_APART, self._interval))
            self._changed.wait(self._interval)
            self._changed.clear()

    @property
    def _interval(self) -> float:
        return self.leased.lease.seconds / BEATS_A_LEASE

    def _beat(self) -> bool:
        """One heartbeat; whether there is to be another."""
        try:
            pulse = self.api.heartbeat(
                self.leased.id,
                self.leased.lease.token,
                self._stage,
                self._text,
                self.log.tail(HEARTBEAT_TAIL),
            )
        except RefusedError as error:
            return self._refused(error)
        except AgentError as error:
            self._complain(error)
            return True
        self._quiet = False
        if pulse.cancel:
            self.watch.stop(Cancelled(pulse.reason or "cancelled"))
        return not pulse.cancel

    def _refused(self, error: RefusedError) -> bool:
        if error.code != LEASE_LOST:
            self._complain(error)
            return True
        if self._done.is_set():
            return False
        try:
            over = self.api.is_over(self.leased.id)
        except AgentError as trouble:
            self._complain(trouble)
            return True
        if over:
            self.watch.stop(Ended(error.message))
        else:
            self.log.say(f"{error.message}; a late result is still taken, so this goes on")
        return False

    def _complain(self, error: AgentError) -> None:
        """Say once that heartbeats do not arrive, until one does."""
        if not self._quiet and not self._done.is_set():
            self.log.say(f"no heartbeat: {error.message}; the job goes on")
        self._quiet = True
