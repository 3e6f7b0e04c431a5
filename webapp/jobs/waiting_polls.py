"""Polls that wait for a job: each sleeps in its thread, one more thread of the process looks.

A waiting poll holds no connection to the database. The watcher looks when it is told of a job, and
every second in any case: then a retry became due, a lease ran out, or Redis was away. It wakes no
more polls than there are jobs for them; who wakes claims, and who comes too late sleeps on.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from webapp.jobs import wake
from webapp.jobs.capability import Capability, takes
from webapp.jobs.models import Job

LOOK_EVERY_SECONDS = 1.0
LOOKED_AT = 500
"""Jobs of one look, the most urgent of what the waiting can do."""
log = structlog.get_logger()


class WaitingPoll:
    """One poll that waits."""

    def __init__(self, who: tuple[int, str], capabilities: Sequence[Capability]) -> None:
        self.who = who
        self.capabilities = capabilities
        self.is_over = False
        self._called = threading.Event()

    def wait(self, seconds: float) -> bool:
        """True: there may be a job. False: the time is over, or waiting is."""
        called = self._called.wait(max(0.0, seconds))
        self._called.clear()
        return called and not self.is_over

    def call(self) -> None:
        """Wake it: there may be a job."""
        self._called.set()

    def finish(self) -> None:
        """Wake it for good: it is to answer without a job."""
        self.is_over = True
        self._called.set()

    @property
    def is_called(self) -> bool:
        """Whether it was woken and has not looked yet."""
        return self._called.is_set()


class WaitingPolls:
    """The waiting polls of this process, ``settings.WAITING_POLLS`` at most."""

    def __init__(self) -> None:
        self.closes: Callable[[], bool] = lambda: False
        self.resting: Callable[[], AbstractContextManager[None]] = nullcontext
        """Held while a poll sleeps: its thread then counts as idle."""
        self._lock = threading.Lock()
        self._polls: list[WaitingPoll] = []
        self._watcher: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._polls)

    @contextmanager
    def entered(
        self, who: tuple[int, str], capabilities: Sequence[Capability]
    ) -> Iterator[WaitingPoll | None]:
        """A waiting poll of ``who`` (agent and worker), None when there are as many as may be.

        An earlier poll of the same worker ends: its sender has gone, or would not have come again.
        """
        poll = WaitingPoll(who, capabilities)
        if not self._enter(poll):
            yield None
            return
        try:
            yield poll
        finally:
            self._leave(poll)

    def _enter(self, poll: WaitingPoll) -> bool:
        with self._lock:
            for earlier in [each for each in self._polls if each.who == poll.who]:
                earlier.finish()
                self._polls.remove(earlier)
            if len(self._polls) >= settings.WAITING_POLLS or self.closes():
                return False
            self._polls.append(poll)
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(target=self._watch, daemon=True, name="jobs")
                self._watcher.start()
        return True

    def _leave(self, poll: WaitingPoll) -> None:
        with self._lock:
            if poll in self._polls:
                self._polls.remove(poll)

    def _waiting(self) -> list[WaitingPoll]:
        """Nobody: then the watcher is told to go, and whoever comes next starts another."""
        with self._lock:
            if not self._polls:
                self._watcher = None
            return list(self._polls)

    def _watch(self) -> None:
        with wake.announcements() as announced:
            while waiting := self._waiting():
                if self.closes():
                    for poll in waiting:
                        poll.finish()
                else:
                    _look(waiting)
                announced.wait(LOOK_EVERY_SECONDS)


def _look(waiting: Sequence[WaitingPoll]) -> None:
    try:
        _call_for(_jobs_there(waiting), [each for each in waiting if not each.is_called])
    except (DatabaseError, InterfaceError) as error:
        log.warning("jobs not looked for, the next look will", error=str(error))
    finally:
        connection.close()  # back to the pool


def _jobs_there(waiting: Sequence[WaitingPoll]) -> Collection[Job]:
    now = timezone.now()
    hardware = {each.hardware for poll in waiting for each in poll.capabilities}
    parts = Job.objects.only("hardware_id", "mode_id", "tree_id", "rebuild")
    there = parts.filter(hardware__in=hardware)
    expired = list(there.expired(now)[:LOOKED_AT])
    return [*expired, *there.due(now)[:LOOKED_AT]]


def _call_for(jobs: Collection[Job], waiting: list[WaitingPoll]) -> None:
    """For each job one of those who can do it, in the order in which they came."""
    for job in jobs:
        found = next((each for each in waiting if takes(each.capabilities, job)), None)
        if found is not None:
            found.call()
            waiting.remove(found)


def wait_with(poll: WaitingPoll, end: float) -> bool:
    """Wait in ``poll`` until ``end`` (monotonic), without a connection to the database."""
    if not connection.in_atomic_block:
        connection.close()
    with polls.resting():
        return poll.wait(end - time.monotonic())


polls = WaitingPolls()
