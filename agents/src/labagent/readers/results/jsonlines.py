"""`result = "json-lines"`: one JSON object a line on standard output.

`{"value": 1004.5}`, or with `"metric"`, `"unit"` and `"better"` (`more` or `less`) where the
configuration names no metric or another one.
"""

from __future__ import annotations

from typing import Any

from labagent.job import Job
from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.readers.results.numbers import finite, parse_json, printed_lines


def read(output: Output, _job: Job, metric: Metric | None) -> Measurement:
    """One JSON object with a ``value`` a line, of ``metric`` unless it names another.

    Raises UnreadableError."""
    values: dict[Metric, list[float]] = {}
    for path in output.printed:
        for where, line in printed_lines(path):
            one = parse_json(line, where)
            found = values.setdefault(_metric(one, metric, where), [])
            found.append(finite(one.get("value"), f"{where}: value"))
    return Measurement(values)


def _metric(one: dict[str, Any], metric: Metric | None, where: str) -> Metric:
    name = one.get("metric", metric.name if metric else None)
    if metric and name == metric.name:
        return metric
    unit, better = one.get("unit"), one.get("better")
    if not (isinstance(name, str) and isinstance(unit, str) and better in ("more", "less")):
        raise UnreadableError(f"{where} needs metric, unit, and better (more or less)")
    if len(name) > MAX_NAME or len(unit) > MAX_NAME:
        raise UnreadableError(f"{where}: names have up to {MAX_NAME} characters")
    return Metric(clean(name), clean(unit), better)


READER = Reader("json-lines", read)
