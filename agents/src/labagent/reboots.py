"""Repetitions that are spread over reboots of this machine: what is left to do, on disk.

    <spool>/reboots.json     the series: what to run, where from, and each repetition that is done
    <spool>/reboots.lock     held by the process that goes on with it

A repetition is on disk before the machine is rebooted, with the boot that it was measured in. So
whatever kills the agent, a finished repetition is kept and not repeated, and none shares its boot.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labagent.disk import write_durably
from labagent.errors import AgentError, SettingsError
from labagent.repetition import Repetition

REBOOT = ("shutdown", "-r", "now")
RESUME = "after the boot: labagent run --resume (`labagent run --service` prints what calls it)"


@dataclass(frozen=True)
class Series:
    """What is repeated: the arguments of `labagent run`, its server, where it was called, what the
    runs have in common, and the kernel; `done` grows by a repetition a boot."""

    arguments: Mapping[str, Any]
    server: str
    directory: str
    path: str
    measured_at: str
    kernel: str
    done: tuple[Repetition, ...] = ()


@dataclass
class Reboots:
    """The series of this machine, one at a time, in the directory of the spool."""

    spool: Path
    command: Sequence[str] = field(default=REBOOT)

    @property
    def file(self) -> Path:
        """Where the series lies."""
        return self.spool / "reboots.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the series. Raises SettingsError where another process does."""
        self.spool.mkdir(parents=True, exist_ok=True)
        with (self.spool / "reboots.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise SettingsError(
                    "another process goes on with this series", "let it end"
                ) from error
            yield

    def load(self) -> Series | None:
        """The series that is under way. Raises SettingsError where it cannot be read."""
        try:
            found = json.loads(self.file.read_text("utf-8"))
            done = tuple(Repetition.parse(one) for one in found.pop("done"))
            return Series(**found, done=done)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"cannot read {self.file}: {error}", "give it up: labagent run --abandon"
            ) from error

    def save(self, series: Series) -> None:
        """Put the series to disk; it is there once this returns."""
        write_durably(self.file, json.dumps(asdict(series)).encode())

    def forget(self) -> None:
        """Forget the series: its runs are in the spool, or it was given up."""
        self.file.unlink(missing_ok=True)

    def reboot(self) -> None:
        """Reboot the machine. Raises AgentError where that is refused."""
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, check=False)
            reason = done.stderr.strip() or f"ended with {done.returncode}"
            failed = done.returncode != 0
        except OSError as error:
            failed, reason = True, error.strerror or str(error)
        if failed:
            raise AgentError(
                f"{' '.join(self.command)}: {reason}",
                f"reboot the machine; nothing is lost; {RESUME}",
            )


def this_boot() -> str:
    """A name of the boot that this process runs in. Raises AgentError where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        asked = ["sysctl", "-n", "kern.boottime"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise AgentError("this system does not name its boots", "leave --reboot out") from error
