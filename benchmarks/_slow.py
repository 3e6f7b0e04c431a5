"""Clients that are slow on purpose: uploads that drip, half heads, readers of a byte a time."""

import contextlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks._instance import STATIC

PIPELINED = 1000
NO_ANSWER = "closed without an answer"


@dataclass(frozen=True)
class Kind:
    """What a client sends at once, what each time, and how many bytes it takes each time."""

    first: bytes
    drip: bytes
    takes: int


def dripping_upload(token: str) -> Kind:
    """An upload with a good token whose body comes byte by byte."""
    head = (
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n{{"
    )
    return Kind(head.encode(), b" ", 4096)


HALF_A_HEAD = Kind(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"", 4096)


def slow_reader() -> Kind:
    """Asks for the largest script again and again, and takes a byte each time."""
    file = max(STATIC.glob("**/*.js"), key=lambda path: path.stat().st_size)
    path = f"/static/{file.relative_to(STATIC)}"
    return Kind(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * PIPELINED, b"", 1)


class SlowClient:
    """One such client. It comes again when it is cut off; ``answers`` counts how that ended."""

    def __init__(self, port: int, kind: Kind, answers: Counter[str]) -> None:
        self._port, self._kind, self._answers = port, kind, answers
        self._open()

    def _open(self) -> None:
        self._socket = socket.socket()
        # Small, so that the server notices soon that nothing is taken.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(1)
        self._heard, self._unsent = b"", self._kind.first
        with contextlib.suppress(OSError):  # next time
            self._socket.connect(("127.0.0.1", self._port))
        self._socket.setblocking(False)

    def step(self) -> None:
        """Send and take what is due."""
        try:
            self._send()
            heard = self._socket.recv(self._kind.takes)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        self._heard = (self._heard + heard)[:12]
        if not heard:
            self._again()

    def _send(self) -> None:
        data = self._unsent or self._kind.drip
        with contextlib.suppress(BlockingIOError):
            self._unsent = data[self._socket.send(data) :] if data else b""

    def _again(self) -> None:
        self._answers[self._heard.decode("latin-1") or NO_ANSWER] += 1
        self.close()
        self._open()

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def attacking(port: int, kinds: Sequence[Kind], *, every: float) -> Iterator[Counter[str]]:
    """One client of each of the kinds; gives how those ended that the server cut off."""
    over, answers = threading.Event(), Counter[str]()
    clients = [SlowClient(port, kind, answers) for kind in kinds]

    def talk() -> None:
        due = time.monotonic()
        while True:
            for each in clients:
                each.step()
            due += every
            if over.wait(max(0.0, due - time.monotonic())):
                return

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        yield answers
    finally:
        over.set()
        talking.join()
        for each in clients:
            each.close()
