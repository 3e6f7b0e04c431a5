"""What goes back: collected by a thread, sent by the loop."""

import asyncio
import os
import tempfile
from collections import deque
from dataclasses import dataclass
from typing import IO

from webapp.config.serving.limits import Patience

CHUNK_BYTES = 64 * 1024
IN_MEMORY_SECONDS = 1.0
"""What a client has not taken by then waits on disk: slow readers must not fill the memory."""


@dataclass
class _InMemory:
    """A part in memory."""

    data: bytearray
    offset: int = 0

    def take(self) -> bytes:
        data = bytes(memoryview(self.data)[self.offset : self.offset + CHUNK_BYTES])
        self.offset += len(data)
        return data

    def parked(self) -> "_Stored":
        """The rest of it in a file without a name."""
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed when it is sent)
        left = file.write(memoryview(self.data)[self.offset :])
        return _Stored(file, 0, left)

    def close(self) -> None:
        self.data = bytearray()


@dataclass
class _Stored:
    """A part in a file."""

    file: IO[bytes]
    offset: int
    left: int

    def take(self) -> bytes:
        data = os.pread(self.file.fileno(), min(CHUNK_BYTES, self.left), self.offset)
        self.offset += len(data)
        self.left -= len(data)
        return data

    def close(self) -> None:
        self.file.close()


class Answer:
    """Looks like a socket to Gunicorn's `Response`, and keeps what it is given."""

    def __init__(self) -> None:
        self._parts: deque[_InMemory | _Stored] = deque()

    def sendall(self, data: bytes) -> None:
        """Keep ``data``; it is sent by the loop."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _InMemory) and len(last.data) + len(data) <= CHUNK_BYTES:
            last.data += data
        else:
            self._parts.append(_InMemory(bytearray(data)))

    def send(self, data: bytes) -> int:
        """Gunicorn's `100 Continue`, which the loop has said already."""
        return len(data)

    def sendfile(self, file: IO[bytes], offset: int, count: int) -> None:
        """The application closes its file; the copy of the descriptor is ours."""
        self._parts.append(_Stored(os.fdopen(os.dup(file.fileno()), "rb"), offset, count))

    def gettimeout(self) -> float:
        """It never blocks."""
        return 0.0

    def take(self) -> bytes:
        """The next piece; empty at the end."""
        while self._parts:
            if data := self._parts[0].take():
                return data
            self._parts.popleft().close()
        return b""

    def park(self) -> None:
        """Move what is in memory to disk."""
        self._parts = deque(
            part.parked() if isinstance(part, _InMemory) else part for part in self._parts
        )

    def clear(self) -> None:
        """Drop all of it."""
        while self._parts:
            self._parts.popleft().close()


async def send(answer: Answer, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Send all of it. Raises TimeoutError when the client takes it too slowly."""
    patience = Patience(seconds)
    while data := answer.take():
        writer.write(data)
        if writer.transport.get_write_buffer_size():
            async with patience.window():
                await _drained(writer, answer)
        patience.moved += len(data)


async def _drained(writer: asyncio.StreamWriter, answer: Answer) -> None:
    """The client took what was written."""
    try:
        async with asyncio.timeout(IN_MEMORY_SECONDS):
            await writer.drain()
    except TimeoutError:
        answer.park()
        await writer.drain()
