"""One HTTP request to a checked address: no redirects, no proxy, bounded in time and size.

An answer counts when its header is complete, and its body as far as it is read: to EXCERPT_BYTES
or its end, which has to be where the header says.
"""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from webapp.outbox.addresses import Target, explain
from webapp.outbox.deadlines import Deadline, DeadlineReader

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
EXCERPT_BYTES = 2048


class PostError(Exception):
    """No whole answer came; the message says why."""


class BrokenOff(http.client.HTTPException):
    """The connection ended before the answer did."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``location`` is where a redirect points, which is not followed."""

    status: int
    excerpt: str
    location: str
    milliseconds: int


class PinnedConnection(http.client.HTTPConnection):
    """Connects to the target's address; the name only appears in the request and in TLS."""

    def __init__(
        self, target: Target, *, deadline: Deadline, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(target.host, target.port)
        self._target, self._deadline, self._tls = target, deadline, tls
        self.response_class = partial(Response, deadline=deadline)  # type: ignore[assignment]

    def connect(self) -> None:
        """Connect to the address that was checked, whatever its name says now. Raises OSError."""
        address = (self._target.address, self.port)
        # Kept first, so that it is closed whatever TLS says.
        self.sock = socket.create_connection(address, self._deadline.left(CONNECT_SECONDS))
        self.sock.settimeout(self._deadline.left())
        if self._tls:
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._target.host)

    def send(self, data: Any) -> None:
        """Send all of ``data`` before the deadline. Raises TimeoutError, OSError."""
        if self.sock is None:
            self.connect()
        # `sendall` counts this for the whole of the data.
        self.sock.settimeout(self._deadline.left())
        super().send(data)


class Response(http.client.HTTPResponse):
    """Read until the deadline. `http.client` takes the end of the connection for the header's."""

    def __init__(self, sock: socket.socket, *, deadline: Deadline, **options: Any) -> None:
        super().__init__(sock, **options)
        self.fp.close()
        self._reader = HeadReader(sock, deadline)
        self.fp = io.BufferedReader(self._reader)

    def begin(self) -> None:
        """Read the status and the headers. Raises BrokenOff, TimeoutError."""
        super().begin()
        self._reader.is_head = False

    def excerpt(self, most: int) -> bytes:
        """The first ``most`` bytes of the body. Raises BrokenOff where it ends too early."""
        try:
            read = self.read(most)
        except http.client.IncompleteRead as error:
            raise BrokenOff("The answer broke off in its body.") from error
        if len(read) < most and self.length:
            raise BrokenOff(f"The answer broke off {self.length} bytes before its end.")
        return read


class HeadReader(DeadlineReader):
    """Notices the end of a connection in the middle of a header."""

    is_head, has_begun = True, False

    def readinto(self, buffer: Any) -> int:
        """As its base; raises BrokenOff where the connection ends in a header."""
        count = super().readinto(buffer)
        if not count and self.is_head and self.has_begun:
            raise BrokenOff("The answer broke off in its header.")
        self.has_begun = True
        return count


def post(
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    *,
    tls: ssl.SSLContext | None = None,
    deadline: Deadline | None = None,
) -> Answer:
    """POST ``body``. Raises PostError when no whole answer came before the deadline."""
    return request("POST", target, body, headers, tls=tls, deadline=deadline)


def request(
    method: str,
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    *,
    tls: ssl.SSLContext | None = None,
    deadline: Deadline | None = None,
    most: int = EXCERPT_BYTES,
) -> Answer:
    """As ``post``, by another ``method``; ``most`` bytes of the answer are read."""
    deadline = deadline or Deadline(TOTAL_SECONDS)
    context = (tls or ssl.create_default_context()) if target.scheme == "https" else None
    connection = PinnedConnection(target, tls=context, deadline=deadline)
    start = time.monotonic()
    try:
        given = {"Host": target.host_header, "Connection": "close", **headers}
        connection.request(method, target.path, body, given)
        return _answer(connection, start, most)
    except (OSError, http.client.HTTPException) as error:
        if deadline.is_over:
            raise PostError(f"No whole answer within {deadline.seconds:g} s.") from error
        if isinstance(error, BrokenOff):
            raise PostError(str(error)) from error
        raise PostError(explain(error, target.host, target.port)) from error
    finally:
        connection.close()


def refusal(answer: Answer) -> str:
    """Why ``answer`` is none that a receiver gives to what it took; empty where it is one."""
    if 300 <= answer.status < 400:
        reason = f"It redirects to {answer.location or 'nowhere'}. Redirects are not followed: "
        return f"{reason}enter the final address."
    return "" if 200 <= answer.status < 300 else f"It answered {answer.status}."


def _answer(connection: PinnedConnection, start: float, most: int) -> Answer:
    with connection.getresponse() as response:
        assert isinstance(response, Response)
        return Answer(
            status=response.status,
            excerpt=response.excerpt(most).decode(errors="replace").replace("\0", ""),
            location=(response.getheader("Location") or "").replace("\0", "")[:500],
            milliseconds=round(1000 * (time.monotonic() - start)),
        )
