"""Which processes run, and ending those that a killed launcher left behind.

A process is ours when it belongs to the process group of a recorded id *and* names STATE on its
command line. Ids alone are not enough: the system uses them again.

As a program (`python -m … --state DIR`) this module is one of the instance, its lifeline: without a
launcher nobody would notice that supervisord dies, or that a program cannot be kept running. So
what a killed launcher leaves is stopped, as its Ctrl-C would have; what started the launcher (a
person, systemd, rc.d) can start it again. Nothing is polled: the system hands the lock on when its
holder is gone.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from webapp.config import instance
from webapp.launcher.state import wait_for_launcher_to_end

PROC = Path("/proc")
# How each program is asked to end; what remains after the wait is killed, except PostgreSQL,
# for which SIGQUIT is the hardest end that it takes part in.
GENTLE: Mapping[str, signal.Signals] = {"postgres": signal.SIGINT}
HARD: Mapping[str, signal.Signals] = {"postgres": signal.SIGQUIT}
# Stopping takes as long as the slowest program may take, one after the other.
STOP_SECONDS = 120
ORPHAN_SECONDS = 20
# Above the highest id that any system gives
NO_PROCESS = 2**31 - 1


@dataclass(frozen=True)
class Process:
    """One running process: its id, the id of its group and its command line."""

    pid: int
    group: int
    command: str


def running() -> list[Process]:
    """All processes of the machine that we may see."""
    if (PROC / "self" / "stat").exists():
        return list(_from_proc())
    printed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,pgid=,args="], capture_output=True, text=True, check=True
    ).stdout
    return [_from_ps(line) for line in printed.splitlines() if len(line.split()) > 2]


def left_behind(state: Path, recorded: Mapping[str, int]) -> dict[str, list[Process]]:
    """The processes of `state`, by program, given the id `recorded` for each program."""
    marker = f"{state}/"
    ours = [process for process in running() if marker in process.command]
    found = {
        name: [process for process in ours if pid in (process.pid, process.group)]
        for name, pid in recorded.items()
    }
    return {name: processes for name, processes in found.items() if processes}


def end(name: str, processes: Iterable[Process], *, seconds: float) -> None:
    """End `processes` of the program `name`: gently, and hard what is left after `seconds`."""
    waiting = list(processes)
    _signal(waiting, GENTLE.get(name, signal.SIGTERM))
    waiting = _wait(waiting, seconds)
    _signal(waiting, HARD.get(name, signal.SIGKILL))
    _wait(waiting, seconds)


def recorded_ids(directory: Path) -> dict[str, int]:
    """The ids in the pid files of `directory`, by program."""
    return {
        path.stem: pid for path in directory.glob("*.pid") if (pid := read_id(path)) is not None
    }


def read_id(path: Path) -> int | None:
    """The id in the first line of a pid file, or None when there is no such thing."""
    try:
        return int(path.read_text().split(maxsplit=1)[0])
    except (FileNotFoundError, ValueError, IndexError):
        return None


def _from_proc() -> Iterator[Process]:
    for entry in PROC.iterdir():
        if entry.name.isdecimal():
            # Processes end while we look.
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name in parentheses may hold anything, so count from its end.
                state, _parent, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                command_line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                if state != "Z":
                    yield Process(int(entry.name), int(group), os.fsdecode(command_line))


def _from_ps(line: str) -> Process:
    pid, group, command = line.split(maxsplit=2)
    return Process(int(pid), int(group), command)


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _wait(processes: list[Process], seconds: float) -> list[Process]:
    """Wait until `processes` are gone; those that are not after `seconds`."""
    end_of_patience = time.monotonic() + seconds
    left = processes
    while left and time.monotonic() < end_of_patience:
        time.sleep(0.05)
        now = {(process.pid, process.command) for process in running()}
        left = [process for process in left if (process.pid, process.command) in now]
    return left


def end_left_behind(state: Path, say: Callable[[str], None], *, spare: int = 0) -> None:
    """End the programs of `state`, supervisord first: it stops the rest. Forget their ids.

    The process `spare` is left alone.
    """
    pids = state / "pids"
    recorded = recorded_ids(pids)
    postmaster = read_id(state / "postgres" / "postmaster.pid")
    if postmaster:
        recorded["postgres"] = postmaster
    left = {name: pid for name, pid in recorded.items() if pid != spare}
    found = left_behind(state, left)
    for name in sorted(found, key=lambda name: name != "supervisord"):
        say(f"ending `{name}`, left running by an instance that was killed")
        seconds = STOP_SECONDS if name == "supervisord" else ORPHAN_SECONDS
        end(name, found[name], seconds=seconds)
    for path in pids.glob("*.pid"):
        path.unlink(missing_ok=True)
    if postmaster and "postgres" not in found:
        _disown(state, postmaster)


def _disown(state: Path, pid: int) -> None:
    """Let PostgreSQL start although another program got the id of the one that was killed.

    It would take that program for itself, and report at every start that it is running already. Its
    files are kept, because one names the shared memory, by which PostgreSQL knows whether something
    of it is really running; only the id goes.
    """
    if all(process.pid != pid for process in running()):
        return
    sockets = Path(instance.read(state).sockets)
    for path in (state / "postgres" / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([f"{NO_PROCESS}\n", *lines[1:]]))


def main() -> None:
    """Wait for the launcher's death, then end everything but ourselves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--pidfile", type=Path, required=True)
    given = parser.parse_args()
    given.pidfile.write_text(f"{os.getpid()}\n")
    wait_for_launcher_to_end(given.state)
    # Not to standard output: whoever read that may be gone as well.
    with (given.state / "logs" / "launcher.log").open("a", buffering=1) as log:
        end_left_behind(given.state, lambda text: print(text, file=log), spare=os.getpid())


if __name__ == "__main__":
    main()
