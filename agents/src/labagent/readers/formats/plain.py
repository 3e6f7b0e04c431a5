"""Formats of our own: numbers, one a line, and one JSON object a line."""

from __future__ import annotations

from typing import Any

from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import finite, is_number, numbered_lines, parse_json, whole

# Numbers, one a line, as ministat(1) reads them: what they measure has to be named beside.


UNNAMED = Metric("value", "1", "")


def claims_values(printed: Printed) -> bool:
    """Whether there are lines and each is one number; `#` begins a comment."""
    lines = [line for _, line in _lines(printed)]
    return bool(lines) and all(is_number(line) for line in lines)


def read_values(printed: Printed) -> Content:
    """The numbers as samples of the metric that was named. Raises UnreadableError."""
    found = tuple(finite(line, where) for where, line in _lines(printed))
    return Content([Result(printed.metric or UNNAMED, found)])


def _lines(printed: Printed) -> list[tuple[str, str]]:
    lines = numbered_lines(printed.text, printed.where)
    return [(where, line) for where, line in lines if not line.startswith("#")]


# One JSON object a line: `{"value": 1004.5}`.
#
# With `"metric"`, `"unit"` and `"better"` (`more` or `less`) where nothing else names the metric,
# or it is another one, and `"boot": 3` in each line where several boots were measured.


def claims_json_lines(printed: Printed) -> bool:
    """Whether each line is an object with a value and what it is of."""
    lines = printed.json_lines
    return bool(lines) and all("value" in one and (_is_named(one, printed)) for one in lines)


def _is_named(one: dict[str, Any], printed: Printed) -> bool:
    return printed.metric is not None or {"metric", "unit", "better"} <= one.keys()


def read_json_lines(printed: Printed) -> Content:
    """A sample a line. Raises UnreadableError."""
    results = []
    for where, line in numbered_lines(printed.text, printed.where):
        one = parse_json(line, where)
        metric = _metric(one, printed.metric, where)
        boots = (whole(one["boot"], f"{where}: boot"),) if "boot" in one else None
        value = finite(one.get("value"), f"{where}: value")
        results.append(Result(metric, (value,), boots=boots))
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


FORMATS = (
    Format("values", "the user", claims_values, read_values, needs_metric=True),
    Format("json-lines", "the lines themselves", claims_json_lines, read_json_lines),
)
