"""Settings as a process reads them at its start, and Django's connection as they want it."""

import os
import runpy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.db import ConnectionHandler, connection, connections

from tests.conftest import environment_of_the_database
from tests.places import PROJECT
from webapp import config

Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read the settings anew, with no variables but STATE and those given."""

    def reading(**variables: str) -> dict[str, Any]:
        with patch.dict(os.environ, {"STATE": str(tmp_path)} | variables, clear=True):
            return runpy.run_path(str(PROJECT / "webapp/config/settings.py"))

    return reading


@pytest.fixture
def read_here(read: Read) -> Read:
    """The same for a process that works on the test's database."""
    environ = environment_of_the_database()
    here = {name: environ[name] for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")}
    return lambda **variables: read(**here, **variables)


@contextmanager
def connected_by(settings: Mapping[str, Any]) -> Iterator[None]:
    """Django's connection is one of a process with these settings."""
    own = connections["default"]
    connections["default"] = ConnectionHandler(settings["DATABASES"])["default"]
    try:
        yield
    finally:
        connection.close()
        connection.close_pool()
        connections["default"] = own


def gunicorn(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Gunicorn's configuration with these settings."""
    with (
        patch.object(config, "settings", SimpleNamespace(**settings)),
        patch.dict(os.environ),
    ):
        return runpy.run_path(str(PROJECT / "webapp/config/gunicorn.py"))
