"""What a client may take: connections, and turns beside others."""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.config.serving.server import Server, heard, serving, status_of, wait_until
from webapp.config.serving.limits import Turns

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n"


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: Playwright's loop runs in this one once a browser was used."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, main).result()


@pytest.fixture(scope="module")
def small(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in which an address may have four connections."""
    log = tmp_path_factory.mktemp("small") / "web.log"
    with serving(log, DRIFTLINE_CONNECTIONS_PER_ADDRESS="4") as running:
        yield running


@pytest.fixture(scope="module")
def proxied(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same behind one proxy."""
    log = tmp_path_factory.mktemp("proxied") / "web.log"
    variables = {"DRIFTLINE_CONNECTIONS_PER_ADDRESS": "4", "DRIFTLINE_TRUSTED_PROXIES": "1"}
    with serving(log, **variables) as running:
        yield running


def said_for(address: str, half: bool = False) -> bytes:
    """A request that a proxy passes on; of some only the head, so that they last."""
    lines = f"X-Forwarded-For: 198.51.100.9, {address}\r\n"
    if half:
        lines += "Content-Length: 10\r\n"
    return HEALTH % lines.encode()


def test_an_address_with_all_its_connections_is_told_429_and_gets_one_when_one_ends(
    small: Server,
) -> None:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(small.raw()) for _ in range(4)]
        with small.raw(HEALTH % b"") as fifth:
            assert status_of(heard(fifth)) == 429
        held[0].close()
        wait_until(lambda: small.get("/healthz")[0] == 200)


def test_behind_a_proxy_the_client_is_counted_that_the_proxy_saw(proxied: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(proxied.raw(said_for("203.0.113.7", half=True)))
        wait_until(lambda: status_for(proxied, "203.0.113.7") == 429)
        assert status_for(proxied, "203.0.113.8") == 200
        assert proxied.get("/healthz")[0] == 200


def status_for(server: Server, address: str) -> int:
    return server.get("/healthz", **{"X-Forwarded-For": address})[0]


def test_a_stranger_cannot_choose_whom_it_counts_for_without_a_proxy(small: Server) -> None:
    with contextlib.ExitStack() as stack:
        for each in range(4):
            stack.enter_context(small.raw(said_for(f"203.0.113.{each}", half=True)))
        with small.raw(said_for("203.0.113.99")) as fifth:
            assert status_of(heard(fifth)) == 429
    wait_until(lambda: small.get("/healthz")[0] == 200)


def test_who_asks_for_much_does_not_delay_who_asks_for_little() -> None:
    assert run(order_of(["greedy"] * 6 + ["modest"] * 2)) == [
        *("greedy", "greedy", "modest", "greedy", "modest", "greedy", "greedy", "greedy")
    ]


async def order_of(asking: list[str]) -> list[str]:
    """In which order they got the one turn there is."""
    turns, got = Turns(1), list[str]()

    async def ask(address: str) -> None:
        async with turns.turn(address):
            got.append(address)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask(address) for address in asking))
    return got


def test_a_turn_that_nobody_waits_for_any_more_goes_to_the_next() -> None:
    run(leave_while_waiting())


async def leave_while_waiting() -> None:
    turns = Turns(1)
    async with turns.turn("first"):
        leaving = asyncio.create_task(hold(turns, "second"))
        staying = asyncio.create_task(hold(turns, "third"))
        await asyncio.sleep(0)
        leaving.cancel()
    await asyncio.wait_for(staying, 10)
    await asyncio.wait_for(hold(turns, "fourth"), 10)


async def hold(turns: Turns, address: str) -> None:
    async with turns.turn(address):
        await asyncio.sleep(0)


def test_a_rested_turn_is_anothers_and_is_owed_afterwards() -> None:
    run(rest())


async def rest() -> None:
    turns = Turns(1)
    async with turns.turn("poll"):
        turns.give()
        await asyncio.wait_for(hold(turns, "page"), 10)
        turns.overdraw()
    await asyncio.wait_for(hold(turns, "page"), 10)
