"""One connection, from its first byte to its last."""

import asyncio
import contextlib
import io
import json
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Protocol

import structlog
from gunicorn.http import get_parser

from webapp.accounts.addresses import client_address, counted_as
from webapp.config.serving.answers import Answer, send
from webapp.config.serving.application import Exchange
from webapp.config.serving.limits import ConnectionCounts, Patience, Turns
from webapp.config.serving.reading import ClientGone, Framing, Refused, Source, header
from webapp.config.serving.spool import ANYBODYS_BYTES, Room, Spool

UNSENT_BYTES = 128 * 1024
LINGER_SECONDS = 2.0
RETRY_AFTER_SECONDS = 5
HEALTH = "/healthz"
too_slow = partial(Refused, 408, "the request did not come in time", "Send it again, faster.")
too_many = partial(
    Refused,
    429,
    "too many connections from one address",
    "Use fewer at once; DRIFTLINE_CONNECTIONS_PER_ADDRESS sets how many.",
)
log = structlog.get_logger()


def peer_address(peer: Any) -> str:
    """The address of a socket's other end; empty for a Unix socket, which counts for nobody."""
    return peer[0] if isinstance(peer, tuple) else ""


@dataclass(frozen=True)
class Limits:
    """What a client may take, from the settings."""

    keepalive: float
    head: float
    body: float
    answer: float
    body_bytes: int
    proxies: int


class Front(Protocol):
    """What the connections of a process share."""

    limits: Limits
    connections: ConnectionCounts
    turns: Turns
    room: Room
    cfg: Any

    @property
    def is_ending(self) -> bool:
        """Whether no more requests are taken."""

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        """The result of ``work``, which runs in a thread."""

    async def wait(self, head: Coroutine[Any, Any, bytes | None]) -> bytes | None:
        """The head of the next request, for which the connection waits; None: it was closed."""

    def is_known(self, environ: dict[str, Any]) -> bool:
        """Whether an agent or a person who signed in sends this."""


@dataclass(frozen=True)
class Body:
    """What came with a request; ``size`` None: it was refused, and is not here."""

    file: IO[bytes]
    size: int | None
    close: Callable[[], None] = lambda: None


class Connection:
    """Serves the requests of one client, one after the other."""

    def __init__(
        self, front: Front, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._front = front
        self._limits = front.limits
        self._source = Source(reader)
        self._writer = writer
        self._client = writer.get_extra_info("peername")
        self._server = writer.get_extra_info("sockname")
        # `drain` then waits until all is with the system, which takes little ahead of the client.
        writer.transport.set_write_buffer_limits(high=0)
        with contextlib.suppress(AttributeError, OSError):
            option = (socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
            writer.get_extra_info("socket").setsockopt(*option)

    async def serve(self) -> None:
        """Until the client has no more requests, or may have no more."""
        try:
            idle = self._limits.head
            while head := await self._front.wait(self._head(idle)):
                if not await self._answer(head):
                    break
                idle = self._limits.keepalive
        except Refused as refused:
            await self.refuse(refused)
        except TimeoutError:
            log.warning("cut off a client that took its answer too slowly", client=self._client)
            self._writer.transport.abort()
        except (ClientGone, OSError):
            pass  # it left, or its line broke
        finally:
            self._writer.close()

    async def refuse(self, refused: Refused) -> None:
        """Say so and close; who does not listen is not waited for."""
        try:
            with contextlib.suppress(TimeoutError, OSError):
                await self._say(refused)
        finally:
            self._writer.close()

    async def _head(self, idle: float) -> bytes | None:
        """The next head; None when the client has none."""
        try:
            if not await self._source.begun(idle):
                return None
        except TimeoutError:
            return None
        try:
            return await self._source.head(self._limits.head)
        except TimeoutError as error:
            raise too_slow() from error

    async def _answer(self, head: bytes) -> bool:
        """Answer one request; whether another may follow."""
        exchange = partial(Exchange, self._front, client=self._client, server=self._server)
        try:
            request = next(get_parser(self._front.cfg, iter([head]), self._client))
        except Exception as error:  # noqa: BLE001 (whatever it is, Gunicorn has an answer)
            broken = exchange(request=None)
            broken.refuse(error)
            return await self._send(broken, may_follow=False)
        address = self._address(request)
        with self._front.connections.counted(address if self._limits.proxies else "") as is_free:
            if not is_free:
                raise too_many()
            return await self._exchange(exchange(request=request), address)

    async def _exchange(self, exchange: Exchange, address: str) -> bool:
        body = await self._body(exchange, address)
        try:
            may_follow = await self._respond(exchange, body, address)
        finally:
            body.close()
        seconds = LINGER_SECONDS if body.size is not None else self._limits.body
        return await self._send(exchange, may_follow=may_follow, linger=seconds)

    async def _respond(self, exchange: Exchange, body: Body, address: str) -> bool:
        """In a thread, when it is this client's turn; the health check has no time to wait."""
        turns = self._front.turns
        urgent = exchange.request.path == HEALTH
        async with contextlib.nullcontext() if urgent else turns.turn(address):
            closes = self._front.is_ending or turns.is_busy
            respond = partial(exchange.respond, body.file, body.size, closes=closes)
            return bool(await self._front.in_thread(respond))

    async def _body(self, exchange: Exchange, address: str) -> Body:
        framing = Framing.of(exchange.request.headers)
        if framing.is_empty:
            return Body(io.BytesIO(), 0)
        sender = _Sender(self._front, exchange, address)
        if not await sender.may_send(framing.length):
            return Body(io.BytesIO(), None)
        if header(exchange.request, "EXPECT"):
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            return await self._received(framing, sender)
        except TimeoutError as error:
            raise too_slow() from error

    async def _received(self, framing: Framing, sender: "_Sender") -> Body:
        spool = Spool(self._front.room)
        with contextlib.ExitStack() as stack:
            stack.callback(spool.close)
            async for piece in self._source.content(framing, Patience(self._limits.body)):
                if not await sender.may_send(spool.size + len(piece)):
                    return Body(io.BytesIO(), None)
                spool.write(piece)
            spool.file.seek(0)
            return Body(spool.file, spool.size, stack.pop_all().close)

    async def _send(
        self, exchange: Exchange, *, may_follow: bool, linger: float = LINGER_SECONDS
    ) -> bool:
        try:
            await send(exchange.answer, self._writer, self._limits.answer)
        finally:
            exchange.answer.clear()
        if not may_follow:
            await self._linger(linger)
        return may_follow

    async def _say(self, refused: Refused) -> None:
        answer = Answer()
        answer.sendall(_plain(refused))
        await send(answer, self._writer, LINGER_SECONDS)
        await self._linger(LINGER_SECONDS)

    async def _linger(self, seconds: float) -> None:
        """Hear the client out: closing on what it still sends would take back the answer."""
        with contextlib.suppress(TimeoutError, OSError):
            self._writer.write_eof()
            await self._source.discard(seconds)

    def _address(self, request: Any) -> str:
        forwarded = header(request, "X-FORWARDED-FOR")
        peer = peer_address(self._client)
        return counted_as(client_address(peer, forwarded, proxies=self._limits.proxies))


class _Sender:
    """How much the sender of a body may send: strangers little, whom we know up to the limit."""

    def __init__(self, front: Front, exchange: Exchange, address: str) -> None:
        self._front = front
        self._exchange = exchange
        self._address = address
        self._is_known: bool | None = None

    async def may_send(self, size: int) -> bool:
        if size <= ANYBODYS_BYTES:
            return True
        return size <= self._front.limits.body_bytes and await self._known()

    async def _known(self) -> bool:
        if self._is_known is None:
            ask = partial(self._front.is_known, self._exchange.environ())
            async with self._front.turns.turn(self._address):
                self._is_known = bool(await self._front.in_thread(ask))
        return self._is_known


def _plain(refused: Refused) -> bytes:
    """An answer in the form of the API's errors."""
    error = {
        "code": refused.code,
        "message": str(refused),
        "remedy": refused.remedy,
        "details": [],
    }
    body = json.dumps({"error": error}).encode()
    lines = [
        f"HTTP/1.1 {refused.status} {refused.reason}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        f"Retry-After: {RETRY_AFTER_SECONDS}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
