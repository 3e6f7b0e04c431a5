"""Caddy and the web server as the product runs them, on the tests' database, and their clients."""

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.conftest import environment_of_the_database
from tests.launcher.running import PROJECT, free_port
from tests.places import STATIC
from webapp.config import settings
from webapp.launcher.programs import Front
from webapp.launcher.servers import find_caddy

START_SECONDS, STOP_SECONDS = 90, 60
# Distinguishes an answer from a hang, on a machine that does much else
ANSWER_SECONDS = 60


@dataclass
class Server:
    """One running web server with Caddy before it."""

    port: int
    web: "subprocess.Popen[bytes]"
    caddy: "subprocess.Popen[bytes]"
    log: Path

    def get(self, path: str, *, source: str = "127.0.0.1", **headers: str) -> tuple[int, bytes]:
        """Status and body, over a connection of its own."""
        return self.send("GET", path, source=source, **headers)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        chunked: bool = False,
        source: str = "127.0.0.1",
        **headers: str,
    ) -> tuple[int, bytes]:
        """As an ordinary client does: it writes all or as much as is taken, and then it reads."""
        with contextlib.closing(self.connection(source)) as connection:
            connection.connect()
            with contextlib.suppress(ConnectionError):
                connection.request(method, path, body, headers, encode_chunked=chunked)
            with connection.getresponse() as response:
                return response.status, response.read()

    def connection(self, source: str = "127.0.0.1") -> HTTPConnection:
        """One from the address ``source``: every address of 127.0.0.0/8 is this machine's."""
        where = ("127.0.0.1", self.port)
        return HTTPConnection(*where, timeout=ANSWER_SECONDS, source_address=(source, 0))

    def raw(self, *sent: bytes, source: str = "127.0.0.1") -> socket.socket:
        """A connection over which so much was sent."""
        opened = socket.socket()
        # Little is taken on its behalf by the system.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.settimeout(ANSWER_SECONDS)
        opened.bind((source, 0))
        opened.connect(("127.0.0.1", self.port))
        for each in sent:
            opened.sendall(each)
        return opened

    def lines(self) -> list[str]:
        """What both have logged."""
        return self.log.read_text(errors="replace").splitlines()

    def stop(self) -> int:
        """End the web server as a supervisor does; its exit status."""
        self.web.terminate()
        return self.web.wait(STOP_SECONDS)


@contextlib.contextmanager
def serving(log: Path, *, body_seconds: int | None = None, **variables: str) -> Iterator[Server]:
    """A web server of one process, and Caddy, that end with the block."""
    # A directory with a short name: the path of a socket has at most 104 bytes.
    with tempfile.TemporaryDirectory(prefix="dl-", dir="/tmp") as directory:
        state, port, caddy = Path(directory), free_port(), find_caddy()
        assert caddy
        front = Front(caddy, state, state)
        given = SimpleNamespace(
            STATIC_ROOT=STATIC,
            ACCESS_LOG=False,
            HOST="",
            BODY_SECONDS=body_seconds or settings.BODY_SECONDS,
        )
        front.create(given, address="127.0.0.1", port=port)
        environ = environment_of_the_database() | {
            "DRIFTLINE_BIND": f"unix:{front.socket}",
            "DRIFTLINE_FRONT": "true",
            "DRIFTLINE_WEB_WORKERS": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(log.with_suffix(".metrics")),
            **variables,
        }
        gunicorn = ["-m", "gunicorn", "-c", "python:webapp.config.gunicorn", "webapp.config.wsgi"]
        with contextlib.ExitStack() as stack:
            output = stack.enter_context(log.open("ab"))
            web = _start(stack, [sys.executable, *gunicorn], environ, output)
            before = _start(stack, front.command(state / "front.pid"), environ, output)
            server = Server(port, web, before, log)
            wait_until_healthy(server)
            yield server


def _start(
    stack: contextlib.ExitStack, command: list[str], environ: dict[str, str], output: Any
) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
    )

    def end() -> None:
        process.terminate()
        process.wait(STOP_SECONDS)

    stack.callback(end)
    return process


def wait_until_healthy(server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            if server.get("/healthz")[0] == 200:
                return
        assert server.web.poll() is None, server.log.read_text()
        assert server.caddy.poll() is None, server.log.read_text()
        assert time.monotonic() < end, server.log.read_text()
        time.sleep(0.1)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + ANSWER_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def heard(connection: socket.socket) -> bytes:
    """All that comes until the other side closes, or resets a connection on which we still send."""
    parts = list[bytes]()
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status_of(answer: bytes) -> int:
    """The status of a raw answer; 0 without one."""
    return int(answer.split(maxsplit=2)[1]) if answer else 0


def upload_head(token: str, length: int) -> bytes:
    """Of an upload that closes the connection."""
    return (
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    ).encode()
