"""Errors of the API: one shape, translated once, each with its remedy.

``{"error": {"code", "message", "remedy", "details": [{"path", "message"}]}}``
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from psycopg.errors import QueryCanceled

from webapp.analysis.queries import SideError
from webapp.api.prometheus import REFUSED
from webapp.api.schemas.types import IN_WORDS, INSIDE
from webapp.events.services import ReleaseTaken
from webapp.jobs.services import ForeignJob, LeaseLost, NoSuchJob, ResultRefused, WrongKernel
from webapp.labs.services import QuotaExceeded
from webapp.outbox.services import absolute
from webapp.results.services import Conflict, Forbidden, NoSuchRun, Problem, Unprocessable

MOST_DETAILS = 1000
READING = ("GET", "HEAD")
LONGEST_PATH = 500
DATABASE_BACK_SECONDS = 2
LOAD_PASSES_SECONDS = 30
log = structlog.get_logger()


@dataclass(frozen=True)
class Kind:
    """What a status means to the caller, and what to do about it."""

    status: int
    code: str
    message: str
    remedy: str


UNPROCESSABLE = Kind(
    422, "invalid", "The document cannot be stored as it is.", "Mend the fields named in details."
)
KINDS: dict[type[Exception], Kind] = {
    Unprocessable: UNPROCESSABLE,
    Forbidden: Kind(
        403,
        "forbidden",
        "This token may not write there.",
        "Use a token of the lab that owns the hardware.",
    ),
    Conflict: Kind(
        409,
        "conflict",
        "A run of this UUID is stored with other content.",
        "Send a new UUID, or ?replace=true to let the new content take its place.",
    ),
    NoSuchRun: Kind(404, "not_found", "No such run is stored.", "Upload the run first."),
    ReleaseTaken: Kind(
        409,
        "conflict",
        "A release of this name is stored with another revision, kind or date.",
        "Give another name, or have an operator change the stored one in the admin.",
    ),
}
UNAUTHENTICATED = Kind(
    401,
    "unauthenticated",
    "No good token was sent.",
    "Send `Authorization: Bearer TOKEN`; `manage.py create_agent NAME --lab LAB` makes one.",
)

UNAVAILABLE = Kind(
    503,
    "unavailable",
    "The database cannot be reached, or gave up on this request.",
    "Nothing of it was stored. Send it again after the seconds of Retry-After.",
)
TOOK_TOO_LONG = Kind(
    503,
    "took_too_long",
    "This took too long, and the database was stopped.",
    "Nothing of it was stored. Ask for less at once, or again after the seconds of Retry-After.",
)

NOT_FOUND = Kind(404, "not_found", "", "See /api/docs.")
QUOTA = "quota"
TOO_MANY = Kind(429, "too_many_requests", "", "Wait for the seconds in Retry-After.")


class BadBody(Exception):
    """The body cannot be read."""


class BodyTooLarge(Exception):
    """The body is larger than allowed, as sent or unpacked."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than {limit} bytes (unpacked)")


class TooManyRequests(Exception):
    """The token spent its rate."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("too many requests with this token")
        self.retry_after = retry_after


class ScopeMissing(Exception):
    """The token may do other things than this."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"this token does not have the scope “{scope}”")


class OperatorsAlone(Exception):
    """The token is good, and no token may do this."""

    def __init__(self) -> None:
        super().__init__("operators alone may do this, signed in; no token may")


PARSER_ERRORS = (BadBody, BodyTooLarge, Unprocessable)
SIMPLE: dict[type[Exception], Kind] = {
    BadBody: Kind(400, "bad_body", "", "Send one JSON object, UTF-8."),
    BodyTooLarge: Kind(413, "too_large", "", "Send fewer runs at once."),
    SideError: Kind(422, "invalid", "", "See /api/docs for how a side is written."),
    Http404: NOT_FOUND,
    NoSuchJob: NOT_FOUND,
    ScopeMissing: Kind(
        403, "scope_missing", "", "Ask an operator for a token with this scope (Agents, Issue)."
    ),
    OperatorsAlone: Kind(
        401, "unauthenticated", "", "Send an operator's session with X-CSRFToken, or use the admin."
    ),
    ForeignJob: Kind(403, "forbidden", "", "Use a token of the lab that owns the hardware."),
    LeaseLost: Kind(409, "lease_lost", "", "Ask for another job."),
    ResultRefused: Kind(409, "wrong_job", "", "Measure what the job names, or use POST /runs."),
    WrongKernel: Kind(
        409, "wrong_kernel", "", "Boot the kernel of the job's revision, and measure again."
    ),
}


CODES = frozenset({QUOTA}) | frozenset(
    kind.code
    for kind in (
        *KINDS.values(),
        *SIMPLE.values(),
        UNAUTHENTICATED,
        UNAVAILABLE,
        TOOK_TOO_LONG,
        TOO_MANY,
    )
)
"""Every code but ``error``, which goes with a status that the framework gives."""


def answer(
    api: NinjaAPI,
    request: HttpRequest,
    kind: Kind,
    *,
    message: str | None = None,
    problems: Sequence[Problem] = (),
) -> HttpResponse:
    """The error body of ``kind`` with its status. At most ``MOST_DETAILS`` problems are listed."""
    details = [{"path": one.path, "message": one.message} for one in problems[:MOST_DETAILS]]
    body: dict[str, Any] = {
        "code": kind.code,
        "message": message or kind.message,
        "remedy": kind.remedy,
        "details": details,
    }
    return api.create_response(request, {"error": body}, status=kind.status)


def refuse_stranger(api: NinjaAPI, request: HttpRequest) -> HttpResponse:
    """Reading needs a token too, because the instance is private."""
    return answer(api, request, UNAUTHENTICATED)


def path_of(location: Sequence[Any]) -> str:
    """``("body", "batch", "runs", 3, "mode")`` → ``runs[3].mode``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.lstrip(".")


def validation_problems(error: ValidationError) -> list[Problem]:
    """What the schema refused, each with the path of its field in the body."""
    return [
        Problem(
            path_of([*_inner(one["loc"]), *one.get("ctx", {}).get(INSIDE, ())])[:LONGEST_PATH],
            _message(one),
        )
        for one in error.errors[:MOST_DETAILS]
    ]


def _message(one: Mapping[str, Any]) -> str:
    """A pattern in words, and that it is the body which is missing."""
    if one["type"] == "missing" and not _inner(one["loc"]):
        return "The body is empty: send one JSON object"
    in_words = IN_WORDS.get(one.get("ctx", {}).get("pattern"))
    return in_words or str(one["msg"]).removeprefix("Value error, ")


def _inner(location: Sequence[Any]) -> Sequence[Any]:
    """Without the framework's own names: where it looked, and the view's parameter."""
    return location[2:] if location[0] == "body" else location[1:]


def missing(request: HttpRequest, error: Http404) -> str:
    """What a 404 is about, for people, also where Django alone said which model has no such row;
    empty: there is nothing at the address.
    """
    text = str(error.args[0]) if error.args and isinstance(error.args[0], str) else ""
    model = re.fullmatch(r"No (\w+) matches the given query\.", text)
    if model is None:
        return text
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", model[1]).lower()
    return f"There is no such {name}: {request.path}"


def add_handlers(api: NinjaAPI) -> None:
    """Translate every error that an endpoint may raise."""

    def results_error(request: HttpRequest, error: Any) -> HttpResponse:
        return answer(api, request, KINDS[type(error)], problems=error.problems)

    for kind in KINDS:
        api.add_exception_handler(kind, results_error)
    api.add_exception_handler(ValidationError, _on_validation(api))
    api.add_exception_handler(AuthenticationError, _plain(api, UNAUTHENTICATED, own_message=False))
    api.add_exception_handler(RequestDataTooBig, _on_too_big(api))
    api.add_exception_handler(HttpError, _on_http_error(api))
    api.add_exception_handler(TooManyRequests, _on_too_many(api))
    api.add_exception_handler(QuotaExceeded, _on_quota(api))
    for raised, meaning in SIMPLE.items():
        api.add_exception_handler(raised, _plain(api, meaning))
    api.add_exception_handler(Http404, _on_missing(api))
    for lost in (OperationalError, InterfaceError):
        api.add_exception_handler(lost, _on_database_lost(api))


def _plain(api: NinjaAPI, kind: Kind, *, own_message: bool = True) -> Any:
    def handler(request: HttpRequest, error: Exception) -> HttpResponse:
        message = str(error) if own_message and str(error) else kind.message or kind.code
        return answer(api, request, kind, message=message)

    return handler


def _on_missing(api: NinjaAPI) -> Any:
    def handler(request: HttpRequest, error: Http404) -> HttpResponse:
        message = missing(request, error) or f"There is nothing at {request.path}"
        return answer(api, request, NOT_FOUND, message=message)

    return handler


def _on_too_big(api: NinjaAPI) -> Any:
    """Django refused it before our parser could."""

    def handler(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return api.on_exception(request, BodyTooLarge(settings.UPLOAD_MAX_BYTES))

    return handler


def _on_validation(api: NinjaAPI) -> Any:
    def handler(request: HttpRequest, error: ValidationError) -> HttpResponse:
        asked = "The query cannot be answered as it is." if request.method in READING else None
        problems = validation_problems(error)
        return answer(api, request, UNPROCESSABLE, message=asked, problems=problems)

    return handler


def _on_http_error(api: NinjaAPI) -> Any:
    def handler(request: HttpRequest, error: HttpError) -> HttpResponse:
        if isinstance(error.__cause__, PARSER_ERRORS):  # ninja wraps them
            return api.on_exception(request, error.__cause__)
        kind = Kind(error.status_code, "error", str(error), "See /api/docs.")
        return answer(api, request, kind)

    return handler


def _on_too_many(api: NinjaAPI) -> Any:
    def handler(request: HttpRequest, error: TooManyRequests) -> HttpResponse:
        response = answer(api, request, TOO_MANY, message=str(error))
        response["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
        return response

    return handler


def _on_quota(api: NinjaAPI) -> Any:
    def handler(request: HttpRequest, error: QuotaExceeded) -> HttpResponse:
        REFUSED.labels("quota").inc()
        again = "Name trees and series that are there already"
        if error.what == "profiles":
            again = "Have profiles removed that nobody needs"
        elif error.ends_at:
            again = f"Send it again from {error.ends_at:%Y-%m-%d %H:%M} UTC on"
        where = absolute(reverse("labs"))
        remedy = f"{again}, or have an operator raise the quota ({where}). Nothing was stored."
        kind = Kind(429, QUOTA, str(error), remedy)
        response = answer(api, request, kind)
        response["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
        return response

    return handler


def _on_database_lost(api: NinjaAPI) -> Any:
    """A restart or a deadlock passes: the sender is to wait, not to give up."""

    def handler(request: HttpRequest, error: Exception) -> HttpResponse:
        kind, retry_after = explain_loss(request, error)
        response = answer(api, request, kind)
        response["Retry-After"] = str(retry_after)
        return response

    return handler


def explain_loss(request: HttpRequest, error: Exception) -> tuple[Kind, int]:
    """What an error of the database means to the sender, and when to come again; it is logged."""
    log.warning("request ended by the database", path=request.path, error=str(error))
    if isinstance(error.__cause__, QueryCanceled):
        return TOOK_TOO_LONG, LOAD_PASSES_SECONDS
    return UNAVAILABLE, DATABASE_BACK_SECONDS
