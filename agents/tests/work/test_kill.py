"""`kill -9` of the worker at each stage and a start after it: a job still ends in one result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.tests.board import job
from agents.tests.server import TOKEN, FakeServer, listening
from agents.tests.work.lab import DirectoryLab, wait_for
from agents.tests.work.test_worker import is_alive

pytestmark = pytest.mark.long
SOURCES = Path(__file__).parents[2] / "src"


def start(address: str, lab: DirectoryLab, state: Path, *arguments: str) -> subprocess.Popen[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "DRIFTLINE_SERVER": address,
        "DRIFTLINE_TOKEN": TOKEN,
        "DRIFTLINE_CONFIG": str(state / "none.toml"),
    }
    command = [sys.executable, "-m", "labagent", "work", "--config", str(lab.config)]
    return subprocess.Popen(
        [*command, "--state", str(state), *arguments],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return err


@pytest.fixture
def lab(tmp_path):
    return DirectoryLab(tmp_path / "lab")


@pytest.mark.parametrize("stage", ["build", "boot", "identify", "run"])
def test_a_killed_worker_goes_on_where_it_was(lab, tmp_path, stage):
    server = FakeServer()
    server.jobs.queue = [job(boots=2)]
    lab.hold(stage)
    with listening(server) as address:
        first = start(address, lab, tmp_path / "state")
        left = lab.held(stage)
        first.kill()
        first.communicate()
        assert is_alive(left), "commands outlive a killed worker"
        assert server.jobs.results == []
        second = start(address, lab, tmp_path / "state")
        wait_for(lambda: lab.held(stage) != left)
        assert not is_alive(left), "what was left running is ended before anything else runs"
        lab.release(stage)
        wait_for(lambda: server.jobs.results)
        err = finish(second)
    assert "going on" in err
    assert len(server.jobs.results) == 1
    assert server.jobs.results[0][1]["metrics"]["pps"]["boots"] == [0, 1]
    assert lab.count("build") == (2 if stage == "build" else 1)


def test_a_boot_that_was_measured_is_not_measured_again(lab, tmp_path):
    server = FakeServer()
    server.jobs.queue = [job(boots=2)]
    with listening(server) as address:
        server.jobs.judge = lambda _run: None
        lab.hold("boot")
        first = start(address, lab, tmp_path / "state")
        lab.held("boot")
        lab.release("boot")
        wait_for(lambda: lab.count("boot") == 2)
        first.kill()
        first.communicate()
        second = start(address, lab, tmp_path / "state")
        wait_for(lambda: server.jobs.results)
        finish(second)
    assert sum(line.startswith("run ") and line.endswith(" 0 1") for line in lab.trace) == 1


def test_a_worker_killed_while_it_delivers_delivers_once(lab, tmp_path):
    server = FakeServer()
    server.jobs.queue = [job()]
    with listening(server) as address:
        server.jobs.judge = lambda _run: setattr(server, "delay", 1.0)
        first = start(address, lab, tmp_path / "state")
        wait_for(lambda: server.jobs.results)
        first.kill()
        first.communicate()
        server.delay, server.jobs.judge = 0.0, lambda _run: None
        second = start(address, lab, tmp_path / "state")
        wait_for(lambda: not list((tmp_path / "state" / "outbox").glob("*.json")))
        finish(second)
    assert len(server.jobs.results) == 1
    assert lab.count("run") == 2


def test_a_second_signal_leaves_at_once_and_keeps_the_job(lab, tmp_path):
    server = FakeServer()
    server.jobs.queue = [job()]
    lab.hold("run")
    with listening(server) as address:
        process = start(address, lab, tmp_path / "state")
        held = lab.held("run")
        process.send_signal(signal.SIGTERM)
        assert "lab-1 asks" in process.stderr.readline()
        while "draining" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert not is_alive(held)
    assert (tmp_path / "state" / "progress.json").exists()


def test_the_command_drains_a_worker_that_runs(lab, tmp_path):
    server = FakeServer()
    server.jobs.queue = [job(1)]
    lab.hold("run")
    with listening(server) as address:
        process = start(address, lab, tmp_path / "state")
        lab.held("run")
        out, _ = start(address, lab, tmp_path / "state", "--drain").communicate(timeout=30)
        assert "ends after its job" in out
        lab.release("run")
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert len(server.jobs.results) == 1


def test_draining_nobody_is_reported(lab, tmp_path):
    process = start("http://127.0.0.1:9", lab, tmp_path / "state", "--drain")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "no worker runs" in err
