"""The scheduler of `celery beat`: of several on one database, one sends."""

import time
from typing import Any

import psycopg
import structlog
from celery.beat import Scheduler
from django.db import connection

from webapp.readiness import heartbeats
from webapp.readiness.heartbeats import BEAT, EVERY_SECONDS, NOTE
from webapp.readiness.singleton_lock import SingletonLock

log = structlog.get_logger()


class SingleScheduler(Scheduler):
    """Sends only while it holds the lock of the database, and notes its own heartbeat.

    In memory: every entry repeats within minutes, and a file on disk can only go bad.
    """

    max_interval = 5
    """Seconds between two looks at the lock: how long a second beat waits at most to take over."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._lock = SingletonLock(connection.settings_dict, BEAT)
        self._noted = float("-inf")

    def tick(self, *args: Any, **named: Any) -> float:
        """Send what is due, if this beat is the one that sends; the seconds until the next call."""
        if not self._lock.is_locked():
            return self.max_interval
        self._note()
        return float(super().tick(*args, **named))

    def close(self) -> None:
        """End, and let another beat take over at once."""
        self._lock.release()
        super().close()

    def _note(self) -> None:
        if time.monotonic() - self._noted < EVERY_SECONDS:
            return
        self._noted = time.monotonic()
        try:
            with heartbeats.connect(connection.settings_dict) as own:
                own.execute(NOTE, [BEAT])
        except psycopg.Error as error:
            log.warning("heartbeat of beat not noted", error=str(error))
