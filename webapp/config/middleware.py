"""Middleware of the site (private instances, hostile requests, a database that is away), and what
all views are wrapped in: a snapshot of the database, and no compression beside a secret. The first
of them counts requests and their times for `/metrics`.

On a private instance every address needs an account, unless its view is excepted. A new view is
private without anybody thinking of it. What stays open carries Django's mark ``login_not_required``
and why: signing in, the checks of supervisors, and addresses that are a secret themselves.
Static files are served before this and hold nothing of the instance.

A page shows one moment: it reads one snapshot of the database and writes nothing. Each statement of
its own would see what was stored since the one before: an alert on a machine that the page has not
read, a point of a revision it does not know.

By its size, a compressed page that also shows what a stranger put into its address gives away the
rest of a lasting secret (BREACH). The token of a form is masked anew in each answer; the secret
address of a feed, a webhook's key or a link of a mail is not. `no-transform` keeps Caddy, and any
proxy, from compressing.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.db import InterfaceError, OperationalError, connection, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, URLResolver
from django.utils.cache import patch_cache_control
from django.utils.deprecation import MiddlewareMixin
from prometheus_client import Counter, Gauge, Histogram
from psycopg import IsolationLevel

from webapp.accounts.models import AuditEntry, User
from webapp.accounts.roles import way_to_sign_in
from webapp.accounts.services import audit, everybody_may_read
from webapp.api.errors import explain_loss
from webapp.api.prometheus import REGISTRY as METRICS
from webapp.api.urls import NAMESPACE, refuse_reader
from webapp.config import audited, replica

ASKING = frozenset({"GET", "HEAD", "OPTIONS"})
MEASURING = frozenset(
    f"api:{name}" for name in ("upload", "upload_profile", "poll", "heartbeat", "fail", "result")
)
"""What agents send all day. Runs, profiles and jobs name the agent themselves."""

API = "/api/v1/"

View = Callable[..., HttpResponseBase]
HOLD_SECRETS = (
    *("account", "admin", "feeds/subscription", "mail", "outbox"),
    *("sign-in", "subscriptions", "unsubscribe", "webhooks"),
)


def reading(request: HttpRequest) -> dict[str, Any]:
    """A context processor: ``is_private``, and ``may_read``, false on the pages that a stranger
    sees of a private instance, whose frame then names nothing; and the moment that the data of a
    replica are of.
    """
    return {
        "may_read": may_read(request),
        "is_private": is_private(request),
        "replica_as_of": replica.as_of(request),
    }


def may_read(request: HttpRequest) -> bool:
    """Whether who asks may see the instance: all may see a public one."""
    return not is_private(request) or request.user.is_authenticated


def is_private(request: HttpRequest) -> bool:
    """Whether not everybody may read: as DRIFTLINE_PUBLIC has it, else as the database has it. One
    answer for the whole request.
    """
    if settings.PUBLIC is not None:
        return not settings.PUBLIC
    if not hasattr(request, "is_private"):
        request.is_private = not everybody_may_read()  # type: ignore[attr-defined]
    return bool(request.is_private)  # type: ignore[attr-defined]


class PrivateAnswers(MiddlewareMixin):
    """No shared cache keeps an answer to somebody with a session, nor any of a private instance.

    The cookie is looked at and not the person, so that nothing is read for it.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The answer; one that sets a cookie is its receiver's alone as well."""
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if has_session or response.cookies or is_private(request):
            patch_cache_control(response, private=True)
        return response


class PrivateInstance(LoginRequiredMiddleware):
    """Nothing on a public instance; on a private one strangers sign in, and programs send the
    token of an agent, with which they read pages, pictures and feeds as well as the API."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """None where the request may be answered, else the way to sign in or a refusal."""
        if may_read(request):
            return None
        if not getattr(view_func, "login_required", True):
            return None
        match = request.resolver_match
        is_api = match is not None and NAMESPACE in match.namespaces
        if is_api or _reads_by_token(request):
            return refuse_reader(request)
        refused = super().process_view(request, view_func, view_args, view_kwargs)
        return None if refused is None else way_to_sign_in(request)


def _reads_by_token(request: HttpRequest) -> bool:
    """Whether a program asks. A password of a proxy's own is no token."""
    scheme = request.headers.get("Authorization", "").partition(" ")[0]
    return scheme.lower() == "bearer" and request.method in ("GET", "HEAD")


class RejectNulBytes(MiddlewareMixin):
    """The database holds no NUL, and refuses to look for one: such an address leads nowhere."""

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Raises Http404 for a path with a NUL."""
        if "\0" in request.path:
            raise Http404


class RefuseLargeBodies(MiddlewareMixin):
    """413 for pages. The API asks first who sends, and refuses in its own form."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Answer 413 for a body over the limit; the API refuses its own, as JSON."""
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > settings.UPLOAD_MAX_BYTES and not request.path_info.startswith(API):
            return HttpResponse("The request is too large.\n", "text/plain", status=413)
        return None


class DatabaseLost(MiddlewareMixin):
    """Answer 503 with Retry-After while the database is away."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The API translates its own (`webapp.api.errors`)."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        kind, retry_after = explain_loss(request, error)
        message = f"{kind.message} Nothing was stored. Try again in {retry_after} seconds."
        response = render(request, "not_now.html", {"message": message}, status=kind.status)
        response["Retry-After"] = str(retry_after)
        return response


def at_one_moment(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The addresses, each of whose views reads one snapshot where it is only asked.

    What such a view has to note (as a visit) it does ``on_commit``, which is after the snapshot.
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


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
POLL = "/api/v1/jobs/poll"
REQUESTS = Counter(
    "driftline_requests", "Requests answered", ["method", "route", "status"], registry=METRICS
)
SECONDS = Histogram(
    "driftline_request_seconds",
    "Time from the whole request to the beginning of its answer",
    ["route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=METRICS,
)
IN_PROGRESS = Gauge(
    "driftline_requests_in_progress",
    "Requests at work; polls of agents that wait for a job are counted apart",
    ["kind"],
    multiprocess_mode="livesum",
    registry=METRICS,
)
POOL = Gauge(
    "driftline_database_pool",
    "Connections of the web server to the database, and requests that wait for one",
    ["state"],
    multiprocess_mode="livesum",
    registry=METRICS,
)


class CountRequests:
    """The first of all middlewares: it sees what the others refuse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer as without this."""
        began = time.monotonic()
        at_work = IN_PROGRESS.labels("poll" if request.path_info == POLL else "other")
        note_pool()
        with at_work.track_inprogress():
            response = self.get_response(request)
        route = route_of(request)
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).inc()
        SECONDS.labels(route).observe(time.monotonic() - began)
        note_pool()
        return response


def route_of(request: HttpRequest) -> str:
    """The pattern of the address: never what a visitor typed, so there are only so many."""
    if request.path_info.startswith(f"/{settings.STATIC_URL.lstrip('/')}"):
        return "static/"
    found = request.resolver_match
    if found is None:
        return "none"
    return "admin/" if "admin" in found.app_names else found.route or "/"


def note_pool() -> None:
    """What this process knows of its connections."""
    pool = getattr(connection, "pool", None)
    if pool is not None:
        found = pool.get_stats()
        POOL.labels("most").set(found["pool_max"])
        POOL.labels("used").set(found["pool_size"] - found["pool_available"])
        POOL.labels("waiting").set(found["requests_waiting"])


class Acting:
    """Whoever sends a request that may write acts in it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, with the log following what the view writes."""
        with ExitStack() as stack:
            request.acting = stack  # type: ignore[attr-defined]
            return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Begin when it is known which view answers."""
        if request.method not in ASKING and _view_of(request) not in MEASURING:
            describe = partial(_describe, request)
            request.acting.enter_context(audit.acting(describe))  # type: ignore[attr-defined]


def _describe(request: HttpRequest) -> audit.Actor:
    # The button that was pressed, and the action that was chosen in the admin
    acts = [request.POST.get(name, "")[:40] for name in ("act", "action")]
    action = " ".join(filter(None, (_asked(request), *acts)))
    origin = audited.address_of(request)
    token = getattr(request, "agent_token", None)
    if token is not None:
        name = f"{token.agent} {token}"
        return audit.other_acting(AuditEntry.Kind.TOKEN, name, action=action, origin=origin)
    if isinstance(request.user, User):
        return audit.person_acting(request.user, action=action, origin=origin)
    return audit.other_acting(AuditEntry.Kind.STRANGER, "", action=action, origin=origin)


def _asked(request: HttpRequest) -> str:
    """The view; of the API, where a view answers every method of an address, these two."""
    match = request.resolver_match
    if match is not None and match.app_name == "ninja":
        return f"{request.method} /{match.route}"
    return _view_of(request)


def _view_of(request: HttpRequest) -> str:
    match = request.resolver_match
    return match.view_name if match is not None else ""
