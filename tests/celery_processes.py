"""Real Celery processes on the test's database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import PROJECT, environment_of_the_database
from webapp.launcher import processes

START_SECONDS = 180
"""Of a worker, on a machine that does much else."""


@contextmanager
def celery(
    log: Path, *arguments: str, app: str = "webapp.config.celery", **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """``celery -A app ARGUMENTS``, which ends with the block; what it prints is in ``log``."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", app, *arguments, "--loglevel=info"],
            cwd=PROJECT,
            env=environment_of_the_database() | variables,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it was asked to end
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def celery_worker(
    log: Path, *options: str, app: str = "webapp.config.celery", **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker, once it takes tasks."""
    quiet = ("--without-mingle", "--without-gossip")
    with celery(log, "worker", *quiet, *options, app=app, **variables) as process:
        _wait_until_ready(process, log)
        yield process


def _wait_until_ready(process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while b" ready." not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"The worker did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)


def pool_of(process: "subprocess.Popen[bytes]") -> list[int]:
    """The processes that execute tasks."""
    group = [each.pid for each in processes.running() if each.group == process.pid]
    return [pid for pid in group if pid != process.pid]
