"""Driving the launcher as a user does: as a process, by its output and by signals."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from tests.places import MIGRATED_DATA, PROJECT, STATIC, STATIC_OF_INSTANCES
from webapp.config import instance
from webapp.launcher import processes
from webapp.launcher.postgres import DATABASE, OWNER

# Of the whole system on a busy machine with two cores
START_SECONDS, STOP_SECONDS = 240, 60
NOT_OURS = ("STATE", "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PYTEST_XDIST_WORKER")


def free_port() -> int:
    """A port that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Launch:
    """One run of the launcher."""

    state: Path
    port: int = field(default_factory=free_port)
    variables: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    process: "subprocess.Popen[str] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def with_data(self) -> "Launch":
        """With the migrated, empty data of the tests' servers, unless it has data: they are what
        its first start would make in several seconds. Outside of tests nobody made any.
        """
        migrated = os.environ.get(MIGRATED_DATA)
        if migrated and not (self.state / "postgres").exists():
            self.state.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-Rp", migrated, self.state / "postgres"], check=True)
        return self

    def begin(self) -> "Launch":
        """Start without waiting."""
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "webapp.launcher", "up"),
                *("--port", str(self.port), "--state", str(self.state), *self.options),
            ],
            cwd=PROJECT,
            env=variables(self.state) | dict(self.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A group of its own, which `interrupt` signals as a terminal would
            start_new_session=True,
        )
        return self

    def start(self) -> "Launch":
        """Start, and wait for the first line on standard output: it must be the ready line."""
        self.begin()
        assert self.process
        assert self.process.stdout
        assert self.process.stderr
        line = self.process.stdout.readline()
        assert line == f"ready {self.url}\n", line + self.process.stderr.read()
        return self

    def interrupt(self) -> tuple[int, str, str]:
        """Press Ctrl-C; the exit status and what was printed since."""
        assert self.process
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> tuple[int, str, str]:
        """Wait for the end; the exit status and what was printed."""
        assert self.process
        out, err = self.process.communicate(timeout=STOP_SECONDS)
        return self.process.returncode, out, err

    def kill(self) -> None:
        """Kill the launcher alone."""
        assert self.process
        self.process.kill()
        self.process.wait()

    def discard(self) -> None:
        """End all of it at once: a stop in good order takes seconds, and its data go."""
        if self.process and self.process.poll() is None:
            # With the commands that it runs on its way up
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        discard(self.state)

    def status(self, path: str = "readyz") -> int:
        """The status of a page; 0 when nothing answers."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def wait_until_ready(self) -> None:
        """Wait until the pages answer, after something was killed."""
        end = time.monotonic() + START_SECONDS
        while self.status() != 200:
            assert time.monotonic() < end, "the pages did not come back"
            time.sleep(0.2)

    def running(self) -> list[processes.Process]:
        """Every process that names this STATE on its command line."""
        return [process for process in processes.running() if f"{self.state}/" in process.command]

    def pid(self, name: str) -> int:
        """The process id of one program, once it has one."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            pid = processes.read_id(self._pid_file(name))
            if pid:
                return pid
            time.sleep(0.1)
        raise AssertionError(f"{name} has no process id")

    def _pid_file(self, name: str) -> Path:
        if name == "postgres":
            return self.state / "postgres" / "postmaster.pid"
        return self.state / "pids" / f"{name}.pid"

    def manage(self, *arguments: str) -> str:
        """The output of a `manage.py` command that knows nothing but STATE."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=variables(self.state),
            check=True,
            capture_output=True,
            text=True,
        ).stdout


def discard(state: Path) -> None:
    """End the programs of an instance whose launcher has ended, with the processes of each."""
    end = time.monotonic() + STOP_SECONDS
    while left := _programs(state):
        assert time.monotonic() < end, f"still running: {left}"
        for one in left:
            # The hardest end in which PostgreSQL gives its shared memory back
            is_postgres = Path(one.command.partition(" ")[0]).name == "postgres"
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGQUIT if is_postgres else signal.SIGKILL)
        time.sleep(0.02)


def _programs(state: Path) -> list[processes.Process]:
    """Those that name ``state`` on their command line, and the rest of their groups."""
    now = processes.running()
    groups = {one.group for one in now if f"{state}/" in one.command}
    return [one for one in now if one.group in groups]


def variables(state: Path) -> dict[str, str]:
    """This process's variables without those of the tests' own servers."""
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    return inherited | {"STATE": str(state), "DRIFTLINE_STATIC_ROOT": str(_static_files())}


@cache
def _static_files() -> Path:
    """Those of the tests, with their times: an instance then collects and compresses nothing."""
    if STATIC.exists():
        shutil.copytree(STATIC, STATIC_OF_INSTANCES, dirs_exist_ok=True)
    return STATIC_OF_INSTANCES


def connected(launch: Launch) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection to the embedded database of an instance."""
    sockets = instance.read(launch.state).sockets
    return psycopg.connect(host=sockets, user=OWNER, dbname=DATABASE, connect_timeout=5)


def labs(launch: Launch) -> int:
    """How many labs the database of an instance holds, once it takes connections."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with connected(launch) as connection:
                return connection.execute("SELECT id FROM labs_lab").rowcount
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
