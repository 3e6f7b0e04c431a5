"""Whether the parts of this instance work, looked at once for all who ask within some seconds: what
fails, since when, and what to do.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import redis

from webapp.readiness import heartbeats
from webapp.readiness.heartbeats import still_works

__all__ = ["Report", "Reporter", "heartbeats", "still_works"]

DATABASE, BROKER = "database", "broker"
PARTS = (DATABASE, BROKER, *heartbeats.PARTS)

SPILL = """
SELECT max(word) FROM (SELECT md5(n::text) AS word FROM generate_series(1, 10000) AS n
                        ORDER BY 1 OFFSET 0) AS sorted
"""
"""Sorted in the least memory, so that about 1 MB goes through a temporary file: an update of one
row succeeds long after the disk is full."""

SERVERS = {
    DATABASE: "Is PostgreSQL running, and DATABASE_URL right? Its log has more.",
    BROKER: "Is Redis running, and REDIS_URL right? Uploads are stored meanwhile.",
}
FULL = "The disk of PostgreSQL is full: free space there; what waits goes on by itself."
UNKNOWN = "not known while the {server} does not answer"
START = (
    "Its log has the reason. Start or restart it: `supervisorctl -c STATE/supervisord.conf restart "
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
    is broken after a restart, and reports nothing.
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


READY_SECONDS, NOT_READY_SECONDS = 5.0, 1.0
"""How long a report is good for. Whoever waits for readiness wants to see it soon."""

OLD_SECONDS = 15.0
"""A report so old is waited for; a younger one serves while somebody looks anew."""

WRITTEN_SECONDS = 15.0
"""How long a write proves that the next one will succeed."""


DEPENDENT = {DATABASE: (*heartbeats.PARTS,), BROKER: (*heartbeats.QUEUES,)}
"""The parts whose heartbeats need a server: without it their silence proves nothing."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found; ``ages`` are seconds since each part was seen, by host. Why nothing is
    known of a part is in ``unknown``: a server is to blame, and the part itself is no problem.
    """

    problems: tuple[Problem, ...]
    ages: heartbeats.Ages
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether every part works."""
        return not self.problems

    def state_of(self, part: str) -> str:
        """``ok``, or what is wrong."""
        reasons = {each.part: each.reason for each in self.problems}
        return reasons.get(part) or self.unknown.get(part, "ok")


class Reporter:
    """Looks at ``database`` (Django's settings of one) and at the Redis of ``url``."""

    def __init__(self, database: Mapping[str, Any], url: str) -> None:
        self._database, self._url = database, url
        self._lock = threading.Lock()
        self._report = Report((), {})
        self._good_until = self._written_until = float("-inf")
        self._since: dict[str, datetime] = {}

    def report(self) -> Report:
        """The present state. One caller looks, which takes seconds at most."""
        is_old = time.monotonic() >= self._good_until + OLD_SECONDS
        if self._lock.acquire(blocking=is_old):
            try:
                self._look_if_due()
            finally:
                self._lock.release()
        return self._report

    def _look_if_due(self) -> None:
        if time.monotonic() >= self._good_until:
            self._report = self._look()
            good = READY_SECONDS if self._report.is_ready else NOT_READY_SECONDS
            self._good_until = time.monotonic() + good

    def _look(self) -> Report:
        ages, problems = self._look_at_database()
        problems += self._look_at_broker()
        failing = [each.part for each in problems]
        now, unknown = utc_now(), dict[str, str]()
        for part in heartbeats.PARTS:
            server = next((one for one in failing if part in DEPENDENT[one]), None)
            hosts = ages.get(part, {})
            if heartbeats.works(part, hosts):
                continue
            if server is not None:
                unknown[part] = UNKNOWN.format(server=server)
            else:
                problems.append(problem_of_silence(part, hosts, now))
        return Report(tuple(self._dated(problems)), ages, unknown)

    def _look_at_database(self) -> tuple[heartbeats.Ages, list[Problem]]:
        try:
            with heartbeats.connect(self._database) as connection:
                if time.monotonic() >= self._written_until:
                    look_at_database(connection)
                    self._written_until = time.monotonic() + WRITTEN_SECONDS
                return heartbeats.ages(connection), []
        except psycopg.Error as error:
            return {}, [problem_of_server(DATABASE, error)]

    def _look_at_broker(self) -> list[Problem]:
        try:
            look_at_broker(self._url)
        except redis.RedisError as error:
            return [problem_of_server(BROKER, error)]
        return []

    def _dated(self, problems: list[Problem]) -> Iterator[Problem]:
        """With the first look that found it, where the problem itself does not say since when."""
        found = {each.part: each for each in problems}
        now = utc_now()
        self._since = {part: self._since.get(part, now) for part in found}
        for each in problems:
            yield replace(each, since=each.since or self._since[each.part])
