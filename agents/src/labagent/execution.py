"""A command that is run and timed."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from labagent.errors import AgentError, SettingsError
from labagent.job import printable
from labagent.model import Metric
from labagent.readers.formats import Content, Result
from labagent.reading import MAX_LOG_BYTES, size_text

WALL = Metric("wall_time", "s", "less")
USER = Metric("user_time", "s", "less")
SYSTEM = Metric("system_time", "s", "less")
MEMORY = Metric("peak_memory", "MiB", "less")
_MAXRSS = 1 if sys.platform == "darwin" else 1024
"""Bytes in a unit of ru_maxrss."""


class CommandError(AgentError):
    """The command did not end with 0, or printed too much."""


@dataclass(frozen=True)
class Execution:
    """What a command printed, and what it took with all the processes that it waited for."""

    stdout: str
    stderr: str
    wall: float
    user: float
    system: float
    peak_bytes: int | None

    def content(self) -> Content:
        """Times and peak memory as results."""
        values = [(WALL, self.wall), (USER, self.user), (SYSTEM, self.system)]
        if self.peak_bytes is not None:
            values.append((MEMORY, self.peak_bytes / 1024**2))
        return Content([Result(metric, (value,)) for metric, value in values])


def execute(
    command: Sequence[str], directory: str | None = None, path: str | None = None
) -> Execution:
    """Run it to its end without standard input, in ``directory`` and with ``path`` as its PATH
    where they are given. Raises CommandError and SettingsError."""
    environ = {**os.environ, "PATH": path} if path else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=directory,
                env=environ,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(
                f"{command[0]} cannot be started: {reason}", "write it as a shell would start it"
            ) from error
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            raise
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout, stderr = _read(out), _read(err)
    if process.returncode:
        raise CommandError(_failure(command, process.returncode, stderr or stdout))
    return Execution(stdout, stderr, wall, usage.ru_utime, usage.ru_stime, _peak(usage))


def _peak(usage: resource.struct_rusage) -> int | None:
    """Bytes; None where it is hidden: a process begins with the peak of the one that started it."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * _MAXRSS if usage.ru_maxrss > own else None


def _read(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    if size > MAX_LOG_BYTES:
        raise CommandError(
            f"the command printed {size_text(size)}, more than the {size_text(MAX_LOG_BYTES)} read",
            "have it write a file of results, and pass --read FILE",
        )
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _failure(command: Sequence[str], status: int, text: str) -> str:
    how = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
    last = next(_last_lines(text), "")
    return f"{shlex.join(command)} {how}" + (f": {last}" if last else "")


def _last_lines(text: str) -> Iterator[str]:
    return (printable(line.strip())[:200] for line in reversed(text.splitlines()) if line.strip())
