"""What one client may take of the web server: slots, and turns beside others. Pure."""

import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

ALL = "all"


class Slots:
    """Counts what is in use, under several names at once."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, **most: int) -> Iterator[str | None]:
        """A slot inside, which counts under each name of ``most``, a name's most at a time.

        Gives None, or the first name that has its most already: then nothing is taken.
        """
        with self._lock:
            full = next((name for name, count in most.items() if self._taken[name] >= count), None)
            if full is None:
                self._taken.update(most.keys())
        try:
            yield full
        finally:
            if full is None:
                with self._lock:
                    self._taken.subtract(most.keys())
                    self._taken += Counter()  # forgets who has nothing


class Turns:
    """So many threads work at once; the addresses that wait take turns, whatever each asks."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: dict[str, deque[threading.Event]] = {}
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    @contextmanager
    def turn(self, address: str) -> Iterator[None]:
        """Wait for a turn of ``address``, and have it inside."""
        granted = self._ask(address)
        if granted is not None:
            granted.wait()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def rested(self) -> Iterator[None]:
        """Others have this thread's turn inside; afterwards it works again without being asked to
        wait, and the next to be free is not.
        """
        self._give()
        try:
            yield
        finally:
            with self._lock:
                self._free -= 1

    def _ask(self, address: str) -> threading.Event | None:
        """None: it works at once."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return None
            granted = threading.Event()
            self._waiting.setdefault(address, deque()).append(granted)
            return granted

    def _give(self) -> None:
        with self._lock:
            self._free += 1
            if self._free > 0 and self._waiting:
                self._free -= 1
                self._next().set()

    def _next(self) -> threading.Event:
        """Of the address that waited longest since its last turn, which then goes to the end."""
        address = next(iter(self._waiting))
        queue = self._waiting.pop(address)
        granted = queue.popleft()
        if queue:
            self._waiting[address] = queue
        return granted
