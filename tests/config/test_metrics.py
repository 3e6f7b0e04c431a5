"""`/metrics` of the web server as it runs, which has several processes."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.config.front.server import Server, serving, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ASKED, SCRAPES = 30, 20
TREES = 'driftline_requests_total{method="GET",route="api/v1/trees",status="200"}'
AT_WORK = 'driftline_requests_in_progress{kind="other"}'


def value(server: Server, name: str) -> float:
    """What the process that happens to answer has."""
    text = server.get("/metrics")[1].decode()
    found = re.findall(rf"^{re.escape(name)} (.*)$", text, re.MULTILINE)
    return float(found[0]) if found else 0.0


def processes(directory: Path, kind: str) -> set[int]:
    """Those that have counted."""
    return {int(path.stem.split("_")[-1]) for path in directory.glob(f"{kind}_*.db")}


def ask(server: Server) -> None:
    assert {server.get("/api/v1/trees")[0] for _ in range(ASKED)} == {200}


def test_whichever_of_two_processes_answers_all_are_added_up(tmp_path: Path) -> None:
    log, directory = tmp_path / "web.log", tmp_path / "web.metrics"
    with serving(log, DRIFTLINE_WEB_WORKERS="2") as server:
        wait_until(lambda: len(processes(directory, "counter")) == 2)
        ask(server)
        # An answer serves for two seconds, of either process.
        wait_until(lambda: {value(server, TREES) for _ in range(SCRAPES)} == {ASKED})
        dead = min(processes(directory, "counter"))
        os.kill(dead, signal.SIGKILL)
        wait_until(lambda: len(processes(directory, "counter")) == 3)
        # What it counted stays; that it was at work does not.
        assert dead not in processes(directory, "gauge_livesum")
        ask(server)
        wait_until(lambda: {value(server, TREES) for _ in range(SCRAPES)} == {2 * ASKED})
        wait_until(lambda: value(server, 'driftline_database_pool{state="most"}') == 8)
        assert value(server, AT_WORK) <= 2
    with serving(log) as server:
        assert value(server, TREES) == 0
        assert len(processes(directory, "counter")) == 1


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with (
        pytest.raises(AssertionError, match=f"PROMETHEUS_MULTIPROC_DIR={blocked}"),
        serving(tmp_path / "web.log", PROMETHEUS_MULTIPROC_DIR=str(blocked)),
    ):
        pass
