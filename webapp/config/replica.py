"""Pages read from a replica of the database, where DATABASE_REPLICA_URL names one.

A replica lags behind. A page names the moment that its data are of; whoever wrote something reads
from the primary until the replica has it; and so does everybody while the replica is away or late.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connections
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from psycopg.errors import QueryCanceled

ALIAS = "replica"
LATE = timedelta(seconds=60)
"""A replica whose data are older is not read from. Heartbeats are written each 15 s."""

PAUSE_SECONDS = 15.0
"""For so long a replica that failed is not asked again."""

STATE = """
SELECT pg_last_xact_replay_timestamp(), now() - pg_last_xact_replay_timestamp(),
       pg_last_wal_replay_lsn() >= %s::pg_lsn
"""
"""The moment of the last commit that it has, the age of that, and whether it has a position."""

POSITION = re.compile(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}")
BEGINNING, END = "0/0", "FFFFFFFF/FFFFFFFF"

log = structlog.get_logger()
_lock = threading.Lock()
_failed = float("-inf")


def is_there() -> bool:
    """Whether there is one at all."""
    return ALIAS in connections.settings


@dataclass(frozen=True, slots=True)
class Moment:
    """What the data of an answer are as of, and how long ago that was, in whole seconds."""

    at: datetime
    seconds: int


def as_of(request: HttpRequest) -> Moment | None:
    """The moment that the data of this answer are of; None where they are the primary's."""
    return getattr(request, "replica_as_of", None)


def try_replica(
    request: HttpRequest, answer: Callable[[], HttpResponseBase]
) -> HttpResponseBase | None:
    """What ``answer`` gives, reading from the replica; None where the primary has to be read."""
    if not is_there() or _rests():
        return None
    try:
        moment = _usable_moment(request)
        if moment is None:
            return None
        request.replica_as_of = moment  # type: ignore[attr-defined]
        with _instead_of_the_primary():
            return answer()
    except (OperationalError, InterfaceError) as error:
        request.replica_as_of = None  # type: ignore[attr-defined]
        if isinstance(error.__cause__, QueryCanceled):
            raise  # It took too long, which it would on the primary.
        _rest(error)
        return None


def _usable_moment(request: HttpRequest) -> Moment | None:
    """The moment that the replica's data are of, unless they are too old for this request."""
    written = request.COOKIES.get(settings.WRITTEN_COOKIE_NAME, "")
    position = written if POSITION.fullmatch(written) else BEGINNING
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(STATE, [position])
        moment, age, has_it = cursor.fetchone()
    if moment is None or not has_it or age > LATE:
        return None
    return Moment(moment, max(0, round(age.total_seconds())))  # two clocks may differ


@contextmanager
def _instead_of_the_primary() -> Iterator[None]:
    """Everything in this thread that asks the database asks the replica, whoever it asks for.

    Reads are written in SQL as well as with the ORM, so that a router would not see half of them.
    What is to be done on commit is done with the primary.
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    later: list[Callable[[], object]] = []
    replica.on_commit = lambda func, *_: later.append(func)  # type: ignore[method-assign]
    connections[DEFAULT_DB_ALIAS] = replica
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
        del replica.on_commit
    for act in later:
        act()


def _rests() -> bool:
    return time.monotonic() - _failed < PAUSE_SECONDS


def _rest(error: Error) -> None:
    global _failed  # noqa: PLW0603 (of the process, as its connections)
    with _lock:
        _failed = time.monotonic()
    log.warning("the replica failed, pages read from the primary", error=str(error))


def _position() -> str:
    """The end of the log; where it cannot be asked for, a position that no replica reaches."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
            return str(cursor.fetchone()[0])
    except (OperationalError, InterfaceError) as error:
        log.warning("the position of a write is not known", error=str(error))
        return END


class RememberWrites(MiddlewareMixin):
    """Whoever wrote something keeps the position of it in the log, for `try_replica`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not is_there():
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The answer; after a form was sent, with a cookie."""
        if request.method == "POST" and "Authorization" not in request.headers:
            response.set_cookie(
                settings.WRITTEN_COOKIE_NAME,
                _position(),
                max_age=2 * LATE,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response
