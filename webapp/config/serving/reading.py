"""What a client sends: heads and bodies, taken from the connection as they come."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from webapp.config.serving.limits import Patience

HEAD_END, LINE_END = b"\r\n\r\n", b"\r\n"
HEAD_BYTES = 32 * 1024
LINE_BYTES = 1024
CHUNK_BYTES = 64 * 1024
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?")


CODES = {
    400: "bad_request",
    408: "too_slow",
    429: "too_many_connections",
    431: "head_too_large",
    503: "unavailable",
}
"""The name of the error in an answer, by its status."""


class Refused(Exception):
    """What the front refuses by itself: the application never sees it."""

    def __init__(self, status: int, message: str, remedy: str = "Send HTTP/1.1.") -> None:
        super().__init__(message)
        self.status = status
        self.remedy = remedy

    @property
    def reason(self) -> str:
        """The words of the status line."""
        return HTTPStatus(self.status).phrase

    @property
    def code(self) -> str:
        """The name of the error in the answer."""
        return CODES[self.status]


class ClientGone(Exception):
    """The connection ended in the middle of a request."""


@dataclass(frozen=True)
class Framing:
    """How long a body is: known by its length, or told chunk by chunk."""

    length: int = 0
    is_chunked: bool = False

    @classmethod
    def of(cls, headers: list[tuple[str, str]]) -> "Framing":
        """Of headers that Gunicorn's parser let pass: at most one of the two, and a good one."""
        named = dict(headers)
        return cls(int(named.get("CONTENT-LENGTH", 0)), "TRANSFER-ENCODING" in named)

    @property
    def is_empty(self) -> bool:
        """Whether no body follows."""
        return not self.is_chunked and not self.length


class Source:
    """The bytes of one connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._unread = bytearray()

    @property
    def has_begun(self) -> bool:
        """Some bytes are here that were not used yet."""
        return bool(self._unread)

    async def begun(self, seconds: float) -> bool:
        """Wait for the first byte of a request. False: the client left.

        Raises TimeoutError.
        """
        async with asyncio.timeout(seconds):
            return self.has_begun or await self._more()

    async def head(self, seconds: float) -> bytes:
        """A request's line and headers. Raises TimeoutError, Refused, ClientGone."""
        async with asyncio.timeout(seconds):
            return await self._until(HEAD_END, HEAD_BYTES)

    async def content(self, framing: Framing, patience: Patience) -> AsyncIterator[bytes]:
        """The body in pieces. Raises TimeoutError, Refused, ClientGone."""
        async with patience.window():
            size = await self._chunk_size() if framing.is_chunked else framing.length
        while size:
            async with patience.window():
                piece = await self._some(size)
            patience.moved += len(piece)
            size -= len(piece)
            yield piece
            if not size and framing.is_chunked:
                async with patience.window():
                    size = await self._next_chunk()
        if framing.is_chunked:
            async with patience.window():
                await self._trailers()

    async def discard(self, seconds: float) -> None:
        """Read until the client has said all, or ``seconds`` have passed."""
        self._unread.clear()
        async with asyncio.timeout(seconds):
            while await self._reader.read(CHUNK_BYTES):
                pass

    async def _next_chunk(self) -> int:
        if await self._until(LINE_END, LINE_BYTES) != LINE_END:
            raise Refused(400, "a chunk is longer than it says")
        return await self._chunk_size()

    async def _chunk_size(self) -> int:
        line = (await self._until(LINE_END, LINE_BYTES))[: -len(LINE_END)]
        size = CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise Refused(400, "a chunk does not say its size")
        return int(size[1], 16)

    async def _trailers(self) -> None:
        total = 0
        while (line := await self._until(LINE_END, HEAD_BYTES)) != LINE_END:
            total += len(line)
            if total > HEAD_BYTES:
                raise Refused(431, "too many trailers")

    async def _until(self, end: bytes, most: int) -> bytes:
        looked = 0
        while (found := self._unread.find(end, looked)) < 0:
            if len(self._unread) > most:
                raise Refused(431, f"more than {most} bytes")
            looked = max(0, len(self._unread) - len(end) + 1)
            if not await self._more():
                raise ClientGone
        if found > most:
            raise Refused(431, f"more than {most} bytes")
        return self._take(found + len(end))

    async def _some(self, most: int) -> bytes:
        if not self._unread and not await self._more():
            raise ClientGone
        return self._take(min(most, len(self._unread)))

    async def _more(self) -> bool:
        data = await self._reader.read(CHUNK_BYTES)
        self._unread += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._unread[:size])
        del self._unread[:size]
        return taken


def header(request: Any, name: str) -> str:
    """The values of one header of a parsed request, joined; empty without it."""
    return ",".join(value for known, value in request.headers if known == name)
