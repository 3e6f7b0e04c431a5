"""A whole instance in a directory of its own, started as `make up` does, for benchmarks."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from webapp.config import instance
from webapp.launcher import processes
from webapp.launcher.postgres import ADMINISTRATOR, DATABASE, OWNER

PROJECT = Path(__file__).resolve().parents[1]
# Collected once: compressing takes seconds.
STATIC = PROJECT / ".run-bench" / "static"
ALWAYS = {"DRIFTLINE_STATIC_ROOT": str(STATIC), "DRIFTLINE_PUBLIC": "true"}
"""Variables of every process of an instance; to a stranger, its pages are open."""
# What would make the instance another one than a user's
OUR_PREFIX, OTHERS = "DRIFTLINE_", ("DATABASE_URL", "REDIS_URL", "STATE")


@dataclass(frozen=True)
class Instance:
    """Where the instance is."""

    state: Path
    port: int
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables that it was started with."""

    def variables(self) -> dict[str, str]:
        """What a process of our own needs in its environment to belong to the instance."""
        return {"STATE": str(self.state)} | ALWAYS

    def manage(self, *arguments: str) -> str:
        """The output of a `manage.py` command."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=_environment(self.state, self.settings),
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def shell(self, program: str) -> list[str]:
        """The command that runs a program as `manage.py shell` does."""
        return [sys.executable, "manage.py", "shell", "--no-imports", "-c", program]

    def surroundings(self) -> dict[str, Any]:
        """Directory and environment for such a command."""
        return {"cwd": PROJECT, "env": _environment(self.state, self.settings)}

    def control(self, action: str, *programs: str) -> None:
        """Have the supervisor start, stop or restart programs."""
        command = [sys.executable, "-m", "supervisor.supervisorctl"]
        configuration = str(self.state / "supervisord.conf")
        subprocess.run(
            [*command, "-c", configuration, action, *programs], check=True, capture_output=True
        )

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to its database."""
        sockets = instance.read(self.state).sockets
        return psycopg.connect(host=sockets, user=OWNER, dbname=DATABASE, autocommit=True)

    def administrate(self, statement: str) -> None:
        """Run one statement as PostgreSQL's administrator."""
        sockets = instance.read(self.state).sockets
        with psycopg.connect(host=sockets, user=ADMINISTRATOR, dbname=DATABASE) as connection:
            connection.execute(statement.encode())

    def cpu_seconds(self) -> dict[str, float]:
        """Processor time of each program with its processes; empty where /proc does not show it."""
        return self._sum(cpu_seconds)

    def memory_mb(self) -> dict[str, float]:
        """Memory of each program with its processes, pages that are shared by n counted as 1/n;
        empty where /proc does not show it.
        """
        return self._sum(_memory_mb)

    def _sum(self, figure: Callable[[int], float]) -> dict[str, float]:
        if not (processes.PROC / "self" / "stat").exists():
            return {}
        roots = processes.recorded_ids(self.state / "pids")
        postmaster = processes.read_id(self.state / "postgres" / "postmaster.pid")
        names = {pid: name for name, pid in roots.items()}
        names |= {postmaster: "postgres"} if postmaster else {}
        summed: dict[str, float] = dict.fromkeys(names.values(), 0.0)
        for process in processes.running():
            name = names.get(process.pid) or names.get(process.group) or _parents(process, names)
            if name:
                summed[name] += figure(process.pid)
        return summed


def _parents(process: processes.Process, names: Mapping[int, str]) -> str | None:
    """The program of the process's parent: PostgreSQL's backends lead groups of their own."""
    return names.get(int(_stat(process.pid)[1])) if _stat(process.pid) else None


def children(pid: int) -> list[int]:
    """The ids of the processes that ``pid`` started."""
    found = (each.pid for each in processes.running())
    return [each for each in found if (stat := _stat(each)) and int(stat[1]) == pid]


def cpu_seconds(pid: int) -> float:
    """Its own time, and that of its children that have ended."""
    found = _stat(pid)
    return sum(map(int, found[11:15])) / os.sysconf("SC_CLK_TCK") if found else 0.0


def _memory_mb(pid: int) -> float:
    """Its proportional set size; 0 when the process is gone."""
    try:
        lines = (processes.PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _stat(pid: int) -> list[str]:
    """The fields after the name; nothing when the process is gone."""
    try:
        return (processes.PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


@contextmanager
def running(**variables: str) -> Iterator[Instance]:
    """An empty instance that ends, with its data, when the block does."""
    state = Path(tempfile.mkdtemp(prefix="driftline-bench-", dir="/tmp"))
    state.chmod(0o711 if os.geteuid() == 0 else 0o700)
    port = free_port()
    with (state / "launcher.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "webapp.launcher", "up"),
                *("--port", str(port), "--state", str(state)),
            ],
            cwd=PROJECT,
            env=_environment(state, variables),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        if not process.stdout or not process.stdout.readline().startswith("ready "):
            raise SystemExit(f"No instance:\n{(state / 'launcher.log').read_text()}")
        yield Instance(state, port, variables)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(state, ignore_errors=True)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(state: Path, variables: Mapping[str, str]) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OUR_PREFIX) and name not in OTHERS
    }
    # One lab uploads more in minutes than a real one in a day.
    quota = {"DRIFTLINE_LAB_RUNS_A_DAY": str(10**9)}
    return inherited | {"STATE": str(state)} | ALWAYS | quota | dict(variables)
