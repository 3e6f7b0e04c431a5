"""The whole system as a user starts, kills and stops it."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.stack.running import Launch, free_port, labs
from webapp.config import instance

pytestmark = pytest.mark.stack


@contextmanager
def running(launch: Launch) -> Iterator[Launch]:
    try:
        yield launch.start()
    finally:
        if launch.process and launch.process.poll() is None:
            launch.interrupt()


@pytest.fixture(scope="session")
def shared(shared_place: Path) -> Iterator[Launch]:
    """One instance for the tests that leave it running."""
    with running(Launch(shared_place / "state")) as launch:
        yield launch


def test_ctrl_c_leaves_no_process_and_a_restart_keeps_the_data(place: Path) -> None:
    launch = Launch(place / "state")
    launch.start()
    assert launch.status() == 200
    assert "dl_" in launch.manage("create_agent", "bee", "--lab", "hive")
    status, out, err = launch.interrupt()
    assert (status, out) == (0, "")
    assert "Traceback" not in err
    assert launch.running() == []

    with running(Launch(launch.state)) as again:
        assert labs(again) == 1


def test_interrupting_the_start_leaves_no_process(place: Path) -> None:
    launch = Launch(place / "state").begin()
    launch.pid("redis")
    assert launch.interrupt()[:2] == (0, "")
    assert launch.running() == []


def test_a_second_instance_runs_beside_and_ends_alone(shared: Launch, place: Path) -> None:
    before = labs(shared)
    beside = Launch(place / "state").start()
    beside.manage("create_agent", "bee", "--lab", "second")
    assert (labs(beside), labs(shared)) == (1, before)
    assert beside.process
    beside.process.terminate()
    assert beside.end()[0] == 0
    assert beside.running() == []
    assert shared.status() == 200


def test_a_second_launcher_on_the_same_state_is_refused(shared: Launch) -> None:
    status, out, err = Launch(shared.state).begin().end()
    assert shared.process
    assert (status, out) == (1, "")
    assert f"is in use: process {shared.process.pid} serves {shared.url}" in err
    assert shared.status() == 200


def test_a_taken_port_is_refused_before_anything_starts(place: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        launch = Launch(place / "state", port=taken.getsockname()[1])
        status, out, err = launch.begin().end()
    assert (status, out) == (1, "")
    assert f"Choose another: PORT={launch.port + 1}" in err
    assert not (launch.state / "postgres").exists()


@pytest.mark.parametrize("name", ["web", "worker", "redis"])
def test_a_killed_program_comes_back(shared: Launch, name: str) -> None:
    old = shared.pid(name)
    os.kill(old, signal.SIGKILL)
    _wait_for_successor(shared, name, old)
    shared.wait_until_ready()


def test_killing_postgres_loses_nothing(shared: Launch) -> None:
    shared.manage("create_agent", "wasp", "--lab", "nest")
    before = labs(shared)
    old = shared.pid("postgres")
    os.kill(old, signal.SIGKILL)
    _wait_for_successor(shared, "postgres", old)
    shared.wait_until_ready()
    assert labs(shared) == before


def test_a_start_ends_what_a_killed_launcher_left(place: Path) -> None:
    launch = Launch(place / "state").start()
    launch.manage("create_agent", "bee", "--lab", "hive")
    launch.kill()
    left = {process.pid for process in launch.running()}
    assert left

    second = Launch(launch.state, port=launch.port).start()
    assert not left & {process.pid for process in second.running()}
    assert labs(second) == 1
    second.kill()
    os.kill(second.pid("supervisord"), signal.SIGKILL)

    with running(Launch(launch.state, port=launch.port)) as third:
        assert labs(third) == 1
    assert third.running() == []


def test_losing_the_supervisor_ends_the_instance_with_a_message(place: Path) -> None:
    launch = Launch(place / "state").start()
    os.kill(launch.pid("supervisord"), signal.SIGKILL)
    status, _, err = launch.end()
    assert status == 1
    assert "supervisord" in err
    assert "Traceback" not in err
    assert launch.running() == []


def test_servers_named_by_the_environment_are_used_and_none_started(place: Path) -> None:
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    with running(Launch(place / "state", variables=given)) as launch:
        assert not (launch.state / "postgres").exists()
        assert not (launch.state / "redis.conf").exists()


def test_the_state_of_another_version_is_refused(place: Path) -> None:
    (place / instance.FILE_NAME).write_text('{"layout": 99, "new": true}')
    status, out, err = Launch(place).begin().end()
    assert (status, out) == (1, "")
    assert "written by another version" in err


def test_the_data_of_another_postgres_are_refused(place: Path) -> None:
    (place / "postgres").mkdir()
    (place / "postgres" / "PG_VERSION").write_text("9\n")
    status, _, err = Launch(place).begin().end()
    assert status == 1
    assert "The data were written by PostgreSQL 9" in err


def test_a_meaningless_variable_is_refused_by_name(place: Path) -> None:
    launch = Launch(place, variables={"DRIFTLINE_WEB_THREADS": "many"})
    status, _, err = launch.begin().end()
    assert status == 2
    assert "DRIFTLINE_WEB_THREADS=many" in err


def test_a_deep_directory_gets_short_paths_for_its_sockets(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 20) / "with spaces"
    with running(Launch(deep, port=free_port())) as launch:
        sockets = Path(instance.read(deep).sockets)
        assert sockets.parent == Path("/tmp")
        assert sockets.stat().st_mode & 0o077 == 0
        assert labs(launch) == 0
    shutil.rmtree(sockets)


def _wait_for_successor(launch: Launch, name: str, old: int) -> None:
    _wait_until(lambda: launch.pid(name) != old, f"{name} came back")


def _wait_until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.1)
