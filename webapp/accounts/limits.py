"""The one way in by a password, which the page to sign in and the admin's take, and how many wrong
passwords and codes are looked at within a minute.

Failures are counted for each name at each address, and for each address. So whoever tries ada's
password somewhere delays nobody elsewhere, and a try is let through again within a minute. A
browser in which ada signed in before keeps a signed cookie that names her and nothing else, and has
a count of its own: there nobody else's tries delay her, not even from her own address. The cookie
opens nothing. (OWASP: "device cookies".)

Codes of a second factor are counted for each person, wherever they are tried: whoever tries them
knows the password. So nobody else can delay the person, who again has a count of her own in a
browser that knows her.

The counts are in Redis, and in this process as well. Without Redis, or after it was emptied, each
process counts for itself: the limit is then as many times as high as there are processes.

Passwords are hashed one at a time in each process, however many people ask. A hash is made to be
slow: some hundred milliseconds of a whole core. Unbounded, twenty strangers who post the form take
every core from the pages. So one hash runs, one request waits for its turn without a connection to
the database, and the others are asked at once to come again: whoever waits here has a turn that a
page could have (`webapp.config.admission`).
"""

import hashlib
import ipaddress
import math
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any, TypeAlias, TypeVar

import structlog
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, TimestampSigner
from django.db import connection
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage, Storage
from limits.strategies import MovingWindowRateLimiter

from webapp.accounts.factors import HashingBusy, NotNow, TooManyFailures
from webapp.accounts.models import User

AT_ONCE = 1
MOST_WAITING = 1
WAIT_SECONDS = 10.0


class Gate:
    """Lets ``at_once`` threads in and has ``waiting`` others wait, ``seconds`` at most."""

    def __init__(self, *, at_once: int, waiting: int, seconds: float) -> None:
        self._inside = threading.Semaphore(at_once)
        self._most = at_once + waiting
        self._seconds = seconds
        self._lock = threading.Lock()
        self.there = 0
        """Threads inside or waiting."""

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Raises HashingBusy when no place is free, or the turn does not come in time."""
        self._enter()
        try:
            with self._turn():
                yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            if self.there == self._most:
                raise HashingBusy
            self.there += 1

    def _leave(self) -> None:
        with self._lock:
            self.there -= 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._inside.acquire(timeout=self._seconds):
            raise HashingBusy
        try:
            yield
        finally:
            self._inside.release()


gate = Gate(at_once=AT_ONCE, waiting=MOST_WAITING, seconds=WAIT_SECONDS)


class BoundedHasher(PBKDF2PasswordHasher):
    """Django's own hasher, behind the gate of this process. Every password passes here, whichever
    page asks."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash ``password`` in a turn, without a connection to the database. Raises HashingBusy."""
        give_connection_back()
        with gate.passed():
            return super().encode(password, salt, iterations)


def give_connection_back() -> None:
    """Return this thread's connection to the pool, if it has one and no transaction needs it."""
    if "pool" in connection.settings_dict["OPTIONS"] and not connection.in_atomic_block:
        connection.close()


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

LASTS = timedelta(days=365)
_signer = TimestampSigner(salt="driftline.browser")


class Attempt:
    """One try of ``name``'s password."""

    what = "wrong passwords came from your address"

    def __init__(self, request: HttpRequest, name: str) -> None:
        self._counts = self._counted(request, name)

    def _counted(self, request: HttpRequest, name: str) -> list[Count]:
        digest, address = digest_of(name), client_network(request)
        known = known_for(request, name)
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
        where = known_for(request, name) or digest_of(name)
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


def digest_of(name: str) -> str:
    """``name`` for counting: bounded, and nothing that somebody typed is kept."""
    return hashlib.sha256(unicodedata.normalize("NFKC", name).encode()).hexdigest()


def known_for(request: HttpRequest, name: str) -> str:
    """The id of the request's browser if ``name`` signed in there before, else empty."""
    try:
        value = _signer.unsign(request.COOKIES.get(settings.BROWSER_COOKIE_NAME, ""), LASTS)
    except BadSignature:
        return ""
    browser, _, digest = value.partition(".")
    return browser if secrets.compare_digest(digest, digest_of(name)) else ""


def remember(response: HttpResponseBase, name: str) -> None:
    """Have the browser that gets ``response`` known for ``name``."""
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        _signer.sign(f"{secrets.token_hex(16)}.{digest_of(name)}"),
        max_age=LASTS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


class LimitedPasswordChange(PasswordChangeForm):
    """Whoever found somebody's browser open does not get to guess the password there."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_old_password(self) -> str:
        """The old password. Raises ValidationError for a wrong one, TooManyFailures after many."""
        attempt = Attempt(self._request, self.user.get_username())
        attempt.ensure_allowed()
        try:
            return super().clean_old_password()
        except ValidationError:
            attempt.note_failure()
            raise


SIGNED_IN = "signed_in_now"


class SignIn(MiddlewareMixin):
    """Remember the browser of who signed in, and answer those who have to wait."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Remember the browser where the request signed somebody in."""
        name = getattr(request, SIGNED_IN, None)
        if name is not None:
            remember(response, name)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page that states how many seconds to wait; None for any other error."""
        if not isinstance(error, NotNow):
            return None
        response = render(request, "not_now.html", {"message": str(error)}, status=error.status)
        response["Retry-After"] = str(error.retry_after)
        return response


class LimitedBackend(ModelBackend):
    """Django's own backend, within the limits of failures. A name that does not exist costs as
    much time and counts as much as one that does."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **rest: Any,
    ) -> Any:
        """Raises TooManyFailures or HashingBusy; a shell, which has no request, is not limited."""
        if request is None or username is None:
            return super().authenticate(request, username, password, **rest)
        attempt = Attempt(request, username)
        attempt.ensure_allowed()
        user = super().authenticate(request, username, password, **rest)
        if user is None:
            attempt.note_failure()
        return user


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    """Let the answer mark the browser (`webapp.accounts.limits`)."""
    if request is not None:
        setattr(request, SIGNED_IN, user.get_username())


HOME_PREFIX = 64
"""Bits of an IPv6 address that one subscriber shares (RFC 6177): whoever has one has 2⁶⁴."""


def client_address(peer: str, forwarded: str, *, proxies: int) -> str:
    """The address that the outermost of our ``proxies`` saw.

    Each proxy appends whom it was called by to ``forwarded`` (X-Forwarded-For): what stands left
    of the entries of ours is the client's own claim. Who came past the outer proxies has fewer
    entries, the first of them from one of ours. Without proxies, or without entries, the ``peer``.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-min(proxies, len(hops))] if proxies and hops else peer


def counted_as(address: str) -> str:
    """One client's addresses as one: an IPv6 network of 64 bits, or the IPv4 address within.

    What is no address is given back, cut to 64 characters; empty: a Unix socket, nobody's.
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if known.version == 4:
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, HOME_PREFIX), strict=False))
