"""Heartbeats: written by a pool process of each worker when it executes something, and by beat.

Imports neither Django nor Celery, so that a health check of a container starts fast. All times
are the database's: nobody else's clock has to be right.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from django.db import connection

WORKER, DELIVERIES, BEAT = "worker", "deliveries", "beat"
QUEUES = {WORKER: "analysis", DELIVERIES: "deliveries"}
"""The queue that each worker takes from."""

PARTS = (*QUEUES, BEAT)
"""Programs and services of these names (`make up`, docker-compose.yml)."""

EVERY_SECONDS = 15
SILENT_AFTER_SECONDS = 90.0
"""Several heartbeats, and longer than the longest step between two notes of a long task."""

FUTURE_SECONDS = 5.0
"""The clock was set back since: this heartbeat proves nothing any more."""

PATIENCE_SECONDS = 2
"""For a connection to a server that may hang, and for each of its answers."""

LIMIT = f"SET LOCAL statement_timeout = '{PATIENCE_SECONDS}s'"
"""Not an option of the connection: that of a pooler takes none."""

NOTE = """
INSERT INTO readiness_heartbeat (part, at) VALUES (%s, now())
    ON CONFLICT (part) DO UPDATE SET at = EXCLUDED.at
"""
AGES = "SELECT part, extract(epoch FROM now() - at) FROM readiness_heartbeat"

Connection = psycopg.Connection[tuple[Any, ...]]


def connect(database: Mapping[str, Any]) -> Connection:
    """A connection of our own to a Django ``database``: a pool may be exhausted, and is waited
    for. Raises psycopg.Error within seconds when nobody answers.
    """
    return psycopg.connect(
        host=database["HOST"] or None,
        port=database["PORT"] or None,
        user=database["USER"] or None,
        password=database["PASSWORD"] or None,
        dbname=database["NAME"],
        connect_timeout=PATIENCE_SECONDS,
        # A server whose machine is gone is noticed within seconds, not hours.
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=25_000,
        # Some poolers do not know prepared statements.
        prepare_threshold=None,
        # As Django has it: of a database in SQL_ASCII, psycopg else gives bytes for names.
        client_encoding="utf8",
        autocommit=True,
        **_tls(database),
    )


def ages(connection: Connection) -> dict[str, float]:
    """Seconds since each part was seen; negative when the clock was set back."""
    with connection.transaction():
        connection.execute(LIMIT)
        return _ages(connection)


def _ages(connection: Connection) -> dict[str, float]:
    return {part: float(age) for part, age in connection.execute(AGES)}


def is_fresh(age: float | None) -> bool:
    """Whether a heartbeat of this ``age`` proves that its part works."""
    return age is not None and -FUTURE_SECONDS <= age <= SILENT_AFTER_SECONDS


def _tls(database: Mapping[str, Any]) -> dict[str, Any]:
    """What a URL says of TLS (``?sslmode=verify-full``)."""
    options: Mapping[str, Any] = database.get("OPTIONS", {})
    return {name: value for name, value in options.items() if name.startswith("ssl")}


def last_seen(part: str, age: float | None) -> str:
    """What the ``age`` of a heartbeat that proves nothing means, in words."""
    if age is None:
        return f"{part} was never seen at work"
    if age < 0:
        return f"{part} was last seen before the clock was set back"
    return f"{part} was last seen at work {age:.0f} s ago"


_noted: dict[str, float] = {}
_lock = threading.Lock()


def note(*parts: str) -> None:
    """Write that ``parts`` work."""
    with connection.cursor() as cursor:
        cursor.executemany(NOTE, [[part] for part in sorted(parts)])


def still_works(part: str) -> None:
    """The same from within a long task, at most once in EVERY_SECONDS: the heartbeat itself has to
    wait for the task's end.
    """
    with _lock:
        if time.monotonic() - _noted.get(part, float("-inf")) < EVERY_SECONDS:
            return
        _noted[part] = time.monotonic()
    note(part)
