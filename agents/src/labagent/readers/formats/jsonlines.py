"""One JSON object a line: `{"value": 1004.5}`.

With `"metric"`, `"unit"` and `"better"` (`more` or `less`) where nothing else names the metric, or
it is another one.
"""

from __future__ import annotations

from typing import Any

from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import finite, numbered_lines, parse_json


def claims(printed: Printed) -> bool:
    """Whether each line is an object with a value and what it is of."""
    lines = printed.json_lines
    return bool(lines) and all("value" in one and (_is_named(one, printed)) for one in lines)


def _is_named(one: dict[str, Any], printed: Printed) -> bool:
    return printed.metric is not None or {"metric", "unit", "better"} <= one.keys()


def read(printed: Printed) -> Content:
    """A sample a line. Raises UnreadableError."""
    results = []
    for where, line in numbered_lines(printed.text, printed.where):
        one = parse_json(line, where)
        metric = _metric(one, printed.metric, where)
        results.append(Result(metric, (finite(one.get("value"), f"{where}: value"),)))
    return Content(results)


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


FORMAT = Format("json-lines", "the lines themselves", claims, read)
