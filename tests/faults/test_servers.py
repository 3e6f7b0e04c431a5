"""PostgreSQL and Redis gone for a while."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import RUNS, Archive, wait_until_some_is_stored
from tests.system.content import Content, content
from tests.system.running import System

pytestmark = [pytest.mark.long, pytest.mark.stack]
# Of one request: two looks at a Redis that does not answer take 2 s each.
LONGEST_REQUEST = 10


@contextmanager
def redis_stopped(system: System) -> Iterator[None]:
    system.control("stop", "redis")
    try:
        yield
    finally:
        system.control("start", "redis")


@contextmanager
def redis_frozen(system: System) -> Iterator[None]:
    """It takes connections and answers nobody."""
    pid = system.launch.pid("redis")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_without_redis_uploads_succeed_and_the_sweep_finds_the_analysis(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    batches = -(-RUNS // 100)
    with redis_stopped(empty):
        start = time.monotonic()
        assert f"stored {RUNS}, known 0" in empty.upload(archive.whole, spool=tmp_path).wait()
        assert time.monotonic() - start < batches * LONGEST_REQUEST
        assert empty.dirty()
    assert content(empty) == undisturbed


def test_a_redis_that_answers_nobody_holds_an_upload_up_for_seconds_only(
    empty: System, archive: Archive, tmp_path: Path
) -> None:
    with redis_frozen(empty):
        start = time.monotonic()
        empty.upload(archive.parts[0] / "Atom_C2558_4Cores", spool=tmp_path).wait()
        assert time.monotonic() - start < 2 * LONGEST_REQUEST
    empty.wait_until_analysed()


def test_pages_are_read_without_redis(empty: System) -> None:
    with redis_stopped(empty):
        start = time.monotonic()
        assert "Driftline" in empty.page("/")
        assert time.monotonic() - start < LONGEST_REQUEST


@pytest.mark.parametrize(
    "how",
    [pytest.param(signal.SIGINT, marks=pytest.mark.release), signal.SIGKILL],
    ids=["restarted", "killed"],
)
def test_an_agent_waits_for_a_postgres_that_comes_back(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path, how: signal.Signals
) -> None:
    upload = empty.upload(archive.whole, spool=tmp_path)
    wait_until_some_is_stored(empty)
    os.kill(empty.launch.pid("postgres"), how)
    assert "rejected 0" in upload.wait()
    empty.launch.wait_until_ready()
    assert content(empty) == undisturbed
