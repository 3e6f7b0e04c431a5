"""What /readyz of a whole instance answers while its parts are stopped, for real."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.system.running import System, wait_for

pytestmark = [pytest.mark.long, pytest.mark.stack]
SECONDS = 90


def readyz(system: System) -> tuple[int, dict[str, Any]]:
    try:
        with urlopen(system.launch.url + "readyz", timeout=10) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)


def failing(system: System) -> list[str]:
    return parts_failing(readyz(system)[1])


def parts_failing(answer: dict[str, Any]) -> list[str]:
    return [each["part"] for each in answer["problems"]]


def answer_naming(system: System, *parts: str) -> tuple[int, dict[str, Any]]:
    """The first answer that names just these ``parts``. The next one may come from the other web
    process, whose report is some seconds older.
    """
    found: list[tuple[int, dict[str, Any]]] = []

    def names_them() -> bool:
        found[:] = [readyz(system)]
        return parts_failing(found[0][1]) == list(parts)

    wait_for(names_them, SECONDS)
    return found[0]


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def heartbeats_grow_old(system: System) -> None:
    """As if minutes had passed."""
    with system.connected() as connection:
        connection.execute(b"UPDATE readiness_heartbeat SET at = at - interval '3 minutes'")


@pytest.mark.parametrize("part", ["worker", pytest.param("deliveries", marks=pytest.mark.release)])
def test_a_worker_whose_processes_are_all_stopped_is_named(system: System, part: str) -> None:
    first = system.launch.pid(part)
    with stopped(*(each.pid for each in system.processes(part) if each.pid != first)):
        heartbeats_grow_old(system)
        status, answer = answer_naming(system, part)
        assert status == 503
        assert "last seen at work" in answer[part]
        assert f"restart {part}" in answer["problems"][0]["remedy"]
        assert answer["problems"][0]["since"]
    system.launch.wait_until_ready()


def test_a_stopped_beat_is_named(system: System) -> None:
    with stopped(system.launch.pid("beat")):
        heartbeats_grow_old(system)
        wait_for(lambda: failing(system) == ["beat"], SECONDS)
    system.launch.wait_until_ready()


def test_after_a_restart_of_redis_it_is_ready_again_and_stays_so(system: System) -> None:
    wait_for(lambda: failing(system) == [], SECONDS)
    system.control("restart", "redis")
    system.launch.wait_until_ready()
    heartbeats_grow_old(system)  # so that workers have to be asked, too
    wait_for(lambda: failing(system) == [], SECONDS)


def test_a_frozen_database_is_named_within_seconds(system: System) -> None:
    with stopped(*(each.pid for each in system.processes("postgres"))):
        wait_for(lambda: "database" in failing(system), SECONDS)
    system.launch.wait_until_ready()
