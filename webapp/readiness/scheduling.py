"""The scheduler of `celery beat`: of several on one database, one sends."""

import time
from collections.abc import Mapping
from typing import Any

import psycopg
import structlog
from celery.beat import Scheduler
from django.db import connection

from webapp.readiness import heartbeats

BEGIN = """
BEGIN;
SET LOCAL idle_in_transaction_session_timeout = '45s';
SET LOCAL tcp_keepalives_idle = 10;
SET LOCAL tcp_keepalives_interval = 5;
SET LOCAL tcp_keepalives_count = 3
"""
"""A holder that is silent for so long (stopped, or its machine is gone) loses the lock."""

TRY = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"


class SingletonLock:
    """An advisory lock of PostgreSQL, in an open transaction on a connection of its own.

    A pooler may deal out the connections of a server statement by statement, but leaves one to a
    transaction until its end; a lock of the session would stay with whoever comes next. The
    transaction reads nothing in between, so it keeps no row from being cleaned up.
    """

    def __init__(self, database: Mapping[str, Any], name: str) -> None:
        self._database, self._name = database, f"driftline-{name}"
        self._connection: heartbeats.Connection | None = None
        self._is_locked: bool | None = None

    def is_locked(self) -> bool:
        """Whether it is this process's at this moment: taken now, or proven to be held still.

        To be asked at least every few seconds: the server takes the lock from who is silent.
        """
        try:
            is_ours = self._prove() if self._is_locked else self._try()
        except psycopg.Error as error:
            self.release()
            log.warning("lock not to be had", lock=self._name, error=str(error))
            is_ours = False
        if is_ours != self._is_locked:
            log.info("lock taken" if is_ours else "another process holds the lock", lock=self._name)
        self._is_locked = is_ours
        return is_ours

    def release(self) -> None:
        """Let another process have it."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._is_locked = False

    def _prove(self) -> bool:
        """The lock lives as long as the transaction, so any answer within it proves it."""
        if self._connection is None:
            return False
        self._connection.execute("SELECT 1")
        return True

    def _try(self) -> bool:
        if self._connection is None:
            self._connection = heartbeats.connect(self._database)
        self._connection.execute(BEGIN)
        row = self._connection.execute(TRY, [self._name]).fetchone()
        if row is not None and row[0]:
            return True
        self._connection.execute("ROLLBACK")
        return False


log = structlog.get_logger()


class SingleScheduler(Scheduler):
    """Sends only while it holds the lock of the database, and notes its own heartbeat.

    In memory: every entry repeats within minutes, and a file on disk can only go bad.
    """

    max_interval = 5
    """Seconds between two looks at the lock: how long a second beat waits at most to take over."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._lock = SingletonLock(connection.settings_dict, heartbeats.BEAT)
        self._noted = {heartbeats.BEAT: float("-inf"), heartbeats.STANDBY: float("-inf")}

    def tick(self, *args: Any, **named: Any) -> float:
        """Send what is due, if this beat is the one that sends; the seconds until the next call."""
        if not self._lock.is_locked():
            self._note(heartbeats.STANDBY)
            return self.max_interval
        self._note(heartbeats.BEAT)
        return float(super().tick(*args, **named))

    def close(self) -> None:
        """End, and let another beat take over at once."""
        self._lock.release()
        super().close()

    def _note(self, part: str) -> None:
        if time.monotonic() - self._noted[part] < heartbeats.EVERY_SECONDS:
            return
        self._noted[part] = time.monotonic()
        try:
            with heartbeats.connect(connection.settings_dict) as own:
                own.execute(heartbeats.NOTE, [part, heartbeats.host()])
        except psycopg.Error as error:
            log.warning("heartbeat of beat not noted", error=str(error))
