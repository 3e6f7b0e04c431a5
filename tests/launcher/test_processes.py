"""Knowing our own processes, and ending them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.launcher import processes

SLEEP = "import time; print(flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print(flush=True); time.sleep(60)"
)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-c", SLEEP, f"{tmp_path}/pids/web.pid"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as process:
        # For a moment after Popen returned, the system knows no command line of the process yet.
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def test_a_recorded_process_that_names_the_state_is_ours(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    found = processes.left_behind(tmp_path, {"web": sleeper.pid})
    assert [process.pid for process in found["web"]] == [sleeper.pid]


def test_a_process_that_got_the_id_of_ours_is_not_ours(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    assert processes.left_behind(tmp_path / "another", {"web": sleeper.pid}) == {}


def test_the_state_whose_name_begins_like_ours_is_not_ours(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    shorter = tmp_path.with_name(tmp_path.name[:-1])
    assert processes.left_behind(shorter, {"web": sleeper.pid}) == {}


def test_a_process_that_names_the_state_but_was_not_recorded_is_not_ours(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    assert processes.left_behind(tmp_path, {"web": os.getpid()}) == {}


def test_ps_and_proc_agree(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def of_sleeper() -> list[tuple[int, int]]:
        return [(p.pid, p.group) for p in processes.running() if str(tmp_path) in p.command]

    from_proc = of_sleeper()
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert of_sleeper() == from_proc == [(sleeper.pid, sleeper.pid)]


def test_a_stubborn_process_is_killed(tmp_path: Path) -> None:
    stubborn = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    assert stubborn.stdout
    stubborn.stdout.readline()
    ours = [process for process in processes.running() if process.pid == stubborn.pid]
    processes.end("web", ours, seconds=0.3)
    assert stubborn.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("content", ["", "\n", "no number\n"])
def test_a_pid_file_without_a_number_names_no_process(tmp_path: Path, content: str) -> None:
    (tmp_path / "web.pid").write_text(content)
    assert processes.recorded_ids(tmp_path) == {}
