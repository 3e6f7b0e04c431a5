"""`/metrics` of the web server as it runs, which has several processes."""

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.config.conftest import Read, gunicorn
from tests.config.front.server import Server, serving, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE, MOST_ASKED = 8, 1600
TREES = 'driftline_requests_total{method="GET",route="api/v1/trees",status="200"}'
AT_WORK = 'driftline_requests_in_progress{kind="other"}'


def value(server: Server, name: str) -> float:
    """What the process that happens to answer has."""
    text = server.get("/metrics")[1].decode()
    found = re.findall(rf"^{re.escape(name)} (.*)$", text, re.MULTILINE)
    return float(found[0]) if found else 0.0


def values(server: Server, name: str) -> set[float]:
    """What whichever process answers has, when several are asked at once."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return set(threads.map(lambda _: value(server, name), range(AT_ONCE)))


def processes(directory: Path, kind: str) -> set[int]:
    """Those that have counted."""
    return {int(path.stem.split("_")[-1]) for path in directory.glob(f"{kind}_*.db")}


def ask_all(server: Server, directory: Path) -> int:
    """Ask until every process has answered once; how often that took."""
    asked = 0
    while not asked or processes(directory, "histogram") < processes(directory, "counter"):
        with ThreadPoolExecutor(AT_ONCE) as threads:
            answers = list(threads.map(lambda _: server.get("/api/v1/trees")[0], range(AT_ONCE)))
        assert set(answers) == {200}
        asked += AT_ONCE
        assert asked < MOST_ASKED
    return asked


def test_whichever_of_two_processes_answers_all_are_added_up(tmp_path: Path) -> None:
    directory = tmp_path / "web.metrics"
    with serving(tmp_path / "web.log", DRIFTLINE_WEB_WORKERS="2") as server:
        asked = require_sum(server, directory)
        wait_until(lambda: value(server, 'driftline_database_pool{state="most"}') == 8)
        dead = kill_one(directory)
        # What it counted stays; that it was at work does not.
        wait_until(lambda: dead not in processes(directory, "gauge_livesum"))
        assert values(server, TREES) == {asked}


@pytest.mark.long
def test_a_process_that_comes_for_another_is_added_up_too(tmp_path: Path) -> None:
    log, directory = tmp_path / "web.log", tmp_path / "web.metrics"
    with serving(log, DRIFTLINE_WEB_WORKERS="2") as server:
        asked = require_sum(server, directory)
        kill_one(directory)
        wait_until(lambda: len(processes(directory, "counter")) == 3)
        require_sum(server, directory, asked)
        wait_until(lambda: value(server, AT_WORK) <= 2)
    with serving(log) as server:
        assert value(server, TREES) == 0
        assert len(processes(directory, "counter")) == 1


def require_sum(server: Server, directory: Path, before: int = 0) -> int:
    """Whoever answers lists all that were asked."""
    wait_until(lambda: len(processes(directory, "counter")) >= 2)
    asked = before + ask_all(server, directory)
    # An answer serves for two seconds, of either process.
    wait_until(lambda: values(server, TREES) == {asked})
    return asked


def kill_one(directory: Path) -> int:
    dead = min(processes(directory, "counter"))
    os.kill(dead, signal.SIGKILL)
    return dead


def test_a_start_forgets_what_was_counted_before(tmp_path: Path, read_here: Read) -> None:
    directory = tmp_path / "metrics"
    start = gunicorn(read_here(PROMETHEUS_MULTIPROC_DIR=str(directory)))["on_starting"]
    start(None)
    (directory / "counter_17.db").touch()
    start(None)
    assert list(directory.iterdir()) == []


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path, read_here: Read) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    start = gunicorn(read_here(PROMETHEUS_MULTIPROC_DIR=str(blocked)))["on_starting"]
    with pytest.raises(SystemExit, match=f"PROMETHEUS_MULTIPROC_DIR={blocked}"):
        start(None)
