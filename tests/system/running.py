"""A whole Driftline, started as a user starts it, and the agent that uploads to it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psycopg

from tests.launcher.running import PROJECT, Launch, connected
from webapp.launcher import processes

# The sweep finds what Redis lost; tests that wait for it do not wait half a minute.
SWEEP_SECONDS = 2
UPLOAD_SECONDS = 90
ANALYSIS_SECONDS = 180
SUPERVISORCTL = (sys.executable, "-m", "supervisor.supervisorctl")
RECORDS = """
    analysis_notedpoint, analysis_seriesanalysis, results_point, results_measurement,
    results_run, results_series, results_revisionalias, results_revision, results_tree,
    results_hardwarealias, results_hardware, results_modealias, results_mode, results_metric,
    results_variant
"""


@dataclass
class Upload:
    """One `labagent upload` under way."""

    process: "subprocess.Popen[str]"

    def wait(self, seconds: float = UPLOAD_SECONDS) -> str:
        """The line it closes with; fails with what it printed when it did not succeed."""
        out, err = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, f"exit {self.process.returncode}: {out}{err}"
        return out.strip()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.communicate()


@dataclass
class System:
    """A running instance and a token of one of its agents."""

    launch: Launch
    token: str

    @classmethod
    @contextmanager
    def started(cls, state: Path) -> Iterator["System"]:
        """An instance in `state`, which ends with the block."""
        variables = {"DRIFTLINE_SWEEP_SECONDS": str(SWEEP_SECONDS)}
        launch = Launch(state, variables=variables).with_data()
        try:
            launch.start()
            yield cls(launch, launch.manage("create_agent", "bench", "--lab", "netlab").split()[-1])
        finally:
            launch.discard()

    def upload(self, *arguments: object, spool: Path) -> Upload:
        """Start `labagent upload` with what it needs to know."""
        environ = {
            name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
        }
        environ |= {
            "PYTHONPATH": str(PROJECT / "agents" / "src"),
            "DRIFTLINE_SERVER": self.launch.url,
            "DRIFTLINE_TOKEN": self.token,
            "DRIFTLINE_SPOOL": str(spool),
            "DRIFTLINE_CONFIG": str(spool / "none.toml"),
        }
        command = [sys.executable, "-m", "labagent", "upload", "--register", *map(str, arguments)]
        pipe = subprocess.PIPE
        return Upload(subprocess.Popen(command, env=environ, stdout=pipe, stderr=pipe, text=True))

    def page(self, path: str) -> str:
        """The text of a page."""
        with urlopen(self.launch.url + path.lstrip("/"), timeout=30) as response:
            return str(response.read().decode())

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What the database answers, over a connection of our own."""
        with self.connected() as connection:
            return connection.execute(query.encode(), parameters or None).fetchall()

    def count(self, table: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {table}")[0][0])

    def empty(self) -> None:
        """Forget all records; agents and tokens stay."""
        self.wait_until_analysed()
        truncate(self.connected, RECORDS)

    def processes(self, name: str) -> list[processes.Process]:
        """Those of one program: they are of the group of its first."""
        group = self.launch.pid(name)
        return [each for each in processes.running() if each.group == group]

    def connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to the database."""
        return connected(self.launch)

    def control(self, action: str, *programs: str) -> None:
        """Have the supervisor start, stop or restart programs."""
        configuration = str(self.launch.state / "supervisord.conf")
        subprocess.run(
            [*SUPERVISORCTL, "-c", configuration, action, *programs],
            check=True,
            capture_output=True,
            timeout=60,
        )

    def wait_until_analysed(self, seconds: float = ANALYSIS_SECONDS) -> None:
        """Wait until no series is dirty."""
        wait_for(lambda: not self.dirty(), seconds)

    def dirty(self) -> int:
        """How many series wait for their analysis."""
        query = "SELECT count(*) FROM results_series WHERE dirty_from IS NOT NULL"
        return int(self.rows(query)[0][0])


def truncate(
    connected: Callable[[], psycopg.Connection[tuple[Any, ...]]], tables: str, attempts: int = 5
) -> None:
    """Empty tables while the instance runs on.

    Its sweep reads the same tables in an order of its own, and PostgreSQL ends either of two that
    wait for one another: when it ends this one, it comes again.
    """
    for _ in range(attempts):
        with suppress(psycopg.errors.DeadlockDetected), connected() as connection:
            connection.execute(f"TRUNCATE {tables} CASCADE".encode())
            return
    raise AssertionError(f"{attempts} deadlocks one after the other")


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    """Wait until `condition` holds; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.02)
