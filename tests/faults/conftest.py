"""An archive large enough to be caught in the middle, and what it becomes undisturbed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.tests.make import label_dir, values_file
from tests.system.content import Content, content
from tests.system.running import UPLOAD_SECONDS, System, wait_for

CONFIGURATIONS = ("forwarding", "ipfw", "pf")
# Every revision is measured once in each label, so every point pools two runs.
LABELS = ("fbsd11-head.2015", "fbsd11-head.2016")
REVISIONS = 40
RUNS = REVISIONS * len(CONFIGURATIONS) * len(LABELS)


@dataclass(frozen=True)
class Archive:
    """Bench directories: all of them in `whole`, and again dealt out to four places."""

    whole: Path
    parts: tuple[Path, ...]


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    root = tmp_path_factory.mktemp("archive")
    made = Archive(root / "whole", tuple(root / f"part-{i}" for i in range(4)))
    for i in range(REVISIONS):
        lay_out(made.whole, i)
        lay_out(made.parts[i % len(made.parts)], i)
    return made


def lay_out(place: Path, index: int) -> None:
    """The value files of one revision: levels that step now and then, some samples twice."""
    for j, label in enumerate(LABELS):
        directory = label_dir(place, label)
        for k, configuration in enumerate(CONFIGURATIONS):
            level = 600_000.0 * (1 + k) * (1 - 0.1 * ((index // 20) % 2))
            values = [level + 997 * ((index * 7 + j * 3 + n) % 5) for n in range(5)]
            values_file(directory / f"{300_000 + 3 * index}.{configuration}.pps", values)


@pytest.fixture(scope="session")
def undisturbed(
    system: System, archive: Archive, tmp_path_factory: pytest.TempPathFactory
) -> Content:
    """What the archive becomes when nothing goes wrong."""
    system.empty()
    spool = tmp_path_factory.mktemp("spool")
    assert system.upload(archive.whole, spool=spool).wait().startswith(f"stored {RUNS}, known 0")
    found = content(system)
    points = REVISIONS * len(CONFIGURATIONS)
    sizes = {kind: len(rows) for kind, rows in found.items()}
    assert sizes.pop("findings") > 0
    assert sum(not row[-1] for row in found["noted points"]) == len(CONFIGURATIONS)
    assert sizes.pop("noted points") > len(CONFIGURATIONS)
    assert sizes == {
        "runs": RUNS,
        "measurements": RUNS,
        "points": points,
    }
    return found


@pytest.fixture
def empty(system: System, undisturbed: Content) -> System:
    """The instance without records."""
    system.empty()
    return system


@contextmanager
def held(system: System, table: str) -> Iterator[None]:
    """Nobody can write `table` inside: who wants to is caught in the middle of a transaction."""
    with system.connected() as connection:
        connection.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
        yield


def wait_until_somebody_waits_for(system: System, table: str) -> None:
    """Wait until a writer of `table` is stopped by `held`."""
    query = """
        SELECT count(*) FROM pg_locks
         WHERE NOT granted AND relation = %s::regclass"""
    wait_for(lambda: bool(system.rows(query, table)[0][0]), UPLOAD_SECONDS)


def wait_until_some_is_stored(system: System) -> None:
    """Wait until an upload is under way."""
    wait_for(lambda: system.count("results_run") > 0, UPLOAD_SECONDS)
