"""Requests: who calls, which is the agent behind a bearer token, within its rate, or an operator
who is signed in; the body, bounded in size, also after it is unpacked, and strictly JSON; and lists
in answers: numbered rows, newest first, page by page; tables as CSV.
"""

import csv
import io
import json
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Schema
from ninja.parser import Parser
from ninja.security import HttpBearer, SessionAuth
from ninja.types import DictStrAny
from pydantic import Field
from redis.exceptions import RedisError

from webapp.accounts.models import User
from webapp.accounts.services import is_operator
from webapp.api import errors
from webapp.api.prometheus import REFUSED
from webapp.charts.text import as_cell
from webapp.labs import services
from webapp.labs.models import Scope, Token
from webapp.results.services import Problem, Unprocessable

log = structlog.get_logger()
RATE_WINDOW_SECONDS = 60


class AgentToken(HttpBearer):
    """Authenticates an agent whose token has ``scope`` (None: any); the endpoint finds the token in
    ``request.auth``. Raises ScopeMissing.
    """

    def __init__(self, scope: Scope | None = Scope.UPLOAD) -> None:
        super().__init__()
        self._scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:
        """The token that is spelt, None: no valid one was given."""
        # A private instance asks before the endpoint does: a request is spent and noted once.
        known: Token | None = getattr(request, "agent_token", None)
        found = known or _sign_in(request, token)
        if found is not None and self._scope is not None and self._scope not in found.scopes:
            raise errors.ScopeMissing(self._scope)
        return found


class OperatorSession(SessionAuth):
    """Authenticates an operator by the session of a browser; ``request.auth`` is the user. A
    request that writes carries the CSRF token, as a form does (``X-CSRFToken``).
    """

    def __call__(self, request: HttpRequest) -> User | None:
        """The operator; None for everybody else, who is not asked for a CSRF token. Raises
        OperatorsAlone for a token that is good elsewhere.
        """
        if not is_operator(request.user) and token_of(request) is not None:
            raise errors.OperatorsAlone
        return super().__call__(request) if is_operator(request.user) else None


def _sign_in(request: HttpRequest, token: str) -> Token | None:
    found = Token.objects.matching(token)
    if found is None:
        return None
    spend(found)
    services.note_use(token=found, now=timezone.now())
    request.agent_token = found  # type: ignore[attr-defined]
    return found


def token_of(request: HttpRequest) -> Token | None:
    """The good token that it carries; that is neither counted nor noted."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return Token.objects.matching(token) if scheme.lower() == HttpBearer.openapi_scheme else None


def spend(token: Token) -> None:
    """Count a request of ``token``. Raises TooManyRequests past its rate.

    Windows of a minute in Redis. Without Redis nobody is refused: losing an upload would be
    worse than an agent in a hurry.
    """
    window, elapsed = divmod(time.time(), RATE_WINDOW_SECONDS)
    key = f"rate:{token.pk}:{int(window)}"
    try:
        count = cache.incr(key)
    except ValueError:  # the first request of this window
        cache.add(key, 1, 2 * RATE_WINDOW_SECONDS)
        return
    except RedisError as error:
        log.warning("request not counted against its rate", error=str(error))
        return
    if count > settings.API_REQUESTS_A_MINUTE:
        REFUSED.labels("rate").inc()
        raise errors.TooManyRequests(RATE_WINDOW_SECONDS - elapsed)


CHUNK = 64 * 1024
GZIP_WINDOW = 16 + zlib.MAX_WBITS


class BoundedJSON(Parser):
    """Reads JSON, gzip or plain. A lone run reads as a batch of one."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        """The object in the body; one run is read as a list of one.

        Raises BadBody, BodyTooLarge and, for what JSON or gzip let pass, Unprocessable.
        """
        document = _decode(read_bounded(request, limit=settings.UPLOAD_MAX_BYTES))
        if not isinstance(document, dict):
            raise errors.BadBody("the body must be a JSON object")
        if request.path.endswith("/runs") and "runs" not in document:
            return {"runs": [document]}
        return document


def read_bounded(request: HttpRequest, *, limit: int) -> bytes:
    """The unpacked body, at most ``limit`` bytes.

    Raises BodyTooLarge as soon as that is known: a small gzip may unpack to very much.
    """
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if int(request.headers.get("Content-Length") or 0) > limit:
        raise errors.BodyTooLarge(limit)
    raw = request.read(limit + 1)
    if len(raw) > limit:
        raise errors.BodyTooLarge(limit)
    if encoding in {"", "identity"}:
        return raw
    if encoding != "gzip":
        raise errors.BadBody(f"Content-Encoding {encoding!r} is not known; send gzip or none")
    return _unpack(raw, limit)


def _unpack(raw: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj(GZIP_WINDOW)
    try:
        body = unpacker.decompress(raw, limit + 1)
    except zlib.error as error:
        raise errors.BadBody(f"the body is called gzip and is not: {error}") from error
    if len(body) > limit:
        raise errors.BodyTooLarge(limit)
    if not unpacker.eof:
        raise errors.BadBody("the gzip body ends in the middle; send it again")
    if unpacker.unused_data:
        follow = f"{len(unpacker.unused_data)} bytes follow the end of the gzip body"
        raise Unprocessable([Problem("", f"{follow}; send one gzip member and nothing after it")])
    return body


def _decode(body: bytes) -> Any:
    """The document. Raises BadBody, and Unprocessable for an object that holds a key twice, of
    which JSON would silently take the last."""
    repeated: dict[int, list[str]] = {}
    holders = []  # keeps the ids from being used again

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counted = Counter(name for name, _ in pairs)
            holders.append(found)
            repeated[id(found)] = [name for name, times in counted.items() if times > 1]
        return found

    document = _parse(body, unique)
    if repeated:
        paths = list(islice(_paths(document, repeated), errors.MOST_DETAILS)) or [""]
        raise Unprocessable([Problem(path, "is given twice; send one") for path in paths])
    return document


def _paths(document: Any, repeated: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The paths of the ``repeated`` keys, which are given by the id of their object. An object that
    another one of its name replaced is not found."""
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(document, ())]
    while waiting:
        found, location = waiting.pop()
        yield from (errors.path_of([*location, name]) for name in repeated.get(id(found), ()))
        inside = found.items() if isinstance(found, dict) else enumerate(found)
        waiting += [(one, (*location, key)) for key, one in inside if isinstance(one, dict | list)]


def _parse(body: bytes, unique: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant, object_pairs_hook=unique)
    except UnicodeDecodeError as error:
        raise errors.BadBody(f"the body is not UTF-8: {error}") from error
    except json.JSONDecodeError as error:
        raise errors.BadBody(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise errors.BadBody("the body is nested too deeply") from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise errors.BadBody("the body holds a whole number of too many digits") from error


def _refuse_constant(name: str) -> None:
    raise errors.BadBody(f"the body holds {name}, which JSON does not know; leave such samples out")


Row = TypeVar("Row", bound=models.Model)
ID_MAX = 2**63 - 1


def csv_response(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A file ``name`` with a head and ``rows``; a text that were a formula has `'` before it, and
    times are as RFC 3339 has them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response


def csv_of(name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> HttpResponse:
    """`csv_response` of ``rows`` as JSON has them, of which ``columns`` are taken."""
    return csv_response(name, columns, ([row[column] for column in columns] for row in rows))


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else as_cell(value)


class Page(Schema):
    """Which page of a list; ``next`` of an answer is the ``before`` of the page that follows."""

    before: int = Field(ID_MAX, ge=0, le=ID_MAX, description="Only numbers smaller than this.")
    limit: int = Field(100, ge=1, le=1000)


def newest(found: models.QuerySet[Row], page: Page) -> tuple[list[Row], int | None]:
    """The rows of a page, and the number that the next one goes on from; None: it is the last."""
    rows = list(found.filter(pk__lt=page.before).order_by("-pk")[: page.limit + 1])
    shown = rows[: page.limit]
    return shown, shown[-1].pk if len(rows) > page.limit else None


def bounded(number: int) -> int:
    """A number that the database can look for; one too large for it is nobody's."""
    return max(-1, min(number, ID_MAX))


def same(row: object, *names: str) -> dict[str, Any]:
    """The attributes of these names."""
    return {name: getattr(row, name) for name in names}


def named(row: object, *names: str) -> dict[str, str | None]:
    """What the rows that these attributes point to are called, None where there is none."""
    return {name: one.name if (one := getattr(row, name)) else None for name in names}
