"""Each program killed in the middle, for real: afterwards it is as if nothing had been."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults.conftest import (
    RUNS,
    Archive,
    held,
    wait_until_some_is_stored,
    wait_until_somebody_waits_for,
)
from tests.system.content import Content, content
from tests.system.running import System

pytestmark = pytest.mark.stack
PROCESSES_OR_ALL = pytest.mark.parametrize(
    "whole",
    [
        pytest.param(True, id="all"),
        pytest.param(False, marks=pytest.mark.release, id="its processes"),
    ],
)
"""`make test` kills the whole of two programs, `make long` what else there is."""


def children(system: System, name: str) -> list[int]:
    """The processes of a program apart from its first."""
    first = system.launch.pid(name)
    return [each.pid for each in system.processes(name) if each.pid != first]


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.long
def test_an_agent_killed_while_the_server_writes_is_taken_up_again(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    upload = empty.upload(archive.whole, spool=tmp_path)
    with held(empty, "results_measurement"):
        wait_until_somebody_waits_for(empty, "results_measurement")
        upload.kill()
    empty.upload(spool=tmp_path).wait()
    assert content(empty) == undisturbed


@pytest.mark.long
def test_an_agent_killed_between_two_batches_is_taken_up_again(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    upload = empty.upload(archive.whole, spool=tmp_path)
    wait_until_some_is_stored(empty)
    upload.kill()
    again = empty.upload(archive.whole, spool=tmp_path).wait()
    assert "rejected 0" in again
    assert content(empty) == undisturbed


@PROCESSES_OR_ALL
def test_a_web_server_killed_while_it_writes_is_waited_for(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path, whole: bool
) -> None:
    upload = empty.upload(archive.whole, spool=tmp_path)
    with held(empty, "results_measurement"):
        wait_until_somebody_waits_for(empty, "results_measurement")
        master = [empty.launch.pid("web")] if whole else []
        kill(*master, *children(empty, "web"))
    assert f"stored {RUNS}, known 0" in upload.wait()
    assert content(empty) == undisturbed


@pytest.mark.long
def test_a_web_server_whose_master_alone_is_killed_comes_back(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    upload = empty.upload(archive.whole, spool=tmp_path)
    wait_until_some_is_stored(empty)
    kill(empty.launch.pid("web"))
    assert "rejected 0" in upload.wait()
    assert content(empty) == undisturbed


@PROCESSES_OR_ALL
def test_a_worker_killed_in_the_middle_of_an_analysis_leaves_nothing_half_done(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path, whole: bool
) -> None:
    with held(empty, "analysis_notedpoint"):
        empty.upload(archive.whole, spool=tmp_path).wait()
        wait_until_somebody_waits_for(empty, "analysis_notedpoint")
        main = [empty.launch.pid("worker")] if whole else []
        kill(*main, *children(empty, "worker"))
        assert empty.dirty()
    assert content(empty) == undisturbed
