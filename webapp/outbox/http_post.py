"""One HTTP request to a checked address: no redirects, no proxy, bounded in time and size."""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.outbox.addresses import Target

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
EXCERPT_BYTES = 2048


class PostError(Exception):
    """No answer came; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``location`` is where a redirect points, which is not followed."""

    status: int
    excerpt: str
    location: str
    milliseconds: int


class PinnedConnection(http.client.HTTPConnection):
    """Connects to the target's address; the name only appears in the request and in TLS."""

    def __init__(self, target: Target, *, tls: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=CONNECT_SECONDS)
        self._target, self._tls = target, tls

    def connect(self) -> None:
        plain = socket.create_connection((self._target.address, self.port), self.timeout)
        # Kept first, so that it is closed whatever TLS says.
        self.sock = plain
        if self._tls:
            self.sock = self._tls.wrap_socket(plain, server_hostname=self._target.host)
        self.sock.settimeout(TOTAL_SECONDS)


def post(
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    *,
    tls: ssl.SSLContext | None = None,
    total_seconds: float = TOTAL_SECONDS,
) -> Answer:
    """POST ``body``. Raises PostError when no answer came within ``total_seconds``."""
    context = (tls or ssl.create_default_context()) if target.scheme == "https" else None
    connection = PinnedConnection(target, tls=context)
    start = time.monotonic()
    # The socket's own timeout is for each piece; who answers a byte a second would never end.
    watchdog = threading.Timer(total_seconds, _hang_up, [connection])
    watchdog.daemon = True
    watchdog.start()
    try:
        return _exchange(connection, target, body, headers, start)
    except (OSError, http.client.HTTPException) as error:
        if time.monotonic() - start >= total_seconds:
            raise PostError(f"No whole answer within {total_seconds:g} s.") from error
        raise PostError(_words(error)) from error
    finally:
        watchdog.cancel()
        connection.close()


def _exchange(
    connection: PinnedConnection,
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    start: float,
) -> Answer:
    given = {"Host": target.host_header, "Connection": "close", **headers}
    connection.request("POST", target.path, body, given)
    response = connection.getresponse()
    excerpt = response.read(EXCERPT_BYTES)
    return Answer(
        status=response.status,
        excerpt=excerpt.decode(errors="replace").replace("\0", ""),
        location=(response.getheader("Location") or "").replace("\0", "")[:500],
        milliseconds=round(1000 * (time.monotonic() - start)),
    )


def _hang_up(connection: PinnedConnection) -> None:
    sock = connection.sock
    if sock is None:
        return
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is closed already, which is what is wanted


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "The connection timed out."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return f"{type(error).__name__}: {error}"
