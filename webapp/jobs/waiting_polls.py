"""Polls that wait for a job: each sleeps in its thread, one more thread of the process looks.

A waiting poll holds no connection to the database. The watcher looks when it hears of a job, and
every second in any case: then a retry became due, a lease ran out, or Redis was away. It wakes no
more polls than there are jobs for them; who wakes claims, and who comes too late sleeps on.

That there may be a job reaches every process of the web server by Redis, and by nothing more: a
process that misses it looks again soon by itself.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, Protocol

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone
from redis.exceptions import RedisError

from webapp.jobs.capability import Capability, takes
from webapp.jobs.models import Job

LOOK_EVERY_SECONDS = 1.0
LOOKED_AT = 500
"""Jobs of one look, the most urgent of what the waiting can do."""
log = structlog.get_logger()

CHANNEL = "driftline:jobs"
ANSWER_WITHIN_SECONDS = 2


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
        """Nobody: then the watcher is sent away, and whoever comes next starts another."""
        with self._lock:
            if not self._polls:
                self._watcher = None
            return list(self._polls)

    def _watch(self) -> None:
        with announcements() as announced:
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


class Announcements(Protocol):
    """What is notified while one listens."""

    def wait(self, seconds: float) -> None:
        """Return at the next announcement, after ``seconds`` at the latest."""


def announce_on_commit() -> None:
    """Notify it when the present transaction is committed."""
    transaction.on_commit(_announce)


def _announce() -> None:
    try:
        _client().publish(CHANNEL, "")
    except RedisError as error:
        log.warning("waiting polls not notified of a job, they will look", error=str(error))


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=ANSWER_WITHIN_SECONDS,
        socket_connect_timeout=ANSWER_WITHIN_SECONDS,
    )


@contextmanager
def announcements() -> Iterator[Announcements]:
    """Listen from here on. Without Redis every wait lasts its whole time."""
    heard = _Heard()
    try:
        yield heard
    finally:
        heard.close()


class _Heard:
    def __init__(self) -> None:
        self._subscription: Any = None
        self.wait(0)

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        try:
            self._subscribe()
            if self._subscription.get_message(timeout=seconds) is not None:
                while self._subscription.get_message(timeout=0) is not None:
                    pass  # several notified at once are one reason to look
        except RedisError as error:
            log.warning("not notified of new jobs, looking for them instead", error=str(error))
            self.close()
            time.sleep(max(0.0, end - time.monotonic()))

    def _subscribe(self) -> None:
        if self._subscription is None:
            self._subscription = _client().pubsub()  # type: ignore[no-untyped-call]
            self._subscription.subscribe(CHANNEL)

    def close(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.close()
