"""Histories of other trackers, in their own formats: `points` values over `revisions` commits."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2024, 1, 1, tzinfo=UTC)
MACHINE = "rig-1"


def commit(number: int) -> str:
    return f"{number + 1:040x}"


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def values(points: int, revisions: int) -> Iterator[tuple[int, int, float]]:
    """(revision, benchmark, value): a level for each benchmark, with noise and a step halfway."""
    rng = random.Random(1)
    for number in range(points):
        revision, benchmark = number % revisions, number // revisions
        step = 1.1 if revision >= revisions // 2 and benchmark % 3 == 0 else 1.0
        yield revision, benchmark, round(100 * (benchmark + 1) * step * rng.gauss(1, 0.01), 6)


def codespeed(points: int, revisions: int) -> list[dict[str, Any]]:
    """What `manage.py dumpdata codespeed` writes."""

    def row(model: str, key: int, **fields: Any) -> dict[str, Any]:
        return {"model": f"codespeed.{model}", "pk": key, "fields": fields}

    found = list(values(points, revisions))
    return [
        row("project", 1, name="net", repo_type="G"),
        row("branch", 1, name="default", project=1),
        row("executable", 1, name="O2", project=1),
        row("environment", 1, name=MACHINE, cpu="Atom C2758"),
        *(
            row(
                "benchmark",
                one,
                name=f"b{one}",
                units_title="Time",
                units="seconds",
                lessisbetter=True,
            )
            for one in range(1 + max(benchmark for _, benchmark, _ in found))
        ),
        *(
            row("revision", one, commitid=commit(one), date=day(one).isoformat(), branch=1)
            for one in range(revisions)
        ),
        *(
            row(
                "result",
                key,
                value=value,
                date=day(revision).isoformat(),
                revision=revision,
                executable=1,
                benchmark=benchmark,
                environment=1,
            )
            for key, (revision, benchmark, value) in enumerate(found)
        ),
    ]


def lnt(points: int, revisions: int) -> list[dict[str, Any]]:
    """Reports of runs, in version 2."""
    runs: dict[int, list[dict[str, Any]]] = {}
    for revision, benchmark, value in values(points, revisions):
        runs.setdefault(revision, []).append({"name": f"b{benchmark}", "execution_time": value})
    return [
        {
            "format_version": "2",
            "machine": {"name": MACHINE, "os": "freebsd"},
            "run": {
                "start_time": f"{day(revision):%Y-%m-%d %H:%M:%S}",
                "end_time": f"{day(revision):%Y-%m-%d %H:%M:%S}",
                "llvm_project_revision": str(300_000 + revision),
            },
            "tests": tests,
        }
        for revision, tests in sorted(runs.items())
    ]


def bencher(points: int, revisions: int) -> dict[str, Any]:
    """What `bencher perf` prints."""
    lines: dict[int, list[dict[str, Any]]] = {}
    for revision, benchmark, value in values(points, revisions):
        moment = day(revision).isoformat()
        lines.setdefault(benchmark, []).append(
            {
                "iteration": 0,
                "start_time": moment,
                "end_time": moment,
                "version": {"number": revision, "hash": commit(revision)},
                "metric": {"value": value, "lower_value": None, "upper_value": None},
            }
        )
    return {
        "project": {"name": "net", "slug": "net"},
        "results": [
            {
                "branch": {"name": "main", "slug": "main"},
                "testbed": {"name": MACHINE, "slug": MACHINE},
                "benchmark": {"name": f"b{benchmark}", "slug": f"b{benchmark}"},
                "measure": {"name": "Latency", "slug": "latency", "units": "nanoseconds (ns)"},
                "metrics": metrics,
            }
            for benchmark, metrics in lines.items()
        ],
    }


TRACKERS: dict[str, tuple[Callable[[int, int], Any], list[str]]] = {
    "codespeed": (codespeed, ["--order", "date"]),
    "lnt": (lnt, []),
    "bencher": (bencher, []),
}
"""A history, and the options beside `--tree` that it needs."""


def write(folder: Path, tracker: str, points: int, revisions: int) -> Path:
    """The history as a file."""
    path = folder / f"{tracker}.json"
    path.write_text(json.dumps(TRACKERS[tracker][0](points, revisions)))
    return path
