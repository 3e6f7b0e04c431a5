"""One HTTP request to a checked address: which addresses a webhook may reach, and what an operator
can do where a webhook or a channel cannot be reached.

A URL that somebody typed in must not make this server talk to machines that only this server can
reach. So a name is resolved once, every address it has is checked, and the connection then goes to
one of exactly these: what the name means a moment later does not matter.

There are no redirects, no proxy, and bounds in time and size. An answer counts when its header is
complete, and its body as far as it is read: to EXCERPT_BYTES or its end, which has to be where the
header states.
"""

import errno
import http.client
import io
import socket
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from webapp.outbox.deadlines import Deadline, DeadlineReader

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PORTS = {"http": 80, "https": 443}
USUAL_PORTS = (range(80, 81), range(443, 444), range(8000, 9000))
"""Of web servers. Elsewhere (SSH, mail, databases) a request of ours could be taken for orders."""

NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052: a gateway passes on to the IPv4 address in the last 32 bits."""

UNICAST6 = IPv6Network("2000::/3")
"""All that was ever assigned for global use in IPv6."""

# IANA's registries of special-purpose addresses, those included that can be reached from anywhere:
# no receiver lives there. Python knows some of them, and which depends on its version.
SPECIAL: tuple[IPv4Network | IPv6Network, ...] = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments; metadata in some clouds
    IPv4Network("192.31.196.0/24"),  # AS112
    IPv4Network("192.52.193.0/24"),  # tunnels of multicast
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("192.175.48.0/24"),  # AS112
    IPv4Network("168.63.129.16/32"),  # in no registry: the host of a virtual machine in Azure
    IPv6Network("2001::/23"),  # protocol assignments: Teredo, benchmarks, ORCHID …
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2620:4f:8000::/48"),  # AS112
    IPv6Network("3fff::/20"),  # documentation
)

NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
UNANSWERED = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


REASONS: tuple[tuple[type[Exception], str], ...] = (
    (
        TimeoutError,
        (
            "{where}, did not answer in time: check whether the server runs, and whether a "
            "firewall drops the connection."
        ),
    ),
    (
        ConnectionRefusedError,
        "Nothing listens at {where}: check the port in the URL, and whether the server runs.",
    ),
    (
        ConnectionError,
        (
            "{where}, hung up without an answer: check whether the URL is to begin with https://; "
            "the log of the server may have the reason."
        ),
    ),
    (
        ssl.SSLCertVerificationError,
        (
            "The certificate of {where}, is not trusted ({why}): use the name in the certificate, "
            "renew it, or add its authority to those of this machine."
        ),
    ),
    (
        ssl.SSLError,
        (
            "{where}, does not speak TLS as expected: check the port, and whether the URL is to "
            "begin with http://."
        ),
    ),
    (
        http.client.HTTPException,
        "{where}, does not answer in HTTP: check the port, and whether https:// is needed.",
    ),
)
"""The first that fits."""

NO_NETWORK = "No network leads to {where}: check the network and the firewall of this machine."
OTHERWISE = "{where}, cannot be reached ({why}): check the URL and the network of this machine."


class AddressError(Exception):
    """A URL that no webhook may go to; the message states why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL: connect to ``address``, and ask it for ``path`` of ``host``."""

    scheme: str
    host: str
    port: int
    path: str
    address: str

    @property
    def host_header(self) -> str:
        """``host``, with the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def check(url: str, *, allowed: Sequence[Network] = (), more_ports: Sequence[range] = ()) -> Target:
    """Where ``url`` leads. Raises AddressError unless its port is one of web servers or of
    ``more_ports``, and all its addresses are public or ``allowed``."""
    parts = parsed(url)
    host = parts.hostname or ""
    port = parts.port or PORTS[parts.scheme]
    if not any(port in usable for usable in (*USUAL_PORTS, *more_ports)):
        raise AddressError(
            f"Port {port} is none that webhooks may go to: 80, 443 and 8000 to 8999. An operator "
            "of the server can allow it in DRIFTLINE_WEBHOOKS_PORTS."
        )
    addresses = resolve(host, port)
    for address in addresses:
        if not is_public(address) and not _is_in(address, allowed):
            raise AddressError(
                f"{host} is {address}, which is not a public address. An operator of the server "
                "can allow its network in DRIFTLINE_WEBHOOKS_ALLOW, and then the endpoint."
            )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, str(addresses[0]))


def resolve(host: str, port: int) -> list[Address]:
    """Every address of ``host``; odd spellings of one (``0x7f.1``) come out as what they mean."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressError(unknown_name(host, error)) from error
    return [ip_address(str(info[4][0])) for info in found]


def is_public(address: Address) -> bool:
    """Whether anybody on the Internet can reach it; for an address that wraps another, that one."""
    if isinstance(address, IPv6Address):
        inner = _wrapped(address)
        if inner is not None:
            return is_public(inner)
        if address not in UNICAST6:
            return False
    if any(address in network for network in SPECIAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that packets to ``address`` end at, where it is a mapped one."""
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    inner = _wrapped(address) if isinstance(address, IPv6Address) else None
    return any((inner or address) in network for network in networks)


def parsed(url: str) -> SplitResult:
    """The parts of a URL that a webhook may have. Raises AddressError."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in PORTS and parts.hostname and parts.port != 0
    except ValueError as error:
        raise AddressError(f"The URL cannot be read: {error}.") from error
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError("A URL is needed that begins with https:// or http:// and names a host.")
    if parts.username is not None or parts.password is not None:
        raise AddressError("A URL without user and password is needed; deliveries are signed.")
    return parts


def unknown_name(host: str, error: OSError | UnicodeError) -> str:
    """Why a name has no address, and the remedy."""
    if isinstance(error, UnicodeError):
        return f"{host[:80]} cannot be a name: each of its parts has 1 to 63 characters."
    if error.errno in UNANSWERED:
        return (
            f"No name server answers for {host}: check the network and the name server of this "
            "machine."
        )
    return f"No address is known for the name {host}: check the spelling in the URL."


def explain(error: Exception, host: str, port: int) -> str:
    """Why a request to ``host`` got no answer, and the remedy, in plain sentences."""
    where = f"{host}, port {port}"
    for kind, form in REASONS:
        if isinstance(error, kind):
            return form.format(where=where, why=getattr(error, "verify_message", ""))
    if isinstance(error, OSError) and error.errno in NO_WAY:
        return NO_NETWORK.format(where=where)
    reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    return OTHERWISE.format(where=where, why=reason)


CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
EXCERPT_BYTES = 2048


class PostError(Exception):
    """No whole answer came; the message states why."""


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
        """Connect to the address that was checked, wherever its name leads now. Raises OSError."""
        address = (self._target.address, self.port)
        # Kept first, so that it is closed whatever TLS answers.
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
