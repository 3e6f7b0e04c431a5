"""Running `manage.py` commands on the way up."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from webapp.launcher.errors import StackError
from webapp.launcher.programs import PROJECT


def follow(arguments: list[str], logs: Path) -> Iterator[str]:
    """Run one command and give each line that it prints as it comes.

    Raises `StackError` when it fails.
    """
    process = _start(arguments, logs)
    try:
        yield from map(str.rstrip, process.stdout or ())
        process.wait()
    finally:
        _end([process])
    _require_success(arguments, process, logs)


def run_together(logs: Path, *commands: list[str]) -> None:
    """Run `commands` side by side; raise `StackError` for the first that failed.

    What they say on standard error is kept in `logs`.
    """
    started = [_start(arguments, logs) for arguments in commands]
    try:
        for process in started:
            process.communicate()
    finally:
        _end(started)
    for arguments, process in zip(commands, started, strict=True):
        _require_success(arguments, process, logs)


def _end(started: Sequence["subprocess.Popen[str]"]) -> None:
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def _require_success(arguments: list[str], process: "subprocess.Popen[str]", logs: Path) -> None:
    if process.returncode:
        errors = _log(arguments, logs).read_text(errors="replace").splitlines()[-20:]
        raise StackError(
            f"`manage.py {arguments[0]}` failed (status {process.returncode}):\n"
            + "\n".join(errors)
        )


def _start(arguments: list[str], logs: Path) -> "subprocess.Popen[str]":
    with _log(arguments, logs).open("w") as errors:
        return subprocess.Popen(
            [sys.executable, str(PROJECT / "manage.py"), *arguments],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )


def _log(arguments: list[str], logs: Path) -> Path:
    return logs / f"{arguments[0]}.log"
