"""Heartbeats: written by a pool process of each worker when it executes something, and by beat.

Of several workers each has its own, under the name of its host: one that hangs does not hide
behind the others.

Imports neither Django nor Celery, so that a health check of a container starts fast. All times
are the database's: nobody else's clock has to be right.
"""

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection

WORKER, DELIVERIES, BEAT = "worker", "deliveries", "beat"
QUEUES = {WORKER: "analysis", DELIVERIES: "deliveries"}
"""The queue that each worker takes from."""

PARTS = (*QUEUES, BEAT)
"""Programs and services of these names (`make up`, docker-compose.yml)."""

STANDBY = "standby"
"""A beat that waits for another one to end. Its silence is no problem of the instance."""

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
INSERT INTO readiness_heartbeat (part, host, at) VALUES (%s, %s, now())
    ON CONFLICT (part, host) DO UPDATE SET at = EXCLUDED.at
"""
FORGET = "DELETE FROM readiness_heartbeat WHERE part = ANY(%s) AND host = %s"
FORGET_SILENT = """
DELETE FROM readiness_heartbeat
 WHERE part = ANY(%s) AND host = %s
   AND at NOT BETWEEN now() - %s * interval '1 s' AND now() + %s * interval '1 s'
RETURNING part
"""
AGES = """
SELECT part, host, extract(epoch FROM now() - at) FROM readiness_heartbeat
 WHERE at > now() - interval '1 day'
"""
"""A host that is gone for good counts as silent for a day, or until `manage.py doctor --forget`."""

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
        # Some poolers do not know prepared statements.
        prepare_threshold=None,
        # As Django has it: of a database in SQL_ASCII, psycopg else gives bytes for names.
        client_encoding="utf8",
        autocommit=True,
        **_passed_on(database),
    )


Ages = Mapping[str, Mapping[str, float]]
"""Of each part, by host, the seconds since it was seen; negative when the clock was set back."""


def ages(connection: Connection) -> Ages:
    """Those of all parts that were seen in the last day."""
    found: dict[str, dict[str, float]] = {}
    with connection.transaction():
        connection.execute(LIMIT)
        for part, host, age in connection.execute(AGES):
            found.setdefault(part, {})[host] = float(age)
    return found


def is_fresh(age: float | None) -> bool:
    """Whether a heartbeat of this ``age`` proves that its part works."""
    return age is not None and -FUTURE_SECONDS <= age <= SILENT_AFTER_SECONDS


def decisive(part: str, hosts: Mapping[str, float]) -> tuple[str, float] | None:
    """The host, and its age, by which a part works or not: every worker has to, and one beat, the
    one that sends. None where none was seen.
    """
    choose = min if part == BEAT else max
    return choose(hosts.items(), key=lambda each: (not is_fresh(each[1]), each[1]), default=None)


def works(part: str, hosts: Mapping[str, float]) -> bool:
    """Whether a part works on all of its ``hosts``, with the age on each."""
    found = decisive(part, hosts)
    return found is not None and is_fresh(found[1])


def _passed_on(database: Mapping[str, Any]) -> dict[str, Any]:
    """Options of TLS (``?sslmode=verify-full``), and those by which a lost server is noticed."""
    options: Mapping[str, Any] = database.get("OPTIONS", {})
    kinds = ("ssl", "keepalives", "tcp_user_timeout")
    return {name: value for name, value in options.items() if name.startswith(kinds)}


def last_seen(part: str, hosts: Mapping[str, float]) -> str:
    """What heartbeats mean that do not prove that a part works, in words."""
    found = decisive(part, hosts)
    if found is None:
        return f"{part} was stopped, or never seen at work"
    host, age = found
    when = "before the clock was set back" if age < 0 else f"at work {age:.0f} s ago"
    silent = sum(not is_fresh(each) for each in hosts.values())
    count = f" ({silent} of {len(hosts)} are silent)" if len(hosts) > 1 else ""
    return f"{part} on {host} was last seen {when}{count}"


_noted: dict[str, float] = {}
_lock = threading.Lock()
_host = socket.gethostname()


def host() -> str:
    """The name of this machine or container in heartbeats."""
    return _host


def use_host(name: str) -> None:
    """Have ``name`` be that of this process and those that it forks."""
    global _host  # noqa: PLW0603 (of the process, as its name)
    _host = name


def note(*parts: str) -> None:
    """Write that ``parts`` work on this host."""
    with connection.cursor() as cursor:
        cursor.executemany(NOTE, [[part, host()] for part in sorted(parts)])


def forget(database: Mapping[str, Any], parts: Sequence[str]) -> None:
    """Remove the heartbeats of ``parts`` that end here as asked: they do not count as silent."""
    with connect(database) as own:
        own.execute(FORGET, [list(parts), host()])


def forget_silent(host: str) -> list[str]:
    """Remove the heartbeats of ``host``, which is gone for good; the parts that it had. One that
    works is kept.
    """
    with connection.cursor() as cursor:
        parts = [*PARTS, STANDBY]
        cursor.execute(FORGET_SILENT, [parts, host, SILENT_AFTER_SECONDS, FUTURE_SECONDS])
        return sorted(part for (part,) in cursor.fetchall())


def still_works(part: str) -> None:
    """The same from within a long task, at most once in EVERY_SECONDS: the heartbeat itself has to
    wait for the task's end.
    """
    with _lock:
        if time.monotonic() - _noted.get(part, float("-inf")) < EVERY_SECONDS:
            return
        _noted[part] = time.monotonic()
    note(part)
