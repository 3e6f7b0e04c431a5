"""A place for instances whose path is short enough to hold their sockets."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that only its owner may enter, as `mktemp -d` makes it."""
    yield from _place()


@pytest.fixture(scope="session")
def shared_place() -> Iterator[Path]:
    """One for the whole session."""
    yield from _place()


def _place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="dl-", dir="/tmp"))
    yield path
    shutil.rmtree(path)
