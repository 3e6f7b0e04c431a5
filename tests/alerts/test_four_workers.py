"""Four worker processes analyse what arrives in any order: the findings of the pure function."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.analysis.test_findings import (
    ARCHIVE,
    archive_documents,
    step_series,
    store_runs,
    year_labels,
)
from tests.conftest import environment_of_the_database
from tests.places import PROJECT
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import Finding
from webapp.labs import services as labs
from webapp.results.models import Series
from webapp.results.services import forget_names
from webapp.stats import changes
from webapp.stats.changes import recoveries

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
WORKERS = 4
ANALYSE_UNTIL_NOTIFIED = """
import os, select, sys, time
os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
import django
django.setup()
from webapp.alerts.services import analyse_dirty_series
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    if not analyse_dirty_series(limit=2).finished:
        time.sleep(0.02)
"""


@contextmanager
def four_workers() -> Iterator[None]:
    """Processes that analyse until the block ends. One that dies makes the test fail."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ANALYSE_UNTIL_NOTIFIED],
            cwd=PROJECT,
            env=environment_of_the_database(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(WORKERS)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    yield
    for process in processes:
        process.communicate(b"stop\n", timeout=60)
    assert [process.returncode for process in processes] == [0] * WORKERS


def expected(documents: list[dict[str, Any]]) -> list[tuple[int, str, str, float]]:
    """The findings of the pure function for the documents of one series."""
    points = [
        changes.Point(
            int(document["revision"][1:]),
            document["revision"],
            document["metrics"]["pps"]["samples"],
            [(0, boot) for boot in document["metrics"]["pps"]["boots"]],
            [document["build_id"]] * len(document["metrics"]["pps"]["samples"]),
        )
        for document in documents
    ]
    found = changes.detect(points).analysis.changes
    return [
        (one.revision.position, one.verdict, "recovered" if back else one.state, one.score)
        for one, back in zip(found, recoveries(found), strict=True)
    ]


def found() -> dict[str, list[tuple[int, str, str, float]]]:
    rows = Finding.objects.live().select_related("series__mode").order_by("position")
    by_mode: dict[str, list[tuple[int, str, str, float]]] = {}
    for row in rows:
        by_mode.setdefault(row.series.mode.name, []).append(
            (row.position, row.verdict, row.state, row.score)
        )
    return by_mode


def in_mode(documents: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    mode = {"workload": name, "traffic": None, "options": []}
    return [document | {"mode": mode} for document in documents]


def check(by_mode: dict[str, list[dict[str, Any]]], seed: int) -> None:
    """Upload everything in a shuffled order while four workers analyse; compare what is found."""
    forget_names()
    agent = labs.create_agent(name="control", lab_name="netlab")
    arriving = [document for documents in by_mode.values() for document in documents]
    random.Random(seed).shuffle(arriving)
    with four_workers():
        for start in range(0, len(arriving), 7):
            store_runs(agent, *arriving[start : start + 7])
    while analyse_dirty_series().finished:
        pass
    assert not Series.objects.dirty().exists()
    assert found() == {
        name: wanted for name, documents in by_mode.items() if (wanted := expected(documents))
    }


def test_shuffled_uploads_end_in_the_findings_of_the_pure_function() -> None:
    by_mode = {
        f"mode{i}": in_mode(step_series(count=40, step=step, seed=i), f"mode{i}")
        for i, step in enumerate((0.9, 1.0, 1.15, 0.97))
    }
    check(by_mode, seed=1)


@pytest.mark.archive
@pytest.mark.skipif(
    not year_labels(), reason=f"no lab archive at {ARCHIVE.name} beside the checkout"
)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.release)])
def test_the_year_series_shuffled_end_in_the_findings_of_the_pure_function(seed: int) -> None:
    by_mode = {}
    for i, (label, workload) in enumerate(year_labels()):
        name = f"{workload}{i}"
        by_mode[name] = in_mode(archive_documents(label, workload), name)
    check(by_mode, seed)
