"""Processes share the work, though clients keep connections and any process takes new ones."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.config.serving.server import Server, serving, wait_until
from webapp.config.serving.limits import Turns

CLIENTS, LEAST = 8, 2
PAGE = "/trends/"
ESTABLISHED = "01"


@pytest.mark.parametrize(("taken", "is_busy"), [(1, False), (2, False), (3, True), (4, True)])
def test_a_process_is_busy_once_more_than_half_its_turns_are_taken(
    taken: int, is_busy: bool
) -> None:
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop may run in this one
        assert thread.submit(asyncio.run, busy_during(taken)).result() == (is_busy, False)


async def busy_during(taken: int) -> tuple[bool, bool]:
    """Whether a process of four turns is busy while so many are taken, and afterwards."""
    turns = Turns(4)
    async with AsyncExitStack() as stack:
        for _ in range(taken):
            await stack.enter_async_context(turns.turn("client"))
        during = turns.is_busy
    return during, turns.is_busy


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="sees connections by /proc")
@pytest.mark.django_db(transaction=True)
def test_a_process_that_was_away_gets_its_share_of_busy_connections(tmp_path: Path) -> None:
    with serving(tmp_path / "web.log", DRIFTLINE_WEB_WORKERS="2") as server:
        wait_until(lambda: len(children(server)) == 2)
        here, away = children(server)
        with ExitStack() as stack, stopped(away):
            clients = [stack.enter_context(closing(server.connection())) for _ in range(CLIENTS)]
            for client in clients:
                get(client)
            assert (connections(server, here), connections(server, away)) == (CLIENTS, 0)
            os.kill(away, signal.SIGCONT)
            with asking(clients):
                wait_until(lambda: connections(server, away) >= LEAST)


def children(server: Server) -> list[int]:
    """The ids of its processes."""
    command = ["pgrep", "-P", str(server.process.pid)]
    printed = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return [int(line) for line in printed.split()]


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process takes no connection until it is told to go on, at the latest at the end."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def asking(clients: list[HTTPConnection]) -> Iterator[None]:
    """Each client asks for page after page and keeps its connection while it may."""
    over = threading.Event()

    def ask(client: HTTPConnection) -> None:
        while not over.is_set():
            get(client)

    with ThreadPoolExecutor(len(clients)) as threads:
        asked = [threads.submit(ask, client) for client in clients]
        try:
            yield
        finally:
            over.set()
    for one in asked:
        one.result()


def get(client: HTTPConnection) -> None:
    client.request("GET", PAGE)
    with client.getresponse() as response:
        assert response.status == 200
        response.read()


def connections(server: Server, pid: int) -> int:
    """How many connections of clients the process has."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    of_server = {
        f"socket:[{line[9]}]"
        for line in lines
        if line[1].endswith(f":{server.port:04X}") and line[3] == ESTABLISHED
    }
    return sum(target in of_server for target in targets(pid))


def targets(pid: int) -> Iterator[str]:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            yield str(link.readlink())
