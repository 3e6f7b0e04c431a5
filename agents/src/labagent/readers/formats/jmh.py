"""JMH's `-rf json`: the raw data of all forks."""

from __future__ import annotations

import re
from typing import Any

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.json_tables import select
from labagent.readers.formats.metrics import NANOSECONDS, RATE, TIME_PER_OP
from labagent.readers.formats.numbers import amount

_UNIT = re.compile(r"(?:ops/(?P<rate>ns|us|ms|s))|(?:(?P<time>ns|us|ms|s)/op)")


def claims(printed: Printed) -> bool:
    """Whether it is a list of benchmarks with a primary metric."""
    return any(True for _ in select(printed.json, "*/primaryMetric/scoreUnit"))


def read(printed: Printed) -> Content:
    """Throughput as operations/s, every other mode as time an operation. Raises UnreadableError."""
    results = []
    for at, one in select(printed.json, "*"):
        where = f"{printed.where}{at}"
        if not isinstance(one, dict):
            raise UnreadableError(f"{where} is no benchmark")
        metric, scale = _metric(one, where)
        data = [value for _, value in select(one, "primaryMetric/rawData/*/*")]
        data = data or [value for _, value in select(one, "primaryMetric/score")]
        values = tuple(scale * amount(value, f"{where} rawData") for value in data)
        results.append(Result(metric, values, _name(one)))
    return Content(results)


def _name(one: dict[str, Any]) -> str:
    parameters = one.get("params")
    listed = sorted(parameters.items()) if isinstance(parameters, dict) else []
    return ".".join([str(one.get("benchmark", "")), *(f"{key}-{value}" for key, value in listed)])


def _metric(one: dict[str, Any], where: str) -> tuple[Metric, float]:
    units = [unit for _, unit in select(one, "primaryMetric/scoreUnit")]
    match = _UNIT.fullmatch(str(units[0])[:20]) if units else None
    if not match or (match["rate"] is not None) != (one.get("mode") == "thrpt"):
        raise UnreadableError(f"{where}: scoreUnit is not one of mode {one.get('mode')!r:.20}")
    if match["rate"]:
        return RATE, 1e9 / NANOSECONDS[match["rate"]]
    return TIME_PER_OP, NANOSECONDS[match["time"]]


FORMAT = Format("jmh", "JMH: the mode states what a score is", claims, read, ends_itself=True)
