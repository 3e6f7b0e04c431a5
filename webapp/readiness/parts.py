"""Looks at the parts of this instance: what fails, since when, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
import redis

from webapp.readiness import heartbeats

DATABASE, BROKER = "database", "broker"
NAMES = (DATABASE, BROKER, *heartbeats.PARTS)

SPILL = """
SELECT max(word) FROM (SELECT md5(n::text) AS word FROM generate_series(1, 10000) AS n
                        ORDER BY 1 OFFSET 0) AS sorted
"""
"""Sorted in the least memory, so that about 1 MB goes through a temporary file: an update of one
row succeeds long after the disk is full."""

SERVERS = {
    DATABASE: "Is PostgreSQL running, and DATABASE_URL right? Its log says more.",
    BROKER: "Is Redis running, and REDIS_URL right? Uploads are stored meanwhile.",
}
FULL = "The disk of PostgreSQL is full: free space there; what waits goes on by itself."
UNKNOWN = "not known while the {server} does not answer"
START = (
    "Its log says why. Start or restart it: `supervisorctl -c STATE/supervisord.conf restart "
    "{part}`, or `docker compose restart {part}`."
)
GONE = " Where {host} is gone for good: `manage.py doctor --forget {host}`."


@dataclass(frozen=True, slots=True)
class Problem:
    """A part that does not do its work. ``since`` is None where nobody can know."""

    part: str
    reason: str
    remedy: str
    since: datetime | None = None


def look_at_database(connection: heartbeats.Connection) -> None:
    """Raise psycopg.Error unless it can write."""
    with connection.transaction():
        connection.execute(heartbeats.LIMIT)
        connection.execute("SET LOCAL work_mem = '64kB'")
        connection.execute(SPILL)
        connection.execute(heartbeats.NOTE, [DATABASE, heartbeats.host()])


def look_at_broker(url: str) -> None:
    """Raise redis.RedisError unless it takes a command over a new connection: one that was kept
    is broken after a restart, and says nothing.
    """
    try:
        _write(url)
    except redis.RedisError:
        _write(url)


def _write(url: str) -> None:
    seconds = heartbeats.PATIENCE_SECONDS / 2
    client = redis.Redis.from_url(
        url, socket_timeout=seconds, socket_connect_timeout=seconds, retry=None
    )
    try:
        client.set("driftline-readyz", 1, ex=60)
    finally:
        client.close()


def problem_of_server(part: str, error: Exception) -> Problem:
    """What an error of PostgreSQL or Redis means."""
    is_full = isinstance(error, psycopg.errors.DiskFull)
    reason = " ".join(str(error).split()) or type(error).__name__
    return Problem(part, reason, FULL if is_full else SERVERS[part])


def problem_of_silence(part: str, hosts: Mapping[str, float], now: datetime) -> Problem:
    """What heartbeats mean, with their ages by host, that do not prove that a part works."""
    host, age = heartbeats.decisive(part, hosts) or ("", -1.0)
    since = None if age < 0 else now - timedelta(seconds=round(age))
    remedy = START.format(part=part) + (GONE.format(host=host) if host else "")
    return Problem(part, heartbeats.last_seen(part, hosts), remedy, since)


def utc_now() -> datetime:
    """Now, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
