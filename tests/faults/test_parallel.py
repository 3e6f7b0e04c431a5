"""Several agents at once."""

from pathlib import Path

import pytest

from tests.faults.conftest import RUNS, Archive
from tests.system.content import Content, content
from tests.system.running import System

pytestmark = [pytest.mark.long, pytest.mark.stack]


def stored(summaries: list[str]) -> int:
    return sum(int(summary.split(",")[0].removeprefix("stored ")) for summary in summaries)


def deadlocks(system: System) -> int:
    query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    return int(system.rows(query)[0][0])


def test_two_agents_that_send_the_same_runs_store_them_once(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    before = deadlocks(empty)
    uploads = [empty.upload(archive.whole, spool=tmp_path / name) for name in ("one", "other")]
    assert stored([upload.wait() for upload in uploads]) == RUNS
    assert content(empty) == undisturbed
    assert deadlocks(empty) == before


def test_four_uploads_to_the_same_series_lose_no_point_while_the_worker_analyses(
    empty: System, archive: Archive, undisturbed: Content, tmp_path: Path
) -> None:
    before = deadlocks(empty)
    uploads = [empty.upload(part, spool=tmp_path / part.name) for part in archive.parts]
    assert stored([upload.wait() for upload in uploads]) == RUNS
    assert content(empty) == undisturbed
    assert deadlocks(empty) == before
