"""Fixtures of the agent's tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import hypothesis
import pytest
import stamina
from labagent.cli import World, run

from agents.tests.server import TOKEN, FakeServer

# The profiles of `tests/conftest.py`: where both are loaded, this one counts for all tests.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=10_000, database=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries happen at once, as often as the code asks for."""
    with stamina.set_testing(True, attempts=8, cap=True):
        yield


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "DRIFTLINE_SERVER": "https://driftline.test",
        "DRIFTLINE_TOKEN": TOKEN,
        "DRIFTLINE_SPOOL": str(tmp_path / "spool"),
        "DRIFTLINE_CONFIG": str(tmp_path / "config.toml"),
    }


@pytest.fixture
def world(server: FakeServer, environ: dict[str, str], no_waiting: None) -> World:
    return World(
        environ=environ,
        transport=server.transport,
        now=lambda: datetime(2024, 1, 1, 0, 0, 5, tzinfo=UTC),
    )


@pytest.fixture
def labagent(world: World) -> Callable[..., int]:
    """The command, with the fake server behind it; returns the exit code."""
    return lambda *arguments: run([str(argument) for argument in arguments], world)
