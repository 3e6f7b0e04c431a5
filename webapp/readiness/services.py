"""Whether the parts of this instance work, looked at once for all who ask within some seconds."""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import psycopg
import redis

from webapp.readiness import heartbeats, parts
from webapp.readiness.heartbeats import still_works
from webapp.readiness.parts import BROKER, DATABASE, Problem

__all__ = ["Report", "Reporter", "heartbeats", "parts", "still_works"]

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
        now, unknown = parts.utc_now(), dict[str, str]()
        for part in heartbeats.PARTS:
            server = next((one for one in failing if part in DEPENDENT[one]), None)
            hosts = ages.get(part, {})
            if heartbeats.works(part, hosts):
                continue
            if server is not None:
                unknown[part] = parts.UNKNOWN.format(server=server)
            else:
                problems.append(parts.problem_of_silence(part, hosts, now))
        return Report(tuple(self._dated(problems)), ages, unknown)

    def _look_at_database(self) -> tuple[heartbeats.Ages, list[Problem]]:
        try:
            with heartbeats.connect(self._database) as connection:
                if time.monotonic() >= self._written_until:
                    parts.look_at_database(connection)
                    self._written_until = time.monotonic() + WRITTEN_SECONDS
                return heartbeats.ages(connection), []
        except psycopg.Error as error:
            return {}, [parts.problem_of_server(DATABASE, error)]

    def _look_at_broker(self) -> list[Problem]:
        try:
            parts.look_at_broker(self._url)
        except redis.RedisError as error:
            return [parts.problem_of_server(BROKER, error)]
        return []

    def _dated(self, problems: list[Problem]) -> Iterator[Problem]:
        """With the first look that found it, where the problem itself does not say since when."""
        found = {each.part: each for each in problems}
        now = parts.utc_now()
        self._since = {part: self._since.get(part, now) for part in found}
        for each in problems:
            yield replace(each, since=each.since or self._since[each.part])
