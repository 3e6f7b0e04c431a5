"""How many wrong passwords and codes are looked at within a minute.

Failures are counted for each name at each address, and for each address. So whoever tries ada's
password somewhere delays nobody elsewhere, and a try is let through again within a minute. A
browser in which ada signed in before has a count of its own (`browsers`): there nobody else's tries
delay her, not even from her own address.

Codes of a second factor are counted for each person, wherever they are tried: whoever tries them
knows the password. So nobody else can delay the person, who again has a count of her own in a
browser that knows her.

The counts are in Redis, and in this process as well. Without Redis, or after it was emptied, each
process counts for itself: the limit is then as many times as high as there are processes.
."""

import math
import time
from collections.abc import Callable
from functools import cache
from typing import TypeAlias, TypeVar

import structlog
from django.conf import settings
from django.http import HttpRequest
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage, Storage
from limits.strategies import MovingWindowRateLimiter

from webapp.accounts.addresses import client_address, counted_as
from webapp.accounts.signing_in import browsers
from webapp.accounts.signing_in.errors import TooManyFailures

PER_NAME = RateLimitItemPerMinute(5, namespace="sign-in-name")
PER_ADDRESS = RateLimitItemPerMinute(20, namespace="sign-in-address")
PER_BROWSER = RateLimitItemPerMinute(5, namespace="sign-in-browser")
CODES = (
    RateLimitItemPerMinute(5, namespace="sign-in-codes"),
    RateLimitItemPerHour(30, namespace="sign-in-codes-of-an-hour"),
)
"""Three of a million codes are right at a time: 30 tries an hour find one in a year and a bit."""

ASKED = RateLimitItemPerMinute(30, namespace="sign-in-asked")
"""Of each address: links to a new password, challenges for passkeys, ways to single sign-on."""

REDIS_SECONDS = 2
Count: TypeAlias = tuple[RateLimitItem, str]
Answer = TypeVar("Answer")
log = structlog.get_logger()


class Attempt:
    """One try of ``name``'s password."""

    what = "wrong passwords came from your address"

    def __init__(self, request: HttpRequest, name: str) -> None:
        self._counts = self._counted(request, name)

    def _counted(self, request: HttpRequest, name: str) -> list[Count]:
        digest, address = browsers.digest_of(name), client_network(request)
        known = browsers.known_for(request, name)
        elsewhere: list[Count] = [(PER_NAME, f"{address} {digest}"), (PER_ADDRESS, address)]
        return [(PER_BROWSER, known)] if known else elsewhere

    def ensure_allowed(self) -> None:
        """Raises TooManyFailures with the seconds to wait."""
        wait = max(limiter.wait(*count) for limiter in limiters() for count in self._counts)
        if wait:
            raise TooManyFailures(self.what, wait)

    def note_failure(self) -> None:
        """Count it, here and for all processes."""
        for limiter in limiters():
            for count in self._counts:
                limiter.note(*count)


class CodeAttempt(Attempt):
    """One try of a code of ``name``'s second factor."""

    what = "wrong codes were given for this account"

    def _counted(self, request: HttpRequest, name: str) -> list[Count]:
        where = browsers.known_for(request, name) or browsers.digest_of(name)
        return [(each, where) for each in CODES]


class Asking(Attempt):
    """One request of a stranger that makes the server send something; each one counts."""

    what = "such requests came from your address"

    def __init__(self, request: HttpRequest) -> None:
        self._counts = [(ASKED, client_network(request))]

    def spend(self) -> None:
        """Count it. Raises TooManyFailures past the limit."""
        self.ensure_allowed()
        self.note_failure()


class Limiter:
    """Counts in one storage; one that cannot be reached refuses nobody."""

    def __init__(self, storage: Storage) -> None:
        self._windows = MovingWindowRateLimiter(storage)

    def wait(self, item: RateLimitItem, key: str) -> int:
        """Whole seconds until a try is let through; 0: it is now."""
        return _unless_lost(lambda: self._wait(item, key), 0)

    def note(self, item: RateLimitItem, key: str) -> None:
        """Count one try."""
        _unless_lost(lambda: self._windows.hit(item, key), False)

    def _wait(self, item: RateLimitItem, key: str) -> int:
        if self._windows.test(item, key):
            return 0
        wait = self._windows.get_window_stats(item, key).reset_time - time.time()
        if wait > item.get_expiry():
            # The clock was set back: these tries lie in the future, and would be kept till then.
            self._windows.clear(item, key)
            return 0
        return max(1, math.ceil(wait))


def limiters() -> tuple[Limiter, Limiter]:
    """What counts wrong passwords: for all processes in Redis, and in this process alone."""
    return _limiters(settings.REDIS_URL)


def client_network(request: HttpRequest) -> str:
    """The IPv4 address or the IPv6 network of the client."""
    address = client_address(
        request.META.get("REMOTE_ADDR", ""),
        request.headers.get("X-Forwarded-For", ""),
        proxies=settings.PROXIES,
    )
    return counted_as(address) or "unknown"


def _unless_lost(ask: Callable[[], Answer], otherwise: Answer) -> Answer:
    try:
        return ask()
    except StorageError as error:
        log.warning("wrong passwords are counted in this process only", error=str(error))
        return otherwise


@cache
def _limiters(url: str) -> tuple[Limiter, Limiter]:
    shared = RedisStorage(
        url.replace("unix://", "redis+unix://", 1),
        key_prefix="driftline-limits",
        wrap_exceptions=True,
        socket_timeout=REDIS_SECONDS,
        socket_connect_timeout=REDIS_SECONDS,
    )
    return Limiter(shared), Limiter(MemoryStorage())
