"""Bencher Metric Format: benchmarks by name, their measures by name, a value each."""

from __future__ import annotations

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.metrics import RATE, TIME_PER_OP
from labagent.readers.formats.numbers import finite

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
            metric = BUILT_IN.get(name) or Metric(safe_name(clean(name))[:MAX_NAME], "1", "")
            value = finite(measure["value"], f"{printed.where}: {case[:50]} {name[:50]}")
            results.append(Result(metric, (value,), case))
    return Content(results)


FORMAT = Format("bencher", "Bencher's documentation: the built-in measures", claims, read)
