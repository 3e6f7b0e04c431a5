"""Ending what runs of an instance whose launcher, or whose supervisord, was killed."""

from collections.abc import Callable
from pathlib import Path

from webapp.config import instance
from webapp.launcher import processes

# Stopping takes as long as the slowest program may take, one after the other.
STOP_SECONDS = 120
ORPHAN_SECONDS = 20
# Above the highest id that any system gives
NO_PROCESS = 2**31 - 1


def end_left_behind(state: Path, say: Callable[[str], None], *, spare: int = 0) -> None:
    """End the programs of `state`, supervisord first: it stops the rest. Forget their ids.

    The process `spare` is left alone.
    """
    pids = state / "pids"
    recorded = processes.recorded_ids(pids)
    postmaster = processes.read_id(state / "postgres" / "postmaster.pid")
    if postmaster:
        recorded["postgres"] = postmaster
    left = {name: pid for name, pid in recorded.items() if pid != spare}
    found = processes.left_behind(state, left)
    for name in sorted(found, key=lambda name: name != "supervisord"):
        say(f"ending `{name}`, left running by an instance that was killed")
        seconds = STOP_SECONDS if name == "supervisord" else ORPHAN_SECONDS
        processes.end(name, found[name], seconds=seconds)
    for path in pids.glob("*.pid"):
        path.unlink(missing_ok=True)
    if postmaster and "postgres" not in found:
        _disown(state, postmaster)


def _disown(state: Path, pid: int) -> None:
    """Let PostgreSQL start although another program got the id of the one that was killed.

    It would take that program for itself, and say at every start that it is running already. Its
    files are kept, because one names the shared memory, by which PostgreSQL knows whether something
    of it is really running; only the id goes.
    """
    if all(process.pid != pid for process in processes.running()):
        return
    sockets = Path(instance.read(state).sockets)
    for path in (state / "postgres" / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([f"{NO_PROCESS}\n", *lines[1:]]))
