"""Running `manage.py` commands on the way up."""

import subprocess
import sys
from pathlib import Path

from webapp.config.stack.errors import StackError
from webapp.config.stack.programs import PROJECT


def run(arguments: list[str], logs: Path) -> str:
    """Run one command and return what it printed; raise `StackError` when it fails."""
    return run_together(logs, arguments)[0]


def run_together(logs: Path, *commands: list[str]) -> list[str]:
    """Run `commands` side by side and return what each printed.

    Their standard error is kept in `logs`. Raises `StackError` for the first that failed.
    """
    started = [_start(arguments, logs) for arguments in commands]
    try:
        printed = [process.communicate()[0] for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    for arguments, process, text in zip(commands, started, printed, strict=True):
        if process.returncode:
            errors = _log(arguments, logs).read_text(errors="replace").splitlines()[-20:]
            raise StackError(
                f"`manage.py {arguments[0]}` failed (status {process.returncode}):\n"
                + "\n".join([*text.splitlines()[-5:], *errors])
            )
    return printed


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
