"""What all views are wrapped in: a snapshot of the database, and no compression beside a secret.

A page shows one moment: it reads one snapshot of the database and writes nothing.

Each statement of its own would see what was stored since the one before: an alert on a machine
that the page has not read, a point of a revision it does not know.

By its size, a compressed page that also shows what a stranger put into its address tells the rest
of a lasting secret (BREACH). The token of a form is masked anew in each answer; the secret address
of a feed, a webhook's key or a link of a mail is not. `no-transform` keeps Caddy, and any proxy,
from compressing.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver
from django.utils.cache import patch_cache_control
from psycopg import IsolationLevel

from webapp.config import replica

View = Callable[..., HttpResponseBase]
ASKING = frozenset({"GET", "HEAD", "OPTIONS"})
HOLD_SECRETS = (
    *("account", "admin", "feeds/subscription", "mail", "outbox"),
    *("sign-in", "subscriptions", "unsubscribe", "webhooks"),
)


def at_one_moment(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The addresses, each of whose views reads one snapshot where it is only asked.

    What such a view has to note (a visit, say) it does ``on_commit``, which is after the snapshot.
    """
    for each in patterns:
        if isinstance(each, URLResolver):
            at_one_moment(each.url_patterns)
        else:
            each.callback = _reading_a_snapshot(each.callback)
    return list(patterns)


@contextmanager
def snapshot() -> Iterator[None]:
    """A transaction that reads one snapshot of the database and cannot write.

    Within another transaction it is that one's, which began before and may write.
    """
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    raw = connection.connection
    raw.isolation_level, raw.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        with transaction.atomic():
            yield
    finally:
        if not raw.closed:
            raw.isolation_level, raw.read_only = None, None


def _reading_a_snapshot(view: View) -> View:
    @wraps(view)
    def reading(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.method not in ASKING:
            return view(request, *arguments, **named)
        _renew_session(request)

        def answer() -> HttpResponseBase:
            with snapshot():
                return view(request, *arguments, **named)

        return replica.try_replica(request, answer) or answer()

    return reading


def _renew_session(request: HttpRequest) -> None:
    """Look at the person before the snapshot where the key was changed: Django then stores a
    session anew that a former key signed.
    """
    if settings.SECRET_KEY_FALLBACKS and settings.SESSION_COOKIE_NAME in request.COOKIES:
        bool(request.user.is_authenticated)


def kept_whole(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The addresses; those that hold secrets are marked."""
    for each in patterns:
        if str(each.pattern).startswith(HOLD_SECRETS):
            _mark(each)
        elif isinstance(each, URLResolver):
            kept_whole(each.url_patterns)
    return list(patterns)


def _mark(address: URLPattern | URLResolver) -> None:
    if isinstance(address, URLResolver):
        for each in address.url_patterns:
            _mark(each)
    else:
        address.callback = _whole(address.callback)


def _whole(view: View) -> View:
    @wraps(view)
    def whole(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        response = view(request, *arguments, **named)
        patch_cache_control(response, no_transform=True)
        return response

    return whole
