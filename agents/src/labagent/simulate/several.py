"""Several simulated workers, each a process: one that crashes is started again, as a service is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from labagent.work.stops import Say

RESTART_SECONDS = 1.0


def run_several(
    arguments: Sequence[str], name: str, workers: int, state: Path | None, say: Say
) -> None:
    """Run `labagent` with `arguments` once for each worker until told to end."""
    names = [f"{name}-{number}" for number in range(1, workers + 1)]
    commands = {one: _command(arguments, one, state) for one in names}
    running = {one: _start(command) for one, command in commands.items()}
    received: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        for process in running.values():
            process.send_signal(number)

    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, pass_on)
    while running:
        time.sleep(RESTART_SECONDS / 4)
        for ended in [one for one, process in running.items() if process.poll() is not None]:
            status = running.pop(ended).returncode
            if status < 0 and not received:
                say(f"{ended} died of signal {-status}; starting it again")
                running[ended] = _start(commands[ended])
            elif status:
                say(f"{ended} ended with {status}")


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A group of its own: a Ctrl-C would else arrive twice, and the second one abandons."""
    return subprocess.Popen(command, process_group=0)


def _command(arguments: Sequence[str], name: str, state: Path | None) -> list[str]:
    own = ["--name", name, "--workers", "1", "--parent", str(os.getpid())]
    if state is not None:
        own += ["--state", str(state / name)]
    return [sys.executable, "-m", "labagent", *arguments, *own]
