"""Servers that are slow on purpose: a byte at a time, cut off, or silent."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice

Behaviour = Callable[[socket.socket], None]


class SlowServer:
    """Does ``behaviour`` with each connection; ``connections`` counts them, ``ended`` those that it
    ended itself."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._open: list[socket.socket] = []
        self.connections = self.ended = 0
        self.port = int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._behaviour(connection)
            self.ended += 1
        except OSError:
            return  # the other side has gone
        finally:
            connection.close()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            each.close()


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[SlowServer]:
    server = SlowServer(behaviour)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def dripping(
    text: bytes, *, first: bytes = b"", every: float = 0.02, request: bool = True
) -> Behaviour:
    """Send ``first`` at once, then 3000 bytes one by one, of ``text`` again and again."""

    def behaviour(connection: socket.socket) -> None:
        if request:
            connection.recv(65536)
        connection.sendall(first)
        for byte in islice(cycle(text), 3000):
            connection.sendall(bytes([byte]))
            time.sleep(every)

    return behaviour


def answering(answer: bytes) -> Behaviour:
    """Read the request, send ``answer`` and hang up."""

    def behaviour(connection: socket.socket) -> None:
        received = b""
        while not received.endswith(b"}"):
            received += connection.recv(65536)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)

    return behaviour


def silent(connection: socket.socket) -> None:
    """Take everything and answer nothing."""
    while connection.recv(65536):
        pass
