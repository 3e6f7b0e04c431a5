"""Keeps the lease of a job alive while it is worked on, and hears when it is cancelled."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from labagent.errors import AgentError, RefusedError
from labagent.job import Leased
from labagent.work.api import LEASE_LOST, JobsApi
from labagent.work.logs import HEARTBEAT_TAIL, JobLog
from labagent.work.stops import Cancelled, Ended, Watch

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
