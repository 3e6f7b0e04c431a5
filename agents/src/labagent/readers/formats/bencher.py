"""Bencher Metric Format (benchmarks by name, their measures by name, a value each), and what
`bencher perf` prints: the history of a project."""

from __future__ import annotations

from typing import Any

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats.base import (
    Content,
    Format,
    Printed,
    Provenance,
    Result,
    UnreadableError,
)
from labagent.readers.formats.json_tables import select, text_of
from labagent.readers.formats.metrics import RATE, TIME_PER_OP
from labagent.readers.formats.numbers import finite
from labagent.readers.formats.trackers import position_of

BUILT_IN = {"latency": TIME_PER_OP, "throughput": RATE}
"""In ns, and operations/s."""


def claims(printed: Printed) -> bool:
    """Whether all there is are measures with a value."""
    document = printed.json
    return (
        isinstance(document, dict)
        and bool(document)
        and all(isinstance(one, dict) and one for one in document.values())
        and all(
            isinstance(measure, dict)
            and "value" in measure
            and measure.keys() <= {"value", "lower_value", "upper_value"}
            for one in document.values()
            for measure in one.values()
        )
    )


def read(printed: Printed) -> Content:
    """Each value; measures that are not built in have no unit and no direction.

    Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} is not in Bencher Metric Format")
    results = []
    for case, measures in printed.json.items():
        for name, measure in measures.items():
            metric = _metric(name, "")
            value = finite(measure["value"], f"{printed.where}: {case[:50]} {name[:50]}")
            results.append(Result(metric, (value,), case))
    return Content(results)


def _metric(name: str, unit: str) -> Metric:
    return BUILT_IN.get(name) or Metric(safe_name(clean(name))[:MAX_NAME], clean(unit)[:50], "")


def claims_perf(printed: Printed) -> bool:
    """Whether it is the answer to a query of a project's history."""
    paths = ("results/*/branch/name", "results/*/testbed/name", "results/*/metrics")
    return all(any(True for _ in select(printed.json, path)) for path in ("project", *paths))


def read_perf(printed: Printed) -> Content:
    """Each metric at its revision; measures that are not built in have no direction.

    Raises UnreadableError."""
    if not claims_perf(printed):
        raise UnreadableError(f"{printed.where} is no history of Bencher")
    results = []
    without = 0
    for at, line in select(printed.json, "results/*"):
        slug, unit = text_of(line, "measure/slug"), text_of(line, "measure/units")
        case = text_of(line, "benchmark/name")
        for below, one in select(line, "metrics/*"):
            provenance = _provenance(line, one)
            without += not provenance.revision
            value = [found for _, found in select(one, "metric/value")]
            where = f"{printed.where}{at}{below}"
            if len(value) != 1:
                raise UnreadableError(f"{where} has no value")
            number = finite(value[0], where)
            results.append(Result(_metric(slug, unit), (number,), case, provenance=provenance))
    doubt = f"{printed.where}: {without} metrics of versions without a commit"
    return Content(results, [doubt] if without else [])


def _provenance(line: Any, one: Any) -> Provenance:
    return Provenance(
        branch=text_of(line, "branch/name"),
        revision=text_of(one, "version/hash"),
        hardware=text_of(line, "testbed/name"),
        measured_at=text_of(one, "start_time"),
        position=position_of(text_of(one, "version/number")),
    )


FORMATS = (
    Format("bencher", "Bencher's documentation: the built-in measures", claims, read),
    Format("bencher-perf", "bencher perf: measure.units", claims_perf, read_perf, ends_itself=True),
)
