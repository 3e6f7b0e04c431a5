"""Tell waiting polls, in every process of the web server, that there may be a job.

A word in Redis, and nothing more: who does not hear it looks again soon by itself.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import redis
import structlog
from django.conf import settings
from django.db import transaction
from redis.exceptions import RedisError

CHANNEL = "driftline:jobs"
ANSWER_WITHIN_SECONDS = 2
log = structlog.get_logger()


class Announcements(Protocol):
    """What is told while one listens."""

    def wait(self, seconds: float) -> None:
        """Return at the next announcement, after ``seconds`` at the latest."""


def announce_on_commit() -> None:
    """Tell it when the present transaction is committed."""
    transaction.on_commit(_announce)


def _announce() -> None:
    try:
        _client().publish(CHANNEL, "")
    except RedisError as error:
        log.warning("waiting polls not told of a job, they will look", error=str(error))


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
                    pass  # several told at once are one reason to look
        except RedisError as error:
            log.warning("not told of new jobs, looking for them instead", error=str(error))
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
