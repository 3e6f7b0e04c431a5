"""The lab's commands: templates whose placeholders are filled in, and the processes that run them.

A value never makes two arguments of one and never meets a shell, unless the file says
`shell = true`; then it is quoted.

The commands of a worker that was killed live on and would meet those of its successor. So each
holds a lock, passed on to its children, on the file that names its group; who comes next sees by
the lock whether something is still there, and ends it.
"""

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from labagent.work.running import JobLog, StageFailed, Watch

ALWAYS = frozenset(
    [
        *("revision", "number", "tree", "hardware"),
        *("mode", "workload", "traffic", "options", "metric"),
        *("job", "build", "boots", "iterations", "directory"),
    ]
)
"""Placeholders that any command may use; `boot`, `iteration` and `output` only those within one."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BRACES = {"{{": "{", "}}": "}"}


@dataclass(frozen=True)
class Command:
    """One command of the configuration. `arguments`: the program first, or one line for the shell;
    `timeout` is in seconds, `key` its place in the file."""

    arguments: tuple[str, ...]
    timeout: float
    shell: bool = False
    key: str = ""

    def problem(self, known: frozenset[str]) -> str | None:
        """What is wrong with the placeholders, in words."""
        for word in self.arguments:
            for match in _PLACEHOLDER.finditer(word):
                if match[0] not in _BRACES and (match[1] or "") not in known:
                    return f"does not know {match[0]!r} in {word!r}"
        return None

    def uses(self, name: str) -> bool:
        """Whether the placeholder of this name stands in it."""
        found = (match for word in self.arguments for match in _PLACEHOLDER.finditer(word))
        return any(match[1] == name for match in found)

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """The arguments to execute."""
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            return ["/bin/sh", "-c", _fill(self.arguments[0], quoted)]
        return [_fill(word, values) for word in self.arguments]


def _fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with the placeholders replaced in one pass: what a value holds is not looked at
    again."""
    return _PLACEHOLDER.sub(lambda match: _BRACES.get(match[0]) or values[match[1]], template)


def shown(argv: list[str]) -> str:
    """A command as one would type it."""
    return shlex.join(argv)


def program_problem(program: str, path: str | None) -> str:
    """Why `program` cannot be started by whoever has this `PATH`, and the remedy; empty: it can."""
    if shutil.which(program, path=path):
        return ""
    where = [""] if os.sep in program else (path or os.defpath).split(os.pathsep)
    found = next((file for one in where if (file := Path(one) / program).exists()), None)
    if found is None and os.sep in program:
        return f"{program} does not exist on this machine"
    if found is None:
        return f"no program {program!r} on the PATH of the lab's commands, {path or os.defpath}"
    if found.is_dir():
        return f"{found} is a directory"
    return f"{found} is not executable: chmod +x {found}"


GRACE_SECONDS = 10.0
"""How long a group has between TERM and KILL."""

_LOOK_SECONDS = 0.1
_RESULTS_SECONDS = 1.0
_SAY_WHO_THEN_EXEC = 'echo $$ >"$0" && exec "$@"'
"""A shell that writes its own number, then becomes the command: from its first moment on the file
says whom to end. The command is passed as arguments, so the shell reads none of it."""


class TimedOut(Exception):
    """The command did not end in time."""


class Runner:
    """Runs commands for one job. `group_file` is the worker's; `environment` all that they see."""

    def __init__(
        self,
        log: JobLog,
        watch: Watch,
        group_file: Path,
        environment: Mapping[str, str],
        grace: float = GRACE_SECONDS,
    ) -> None:
        self.log = log
        self.watch = watch
        self.group_file = group_file
        self.environment = environment
        self.grace = grace

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        directory: Path,
        stdout: Path | None = None,
        look: Callable[[], None] | None = None,
    ) -> int:
        """The exit status (negative: a signal). Standard output goes to `stdout`, or to the log as
        standard error does. Raises `TimedOut`, why the watch stopped it, or what `look`, which is
        called every second meanwhile, raises: then it is ended."""
        self.watch.check()
        self._find(argv[0])
        self.log.note(f"$ {shown(list(argv))}")
        with contextlib.ExitStack() as files:
            errors = files.enter_context(self.log.path.open("ab"))
            output = files.enter_context(stdout.open("wb")) if stdout else errors
            process = self._start(argv, directory, output, errors)
        try:
            return self._wait(process, timeout, look)
        except BaseException:
            end_group(process.pid, self.grace)
            process.wait()
            raise

    def _find(self, program: str) -> None:
        if problem := program_problem(program, self.environment.get("PATH")):
            raise StageFailed("lab", problem)

    def _start(
        self, argv: Sequence[str], directory: Path, output: IO[bytes], errors: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        self.group_file.unlink(missing_ok=True)  # a daemon left by the last command keeps its own
        with self.group_file.open("wb") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return subprocess.Popen(
                ["/bin/sh", "-c", _SAY_WHO_THEN_EXEC, str(self.group_file), *argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=directory,
                env=dict(self.environment),
                pass_fds=[guard.fileno()],
                start_new_session=True,
            )

    def _wait(
        self, process: subprocess.Popen[bytes], timeout: float, look: Callable[[], None] | None
    ) -> int:
        now = time.monotonic()
        end, next_look = now + timeout, now
        while now < end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_SECONDS)
            self.watch.check()
            now = time.monotonic()
            if look and now >= next_look:
                look()
                next_look = now + _RESULTS_SECONDS
        raise TimedOut


def end_group(group: int, grace: float) -> None:
    """TERM a process group, and KILL what is left of it after `grace` seconds."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        end = time.monotonic() + grace
        while time.monotonic() < end:
            _reap(group)
            os.killpg(group, 0)
            time.sleep(0.02)
        os.killpg(group, signal.SIGKILL)


def _reap(group: int) -> None:
    """Collect the leader where it is our child: a zombie would keep its group alive."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)


def end_leftovers(group_file: Path, grace: float = GRACE_SECONDS) -> bool:
    """End what a killed worker left running; whether there was anything."""
    try:
        with group_file.open("rb") as guard:
            if _is_free(guard):
                return False
            group = int(guard.read() or 0)
    except (FileNotFoundError, ValueError):
        return False
    if group <= 1:
        return False
    end_group(group, grace)
    return True


def _is_free(guard: IO[bytes]) -> bool:
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
