"""Who may occupy the web server, and how much of it: around the WSGI application.

Each request has a thread of Gunicorn's. WEB_THREADS of them work at once, addresses in turn; the
others wait for that, for a job, for the rest of a large body, or for a client to take its answer,
and hold no connection to the database meanwhile.

Caddy passes a request on once all of a small body is here. A larger one comes through as it is
sent and occupies a thread for as long: it is counted by address and sender before any of it is
read, and its sender must be known.
"""

import errno
import io
import json
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO, Any

import structlog
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError, close_old_connections

from webapp.accounts.limits import client_address, counted_as
from webapp.api.prometheus import REFUSED
from webapp.api.requests import token_of
from webapp.config.shares import ALL, Slots, Turns

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

HEALTH, POLL = "/healthz", "/api/v1/jobs/poll"
ANYBODYS_BYTES = 64 * 1024
"""A body that is taken from anybody; `request_buffers` of Caddy's configuration is as much."""
IN_MEMORY_BYTES = 256 * 1024
PIECE_BYTES = 64 * 1024
SILENT_SECONDS = 20.0
"""The sender of a large body that sends nothing for so long is given up. One that sends a
little now and then is given up by Caddy (`webapp.launcher.programs`)."""
ANSWER_SECONDS = 60.0
"""For a piece of an answer that waits until its client has taken what came before."""
HEARD_OUT, HEARD_OUT_SECONDS = 16, 2.0
"""Many clients read their answer only once they have sent everything: so many of those that are
refused are listened to for a little."""
END_SECONDS = 1.0
RETRY_AFTER_SECONDS = 5
CODES = {
    400: "bad_request",
    408: "too_slow",
    429: "too_many_at_once",
    503: "unavailable",
}
"""The name of the error in an answer, by its status; Caddy's configuration has some of them too."""
log = structlog.get_logger()


class Refused(Exception):
    """The application does not see the request."""

    def __init__(self, status: HTTPStatus, message: str, remedy: str) -> None:
        super().__init__(message)
        self.status = status
        self.remedy = remedy

    def answer(self, start_response: StartResponse) -> list[bytes]:
        """The refusal in the form of the API's errors."""
        error = {
            "code": CODES[self.status],
            "message": str(self),
            "remedy": self.remedy,
            "details": [],
        }
        body = json.dumps({"error": error}).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Retry-After", str(RETRY_AFTER_SECONDS)),
        ]
        start_response(f"{self.status.value} {self.status.phrase}", headers)
        return [body]


@dataclass(frozen=True)
class Answer:
    """An answer on its way: what its request holds is given back once it was sent."""

    parts: Iterable[bytes]
    after: ExitStack

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            for start in range(0, len(part), PIECE_BYTES):
                yield part[start : start + PIECE_BYTES]

    def close(self) -> None:
        """Called by the server at the end, however that came."""
        self.after.close()


class Admission:
    """A WSGI application that lets requests in to another one."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._requests = Slots()
        self._bodies = Slots()
        self._heard_out = Slots()
        self._turns = Turns(settings.WEB_THREADS)
        self.rested = self._turns.rested

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer, or refuse before anything was read."""
        address = address_of(environ)
        with ExitStack() as stack:
            try:
                self._let_in(environ, address, stack)
                parts = self._answered(environ, start_response, address)
            except Refused as refused:
                REFUSED.labels("front").inc()
                log.warning("refused a request", reason=str(refused), address=address)
                self._hear_out(environ, stack)
                parts = refused.answer(start_response)
            if hasattr(parts, "close"):
                stack.callback(parts.close)
            _limit(environ, ANSWER_SECONDS)
            return Answer(parts, stack.pop_all())

    def _answered(
        self, environ: Environ, start_response: StartResponse, address: str
    ) -> Iterable[bytes]:
        if environ["PATH_INFO"] == HEALTH:  # has no time to wait
            return self._application(environ, start_response)
        with self._turns.turn(address):
            try:
                return self._application(environ, start_response)
            finally:
                close_old_connections()

    def _let_in(self, environ: Environ, address: str, stack: ExitStack) -> None:
        """Take the slots that the request needs; its body is here afterwards. Raises Refused."""
        if address and environ["PATH_INFO"] not in {HEALTH, POLL}:
            full = stack.enter_context(
                self._requests.taken(**{address: settings.REQUESTS_PER_ADDRESS})
            )
            if full:
                raise _too_many("requests")
        length = _length(environ)
        if length is not None and length <= ANYBODYS_BYTES:
            return
        sender = self._sender(environ, address)
        if not sender or (length or 0) > settings.UPLOAD_MAX_BYTES:
            self._leave_out(environ, stack)
            return
        self._take_slot(address, sender, stack)
        self._receive(environ, length, stack)

    def _take_slot(self, address: str, sender: str, stack: ExitStack) -> None:
        most = {sender: settings.LARGE_BODIES_PER_SENDER, ALL: settings.LARGE_BODIES}
        if address:
            most[address] = settings.LARGE_BODIES_PER_ADDRESS
        full = stack.enter_context(self._bodies.taken(**most))
        if full == ALL:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many uploads are coming in at once",
                "Send it again in a few seconds.",
            )
        if full:
            raise _too_many("large uploads")

    def _receive(self, environ: Environ, length: int | None, stack: ExitStack) -> None:
        """Read the whole body, which then stands where the application reads it."""
        most = settings.UPLOAD_MAX_BYTES if length is None else length
        file = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 (as below)
        stack.enter_context(file)
        try:
            size = _read(environ, file.write, most + 1 if length is None else most)
        except TimeoutError as error:
            raise Refused(
                HTTPStatus.REQUEST_TIMEOUT,
                "the request did not come in time",
                "Send it again, faster.",
            ) from error
        if size > most:
            self._leave_out(environ, stack)
        elif length is not None and size < length:
            raise ConnectionResetError(errno.ECONNRESET, "the body ends in the middle")
        else:
            file.seek(0)
            _give(environ, file, size)

    def _leave_out(self, environ: Environ, stack: ExitStack) -> None:
        """The application is to hear that the body is too large, whatever else it would answer."""
        self._hear_out(environ, stack)
        _give(environ, io.BytesIO(), settings.UPLOAD_MAX_BYTES + 1)

    def _hear_out(self, environ: Environ, stack: ExitStack) -> None:
        """Listen a little longer to who is refused, and have the answer arrive."""
        length = _length(environ)
        if length is not None and length <= ANYBODYS_BYTES:
            return
        most, heard = 2 * settings.UPLOAD_MAX_BYTES, None
        with self._heard_out.taken(**{ALL: HEARD_OUT}) as full, suppress(OSError):
            if not full:
                end = time.monotonic() + HEARD_OUT_SECONDS
                heard = _read(environ, lambda _piece: None, most, end)
        if heard is None or heard == most:
            # Its other side will not use the connection again: there is more of the body.
            stack.callback(_end, environ)

    def _sender(self, environ: Environ, address: str) -> str:
        """Whom the head of a request names: an agent's token or a person who signed in; empty:
        neither. Raises Refused when nobody can know.
        """
        request = WSGIRequest(environ)
        with self._turns.turn(address):
            try:
                token = token_of(request)
                return f"token {token.pk}" if token else _person(request)
            except (DatabaseError, InterfaceError) as error:
                raise Refused(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "the database cannot be reached",
                    "Send it again later.",
                ) from error
            finally:
                close_old_connections()


def address_of(environ: Environ) -> str:
    """The client's address as it is counted; empty where there is none."""
    forwarded = environ.get("HTTP_X_FORWARDED_FOR", "")
    peer = environ.get("REMOTE_ADDR", "")
    return counted_as(client_address(peer, forwarded, proxies=settings.PROXIES))


def _person(request: WSGIRequest) -> str:
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return ""
    request.session = SessionStore(key)
    user = get_user(request)
    return f"person {user.pk}" if user.is_authenticated else ""


def _too_many(what: str) -> Refused:
    return Refused(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"too many {what} at once",
        "Wait until some of them are answered.",
    )


def _length(environ: Environ) -> int | None:
    """How long the body is; None: unstated. Gunicorn has refused what contradicts itself."""
    if "HTTP_TRANSFER_ENCODING" in environ:
        return None
    return int(environ.get("CONTENT_LENGTH") or 0)


def _read(environ: Environ, keep: Callable[[bytes], Any], most: int, end: float = 0.0) -> int:
    """Read up to ``most`` bytes of the body, until ``end`` where that is given; how many came.

    Raises TimeoutError for a sender that is silent, or has not sent them by then.
    """
    size = 0
    while size < most:
        left = end - time.monotonic() if end else SILENT_SECONDS
        if left <= 0:
            raise TimeoutError
        _limit(environ, left)
        piece = environ["wsgi.input"].read(min(PIECE_BYTES, most - size))
        if not piece:
            break
        size += len(piece)
        keep(piece)
    return size


def _limit(environ: Environ, seconds: float) -> None:
    """Wait for the client ``seconds`` at most, each time; other servers than ours may not."""
    if sock := environ.get("gunicorn.socket"):
        sock.settimeout(seconds)


def _give(environ: Environ, body: IO[bytes], size: int) -> None:
    """Have the application read ``body``."""
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ["CONTENT_LENGTH"] = str(size)
    environ["wsgi.input"] = body


def _end(environ: Environ) -> None:
    """End the connection once its other side has the answer: with the rest of a body unread the
    system would take the answer back.
    """
    sock = environ.get("gunicorn.socket")
    if sock is None:
        return
    end = time.monotonic() + END_SECONDS
    with suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while (left := end - time.monotonic()) > 0:
            sock.settimeout(left)
            if not sock.recv(PIECE_BYTES):
                break
