"""The whole system as a user starts, kills and stops it."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.launcher.running import Launch, labs
from webapp.config import instance
from webapp.launcher import servers
from webapp.launcher.launcher import RESTART_SECONDS, RESTARTS, Losses
from webapp.launcher.postgres import postgres_identity
from webapp.launcher.processes import Process
from webapp.launcher.processes import running as running_now

# One process of several runs these: an instance is shared by all tests that need no fresh one.
pytestmark = [pytest.mark.long, pytest.mark.stack]


@contextmanager
def running(launch: Launch) -> Iterator[Launch]:
    with discarded(launch):
        yield launch.start()


@contextmanager
def discarded(launch: Launch) -> Iterator[Launch]:
    """What was started ends with the block."""
    try:
        yield launch
    finally:
        launch.discard()


@pytest.fixture(scope="session")
def first(shared_place: Path) -> Iterator[Launch]:
    """The instance of all tests that leave it running, or able to start again."""
    with running(Launch(shared_place / "state").with_data()) as launch:
        yield launch


@pytest.fixture
def shared(first: Launch) -> Launch:
    """It runs, whatever became of the test before."""
    if first.process and first.process.poll() is not None:
        first.process.communicate()
        first.start()
    return first


@pytest.fixture
def lab(shared: Launch) -> Iterator[None]:
    """A lab that must still be there when the test is over."""
    before = labs(shared)
    assert "dl_" in shared.manage("create_agent", f"bee{before}", "--lab", f"hive{before}")
    yield
    assert labs(shared) == before + 1


@pytest.mark.usefixtures("lab")
def test_ctrl_c_leaves_no_process_and_a_restart_keeps_the_data_whoever_got_the_ids(
    shared: Launch,
) -> None:
    assert shared.status() == 200
    status, out, err = shared.interrupt()
    assert (status, out) == (0, "")
    assert "Traceback" not in err
    assert shared.running() == []
    with _another_program_with_all_ids(shared.state) as other:
        shared.start()
        assert other.poll() is None


@contextmanager
def _another_program_with_all_ids(state: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """As if the programs had been killed, and their ids had been given to this one."""
    user = postgres_identity(servers.find_postgres().bin / "postgres", state).user
    with subprocess.Popen(["sleep", "600"], user=user) as other:
        try:
            for name in ("web", "worker", "beat", "redis", "supervisord"):
                (state / "pids" / f"{name}.pid").write_text(f"{other.pid}\n")
            lines = f"{other.pid}\n{state}/postgres\n"
            (state / "postgres" / "postmaster.pid").write_text(lines)
            (state / "sockets" / ".s.PGSQL.5432.lock").write_text(lines)
            yield other
        finally:
            other.kill()


def test_interrupting_the_start_leaves_no_process(place: Path) -> None:
    launch = Launch(place / "state").begin()
    launch.pid("redis")
    assert launch.interrupt()[:2] == (0, "")
    assert launch.running() == []


@pytest.mark.release
def test_a_second_instance_in_a_deep_directory_runs_beside_and_ends_alone(
    shared: Launch, tmp_path: Path
) -> None:
    before = labs(shared)
    deep = tmp_path / ("deep" * 20) / "with spaces"
    with running(Launch(deep).with_data()) as beside:
        sockets = Path(instance.read(deep).sockets)
        assert sockets.parent == Path("/tmp")
        assert sockets.stat().st_mode & 0o077 == 0
        beside.manage("create_agent", "bee", "--lab", "second")
        assert (labs(beside), labs(shared)) == (1, before)
        assert beside.process
        beside.process.terminate()
        assert beside.end()[0] == 0
    shutil.rmtree(sockets)
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


@pytest.mark.parametrize(
    "name",
    ["web", "front", "worker", pytest.param("deliveries", marks=pytest.mark.release), "redis"],
)
def test_a_killed_program_comes_back(shared: Launch, name: str) -> None:
    old = shared.pid(name)
    os.kill(old, signal.SIGKILL)
    _wait_for_successor(shared, name, old)
    shared.wait_until_ready()


@pytest.mark.usefixtures("lab")
def test_killing_postgres_loses_nothing(shared: Launch) -> None:
    old = shared.pid("postgres")
    os.kill(old, signal.SIGKILL)
    _wait_for_successor(shared, "postgres", old)
    shared.wait_until_ready()


KILLED = pytest.mark.parametrize(
    "others",
    [pytest.param((), marks=pytest.mark.release), ("supervisord",)],
    ids=["alone", "with supervisord"],
)


@KILLED
@pytest.mark.usefixtures("lab")
def test_a_start_ends_what_a_killed_launcher_left(shared: Launch, others: tuple[str, ...]) -> None:
    left = _kill_launcher(shared, others)
    assert left
    shared.start()
    assert not left & {process.pid for process in shared.running()}


@KILLED
def test_a_killed_launcher_takes_its_programs_along(
    shared: Launch, others: tuple[str, ...]
) -> None:
    shared.pid("lifeline")
    _kill_launcher(shared, others)
    _wait_until(lambda: shared.running() == [], "nothing ran any more")
    assert shared.status() == 0


def _kill_launcher(launch: Launch, others: tuple[str, ...]) -> set[int]:
    """Kill it with some of its programs; the ids of those that it leaves."""
    pids = [launch.pid(name) for name in others]
    launch.kill()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return {process.pid for process in launch.running()}


@pytest.mark.release
@pytest.mark.usefixtures("lab")
def test_losing_the_supervisor_starts_everything_again(shared: Launch) -> None:
    launcher = shared.process and shared.process.pid
    lost = shared.pid("supervisord")
    old = {process.pid for process in shared.running()} - {launcher}
    os.kill(lost, signal.SIGKILL)
    _wait_until(lambda: shared.pid("supervisord") != lost, "supervisord came back")
    shared.wait_until_ready()
    _wait_until(lambda: not old & {one.pid for one in shared.running()}, "the old ones ended")
    assert shared.interrupt()[0] == 0
    shared.start()


def test_a_supervisor_that_is_lost_again_and_again_ends_the_instance() -> None:
    losses = Losses()
    assert [losses.are_too_many(60.0 * n) for n in range(RESTARTS + 1)] == [False] * RESTARTS + [
        True
    ]
    rare = Losses()
    assert not any(rare.are_too_many(RESTART_SECONDS / 4 * n) for n in range(20))


def test_a_first_start_that_was_interrupted_twice_is_made_good_by_the_next(place: Path) -> None:
    launch = Launch(place / "state").begin()
    _kill_when_it_runs("/initdb ", launch, first=launch.kill)
    assert not (launch.state / "postgres").exists()

    launch = Launch(launch.state).begin()
    _kill_when_it_runs("manage.py migrate", launch)
    status, _, err = launch.end()
    assert status == 1
    assert "`manage.py migrate` failed" in err

    with running(Launch(launch.state)) as again:
        assert labs(again) == 0
    assert [path.name for path in launch.state.glob("postgres*")] == ["postgres"]


def _kill_when_it_runs(
    program: str, launch: Launch, first: Callable[[], None] = lambda: None
) -> None:
    _wait_until(lambda: bool(_of(program, launch)), f"{program} ran")
    first()
    for process in _of(program, launch):
        os.kill(process.pid, signal.SIGKILL)


def _of(program: str, launch: Launch) -> list[Process]:
    """Those of a program that the launcher itself started: they are of its group."""
    assert launch.process
    group = launch.process.pid
    return [one for one in running_now() if one.group == group and program in one.command]


DAMAGED = {
    "empty": {"PG_VERSION": ""},
    "no version": {"base": ""},
    "not finished": {"PG_VERSION": "{major}"},
}


@pytest.mark.parametrize("files", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_data_directory_is_refused_in_a_sentence(
    place: Path, files: dict[str, str]
) -> None:
    (place / "postgres").mkdir()
    for name, content in files.items():
        major = str(servers.find_postgres().major)
        (place / "postgres" / name).write_text(content.format(major=major))
    status, out, err = Launch(place).begin().end()
    assert (status, out) == (1, "")
    assert "remove the directory" in err
    assert "Traceback" not in err


def test_a_key_that_was_cut_off_is_refused_in_a_sentence(place: Path) -> None:
    (place / instance.KEY_NAME).touch()
    status, _, err = Launch(place).begin().end()
    assert status == 1
    assert "secret_key holds 0 characters" in err
    assert "Traceback" not in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_named_and_the_next_start_goes_on(place: Path) -> None:
    """Up to the migrations, which the test above waits for."""
    state = place / "state"
    state.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(state)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small disk")
    try:
        _fill(state)
        _require_refused_for_want_of_room(state)
        _make_room(state, "20m")
        _require_refused_for_want_of_room(state)
        _make_room(state, "1g")
        with discarded(Launch(state).begin()) as again:
            _wait_until(lambda: bool(_of("manage.py migrate", again)), "it migrated")
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)


def _require_refused_for_want_of_room(state: Path) -> None:
    status, out, err = Launch(state).begin().end()
    assert (status, out) == (1, "")
    assert "No space left" in err
    assert "Traceback" not in err


def _fill(state: Path) -> None:
    with suppress(OSError), (state / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))


def _make_room(state: Path, size: str) -> None:
    (state / "filler").unlink(missing_ok=True)
    subprocess.run(["mount", "-o", f"remount,size={size}", str(state)], check=True)


@pytest.mark.release
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


def test_some_parts_alone_need_the_servers_of_the_other_machines(place: Path) -> None:
    given = {"DATABASE_URL": "postgres://h/d", "SECRET_KEY": "of all machines, and long enough"}
    launch = Launch(place, variables={"DRIFTLINE_ROLES": "worker", **given})
    status, _, err = launch.begin().end()
    assert status == 2
    assert "DRIFTLINE_ROLES=worker needs REDIS_URL, the same on all machines" in err


def _wait_for_successor(launch: Launch, name: str, old: int) -> None:
    _wait_until(lambda: launch.pid(name) != old, f"{name} came back")


def _wait_until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.1)
