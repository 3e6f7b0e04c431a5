"""What a client may take: time, connections, turns."""

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

SLOWEST_BYTES_A_SECOND = 8 * 1024
"""Slower than any line of a lab (64 kbit/s): whoever stays below is cut off."""


@dataclass
class Patience:
    """How long a client may take: some seconds, and more for what it moves meanwhile."""

    seconds: float
    moved: int = 0
    _started: float = field(default_factory=time.monotonic)

    def window(self) -> asyncio.Timeout:
        """Raises TimeoutError inside once the time is over. For the thread of the loop."""
        end = self._started + self.seconds + self.moved / SLOWEST_BYTES_A_SECOND
        return asyncio.timeout(max(0.0, end - time.monotonic()))


class ConnectionCounts:
    """Counts what each address has open at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    @contextlib.contextmanager
    def counted(self, address: str) -> Iterator[bool]:
        """True: the connection counts inside. False: the address has all that it may have."""
        if address and self._open[address] >= self.most:
            yield False
            return
        self._open[address] += 1
        try:
            yield True
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]


class Turns:
    """So many requests run at once; the addresses that wait take turns, whatever each asks."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def is_busy(self) -> bool:
        """More than half run: another process has more time for the next request."""
        return self._free < self.most - self.most // 2

    @contextlib.asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for a turn of ``address``, and have it inside."""
        await self._take(address)
        try:
            yield
        finally:
            self.give()

    def give(self) -> None:
        """One less runs."""
        self._free += 1
        while self._free > 0 and self._waiting:
            self._grant()

    def overdraw(self) -> None:
        """One more runs, which could not be asked to wait."""
        self._free -= 1

    async def _take(self, address: str) -> None:
        if self._free > 0:
            self._free -= 1
            return
        granted = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(granted)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.give()
            raise

    def _grant(self) -> None:
        """The address that waited longest since its last turn; then it goes to the end."""
        address = next(iter(self._waiting))
        queue = self._waiting.pop(address)
        granted = queue.popleft()
        if queue:
            self._waiting[address] = queue
        if not granted.done():
            self._free -= 1
            granted.set_result(None)
