"""A lab in a directory: one script that is builder, machine and benchmark, and can be held up."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

import pytest
from labagent.client import Client
from labagent.work.api import JobsApi
from labagent.work.command_lab import CommandLab
from labagent.work.config import load_lab
from labagent.work.state import StateDirectory
from labagent.work.worker import Pauses, Worker

from agents.tests.board import HARDWARE
from agents.tests.profiles import GRAPH
from agents.tests.server import TOKEN, FakeServer

SCRIPT = """#!/bin/sh
cd "$HERE" || exit 75
echo "$@" >> trace
while [ -p "hold.$1" ]; do echo $$ > "pid.$$"; mv "pid.$$" "held.$1"; read _ < "hold.$1"; done
if [ -f "fail.$1" ]; then echo "it is broken" >&2; exit $(cat "fail.$1"); fi
case $1 in
has_build) test -f "built.$2" ;;
build) touch "built.$2"; echo "building $2" ;;
boot) echo "$2" > kernel; [ ! -f other ] || cp other kernel ;;
identify) echo "FreeBSD dut 13.0-CURRENT FreeBSD 13.0-CURRENT #0 $(cat kernel) amd64" ;;
run) echo "100$3$4" ;;
profile) [ ! -f graph ] || cp graph "$3"; echo 700; echo 710; echo 720 ;;
esac
"""

CONFIG = """
name = "lab-1"
wait = 0
result = "values"
metric = {{ name = "pps", unit = "packets/s", better = "more" }}
environment = {{ HERE = "{here}" }}
[[hardware]]
name = "{hardware}"
modes = ["forwarding@inet4"]
has_build = ["sh", "{here}/lab.sh", "has_build", "{{revision}}"]
build = ["sh", "{here}/lab.sh", "build", "{{revision}}"]
boot = ["sh", "{here}/lab.sh", "boot", "{{revision}}", "{{boot}}"]
identify = ["sh", "{here}/lab.sh", "identify"]
run = ["sh", "{here}/lab.sh", "run", "{{mode}}", "{{boot}}", "{{iteration}}"]
{more}
"""


class DirectoryLab:
    """The lab's files, and what its script was asked to do."""

    def __init__(self, directory: Path, more: str = "") -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        (directory / "lab.sh").write_text(SCRIPT)
        self.config = directory / "lab.toml"
        self.config.write_text(CONFIG.format(here=directory, hardware=HARDWARE, more=more))

    @property
    def trace(self) -> list[str]:
        path = self.directory / "trace"
        return path.read_text().splitlines() if path.exists() else []

    def count(self, stage: str) -> int:
        return sum(line.split()[0] == stage for line in self.trace)

    def hold(self, stage: str) -> None:
        """By a pipe that nobody writes to: a script that slept would leave children of nobody, and
        its group is over only when the system has collected them."""
        os.mkfifo(self.directory / f"hold.{stage}")

    def release(self, stage: str) -> None:
        pipe = (self.directory / f"hold.{stage}").rename(self.directory / "released")
        with contextlib.suppress(OSError):  # nobody is held up
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))

    def held(self, stage: str) -> int:
        """The process that is held up in this stage, once it is."""
        path = self.directory / f"held.{stage}"
        wait_for(path.exists)
        return int(path.read_text())

    def fail(self, stage: str, status: int = 1) -> None:
        (self.directory / f"fail.{stage}").write_text(str(status))

    def takes_digests(self, printed: str = "AB" * 32 + "  kernel") -> None:
        with self.config.open("a") as file:
            file.write(f'digest = ["echo", "{printed}"]\n')

    def takes_profiles(self, graph: str = GRAPH) -> None:
        """The script's `profile` leaves this graph, or nothing where it is empty."""
        if graph:
            (self.directory / "graph").write_text(graph)
        script = self.directory / "lab.sh"
        with self.config.open("a") as file:
            file.write(f'profile = ["sh", "{script}", "profile", "{{boot}}", "{{output}}"]\n')

    def boots_another_kernel(self, revision: str) -> None:
        (self.directory / "other").write_text(revision)


def wait_for(condition: Any, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def overdue_when(there: Path, patch: pytest.MonkeyPatch) -> None:
    """A day passes at each of the first two looks at the clock of commands once the file is there:
    it may be there before the first, which the time limit is counted from."""

    class Clock:
        sleep = staticmethod(time.sleep)
        days = iter((1, 2))

        @classmethod
        def monotonic(cls) -> float:
            return time.monotonic() + (86_400.0 * next(cls.days, 2) if there.exists() else 0.0)

    patch.setattr("labagent.work.commands.time", Clock)


def make_worker(
    server: FakeServer, lab: DirectoryLab, state: Path, name: str = "lab-1", **more: Any
) -> Worker:
    """A worker in this process that drains when the board has no more jobs."""
    client = Client("https://driftline.test", TOKEN, transport=server.transport)
    directory = StateDirectory(state)
    commands = CommandLab(load_lab(lab.config), directory.builds)
    lines: list[str] = []
    worker = Worker(
        JobsApi(client, name),
        commands,
        directory,
        say=lines.append,
        wait=0,
        pauses=Pauses(first=0.01, longest=0.05),
        **more,
    )
    worker.lines = lines  # type: ignore[attr-defined]
    server.jobs.idle = worker.drain
    return worker
