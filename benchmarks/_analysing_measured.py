"""What `benchmarks.analysing` measures, once Django is there."""

import cProfile
import json
import pstats
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from statistics import median
from time import perf_counter, process_time
from typing import Any

from django.db import connection

from benchmarks.ingest import FIRST_REVISION, document
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.services import store_runs
from webapp.api.schemas.runs import RunIn
from webapp.labs.models import Agent
from webapp.labs.services import create_agent

MACHINES, MODES = 12, 4
BATCHES = 7
STEP, STEP_BEFORE_END = 0.9, 20
"""On every other machine, from so many revisions before the measured ones on."""

UNITS = {"processor time": "ms", "waiting": "ms", "statements": "statements"}

MOST_LINES = 60
"""Of a profile."""


def run(lengths: Sequence[int], *, with_profile: bool) -> None:
    """Upload and analyse up to each length, then revision by revision; print what that costs."""
    agent, at = create_agent(name="bench", lab_name="benchmarks"), 0
    profile = cProfile.Profile() if with_profile else None
    for length in sorted(lengths):
        _grow(agent, range(at, length), step_at=length - STEP_BEFORE_END)
        at = length
        figures = [_one_batch(agent, at + i, profile) for i in range(BATCHES)]
        at += len(figures)
        for name, unit in UNITS.items():
            values = [one[name] for one in figures]
            _report(f"analysing: {name} of a batch", length, values, unit)
    if profile is not None:
        pstats.Stats(profile).sort_stats("cumtime").print_stats(MOST_LINES)


def _grow(agent: Agent, revisions: range, *, step_at: int) -> None:
    for revision in revisions:
        _upload(agent, revision, is_slow=revision >= step_at)
    while analyse_dirty_series().more:
        pass


def _one_batch(agent: Agent, revision: int, profile: cProfile.Profile | None) -> dict[str, float]:
    _upload(agent, revision, is_slow=True)
    asked = _Asked()
    cpu = process_time()
    with connection.execute_wrapper(asked), profile or nullcontext():
        done = analyse_dirty_series()
    cpu = process_time() - cpu
    if done.finished != MACHINES * MODES:
        raise SystemExit(f"{done.finished} series were analysed, not {MACHINES * MODES}")
    return {
        "processor time": 1000 * cpu,
        "waiting": 1000 * asked.seconds,
        "statements": asked.statements,
    }


class _Asked:
    """Counts statements, and the seconds that they took."""

    def __init__(self) -> None:
        self.statements, self.seconds = 0, 0.0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        begin = perf_counter()
        try:
            return execute(*arguments)
        finally:
            self.statements += 1
            self.seconds += perf_counter() - begin


def _upload(agent: Agent, revision: int, *, is_slow: bool) -> None:
    runs = []
    for machine in range(MACHINES):
        for mode in range(MODES):
            run = document(f"machine-{machine:02}/nic", FIRST_REVISION + revision, mode)
            if is_slow and machine % 2:
                metric = run["metrics"]["pps"]
                metric["samples"] = [round(value * STEP, 1) for value in metric["samples"]]
            runs.append(RunIn.model_validate(run).document())
    store_runs(agent=agent, runs=runs, register=True)


def _report(name: str, length: int, values: Sequence[float], unit: str) -> None:
    line = {"name": name, "value": round(median(values), 1), "unit": unit, "n": len(values)}
    spread = {"least": round(min(values), 1), "most": round(max(values), 1)}
    print(json.dumps(line | {"revisions": length} | spread), flush=True)
