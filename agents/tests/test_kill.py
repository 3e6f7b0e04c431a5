"""The agent killed in the middle of an upload, for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.tests.make import label_dir, read, values_file
from agents.tests.server import TOKEN, FakeServer, listening

pytestmark = pytest.mark.long
RUNS = 250
SOURCES = Path(__file__).parents[1] / "src"


@pytest.fixture
def archive(tmp_path):
    label = label_dir(tmp_path / "archive", "fbsd11-head.2015")
    for number in range(300_000, 300_000 + RUNS):
        values_file(label / f"{number}.pf.pps", [number, number + 1, number + 2])
    return tmp_path / "archive"


def start(address: str, spool: Path, *arguments: object) -> subprocess.Popen[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "DRIFTLINE_SERVER": address,
        "DRIFTLINE_TOKEN": TOKEN,
        "DRIFTLINE_SPOOL": str(spool),
        "DRIFTLINE_CONFIG": str(spool / "none.toml"),
    }
    command = [sys.executable, "-m", "labagent", "upload", *map(str, arguments)]
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("posts", [1, 2, 3])
def test_an_upload_killed_while_the_server_works_is_taken_up_again(archive, tmp_path, posts):
    """The server has stored the batch, the agent never heard of it: sent again, stored once."""
    server = FakeServer(delay=0.5)
    expected = {str(run.uuid) for run in read(archive)}
    with listening(server) as address:
        process = start(address, tmp_path / "spool", archive)
        wait_for(lambda: server.posts() == posts)
        kill(process)
        assert len(server.runs) <= RUNS
        server.delay = 0.0
        out, _ = start(address, tmp_path / "spool").communicate(timeout=30)
    assert server.runs.keys() == expected
    assert "known " in out
    assert "rejected 0" in out
    assert not list((tmp_path / "spool").rglob("*.jsonl"))


@pytest.mark.parametrize("after", [0.15, 0.25, 0.35, 0.45])
def test_an_upload_killed_at_any_time_is_completed_by_the_next(archive, tmp_path, after):
    server = FakeServer(delay=0.02)
    expected = {str(run.uuid) for run in read(archive)}
    assert len(expected) == RUNS
    with listening(server) as address:
        process = start(address, tmp_path / "spool", archive)
        time.sleep(after)
        kill(process)
        out, err = start(address, tmp_path / "spool", archive).communicate(timeout=30)
    assert server.runs.keys() == expected, err
    assert "rejected 0" in out
    assert not list((tmp_path / "spool").rglob("*.jsonl"))


def test_a_server_that_is_down_for_a_moment_is_waited_for(archive, tmp_path):
    server = FakeServer()
    server.script = [(503, {"error": {"message": "starting"}})]
    with listening(server) as address:
        out, err = start(address, tmp_path / "spool", archive).communicate(timeout=30)
    assert out == f"stored {RUNS}, known 0, rejected 0, skipped 0\n"
    assert "starting; trying again in" in err
