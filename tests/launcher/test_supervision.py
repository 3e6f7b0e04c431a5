"""supervisord: what it is given, and what is printed when a program cannot run."""

import configparser
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from webapp.launcher import StackError, processes, state
from webapp.launcher.supervision import Program, Supervisor


def test_odd_letters_of_a_path_reach_the_program(tmp_path: Path) -> None:
    command = ["/a b/100%/x", "--say", "it's"]
    section = Program("web", command, 1, Path("/")).section(tmp_path)
    parser = configparser.RawConfigParser(inline_comment_prefixes=(";", "#"))
    parser.read_string(section)
    written = parser["program:web"]["command"]
    assert shlex.split(written.replace("%%", "%")) == command


def test_a_program_that_cannot_run_is_named_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.prepare(tmp_path)
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    supervisor = Supervisor(tmp_path, sockets)
    complaint = [sys.executable, "-c", "print('no such table'); raise SystemExit(3)"]
    program = Program("web", complaint, 1, Path("/"), start_retries=0)
    supervisor.configure([program])
    process = supervisor.start()
    try:
        supervisor.launch("web")
        with pytest.raises(StackError, match=r"`web` cannot be kept running[\s\S]*no such table"):
            _until_unhealthy(supervisor)
    finally:
        supervisor.stop(process)
    assert process.returncode == 0


def test_an_instance_outlives_agents_that_it_refuses(tmp_path: Path) -> None:
    state.prepare(tmp_path)
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    supervisor = Supervisor(tmp_path, sockets)
    refused = [sys.executable, "-c", "raise SystemExit(4)"]
    supervisor.configure([Program("agents", refused, 1, Path("/"), start_retries=0)])
    process = supervisor.start()
    try:
        supervisor.launch("agents")
        end = time.monotonic() + 20
        while "FATAL" not in supervisor.tail("supervisord") and time.monotonic() < end:
            time.sleep(0.05)
        supervisor.require_healthy()
    finally:
        supervisor.stop(process)


class Interrupted(Exception):
    """What a signal raises in the launcher."""


def test_a_signal_while_supervisord_starts_leaves_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.prepare(tmp_path)
    (tmp_path / "sockets").mkdir()
    Supervisor(tmp_path, tmp_path / "sockets").configure([])

    def interrupt(_number: int, _frame: object) -> None:
        raise Interrupted

    wait = Supervisor._wait_for

    def wait_for(self: Supervisor, process: "subprocess.Popen[bytes]") -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        wait(self, process)

    monkeypatch.setattr(Supervisor, "_wait_for", wait_for)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # Nobody answers where it looks, so it still waits when the signal comes.
        with pytest.raises(Interrupted):
            Supervisor(tmp_path, tmp_path / "elsewhere").start()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not [one for one in processes.running() if f"{tmp_path}/" in one.command]


def _until_unhealthy(supervisor: Supervisor) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        supervisor.require_healthy()
        time.sleep(0.1)
