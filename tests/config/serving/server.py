"""The web server as the product runs it, on the tests' database, and clients that misbehave."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.conftest import environment_of_the_database
from tests.launcher.running import PROJECT, free_port

START_SECONDS, STOP_SECONDS = 90, 60
# Distinguishes an answer from a hang, on a machine that does much else
ANSWER_SECONDS = 60


@dataclass
class Server:
    """One running web server."""

    port: int
    process: "subprocess.Popen[bytes]"
    log: Path

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Status and body, over a connection of its own."""
        return self.send("GET", path, **headers)

    def send(
        self, method: str, path: str, body: Any = None, *, chunked: bool = False, **headers: str
    ) -> tuple[int, bytes]:
        """As an ordinary client does: it writes all, and then it reads."""
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body, headers, encode_chunked=chunked)
            with connection.getresponse() as response:
                return response.status, response.read()

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)

    def raw(self, *said: bytes) -> socket.socket:
        """A connection over which so much was said."""
        opened = socket.socket()
        # Little is taken on its behalf by the system.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.settimeout(ANSWER_SECONDS)
        opened.connect(("127.0.0.1", self.port))
        for each in said:
            opened.sendall(each)
        return opened

    def lines(self) -> list[str]:
        """What it has logged."""
        return self.log.read_text(errors="replace").splitlines()

    def stop(self) -> int:
        """End it as a supervisor does; its exit status."""
        self.process.terminate()
        return self.process.wait(STOP_SECONDS)


@contextlib.contextmanager
def serving(log: Path, **variables: str) -> Iterator[Server]:
    """A web server of one process that ends with the block."""
    port = free_port()
    environ = environment_of_the_database() | {
        "DRIFTLINE_BIND": f"127.0.0.1:{port}",
        "DRIFTLINE_WEB_WORKERS": "1",
        "PROMETHEUS_MULTIPROC_DIR": str(log.with_suffix(".metrics")),
        **variables,
    }
    command = ["-m", "gunicorn", "-c", "python:webapp.config.gunicorn", "webapp.config.wsgi"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=PROJECT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    server = Server(port, process, log)
    try:
        _wait_for(server)
        yield server
    finally:
        if process.poll() is None:
            server.stop()


def _wait_for(server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            if server.get("/healthz")[0] == 200:
                return
        assert server.process.poll() is None, server.log.read_text()
        assert time.monotonic() < end, server.log.read_text()
        time.sleep(0.1)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + ANSWER_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def heard(connection: socket.socket) -> bytes:
    """All that comes until the other side closes. A reset is an error, as for any client."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def status_of(answer: bytes) -> int:
    """The status of a raw answer; 0 without one."""
    return int(answer.split(maxsplit=2)[1]) if answer else 0
