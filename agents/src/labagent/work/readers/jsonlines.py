"""`result = "json-lines"`: one JSON object a line on standard output.

`{"value": 1004.5}`, or with `"metric"`, `"unit"` and `"better"` (`more` or `less`) where the
configuration names no metric or another one.
"""

from __future__ import annotations

import json
from typing import Any

from labagent.model import Metric
from labagent.work.job import Job
from labagent.work.readers.base import Measurement, Output, Reader, UnreadableError
from labagent.work.readers.numbers import finite


def read(output: Output, _job: Job, metric: Metric | None) -> Measurement:
    values: dict[Metric, list[float]] = {}
    for path in output.printed:
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if line.strip():
                where = f"{path.name} line {number}"
                one = _object(line, where)
                found = values.setdefault(_metric(one, metric, where), [])
                found.append(finite(one.get("value"), f"{where}: value"))
    return Measurement(values)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        one = json.loads(line)
    except ValueError as error:
        raise UnreadableError(f"{where} is no JSON: {error}") from error
    if not isinstance(one, dict):
        raise UnreadableError(f"{where} is no JSON object")
    return one


def _metric(one: dict[str, Any], metric: Metric | None, where: str) -> Metric:
    name = one.get("metric", metric.name if metric else None)
    if metric and name == metric.name:
        return metric
    unit, better = one.get("unit"), one.get("better")
    if not (isinstance(name, str) and isinstance(unit, str) and better in ("more", "less")):
        raise UnreadableError(f"{where} needs metric, unit, and better (more or less)")
    return Metric(name, unit, better)


READER = Reader("json-lines", read)
