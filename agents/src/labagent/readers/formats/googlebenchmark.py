"""Google Benchmark's `--benchmark_format=json`: each repetition is a sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.json_tables import select
from labagent.readers.formats.metrics import BANDWIDTH, NANOSECONDS, RATE, TIME_PER_OP
from labagent.readers.formats.numbers import amount, finite

CPU = Metric("cpu_time_per_op", "ns", "less")
_DESCRIBED = frozenset(
    {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads"}
    | {"iterations", "real_time", "cpu_time", "bytes_per_second", "items_per_second"}
)


def claims(printed: Printed) -> bool:
    """Whether there are benchmarks with a time unit."""
    return any(True for _ in select(printed.json, "benchmarks/*/time_unit"))


def read(printed: Printed) -> Content:
    """Times and rates; counters of the user have no direction. Raises UnreadableError."""
    results: list[Result] = []
    warnings: list[str] = []
    for at, one in select(printed.json, "benchmarks/*"):
        where = f"{printed.where}{at}"
        if not isinstance(one, dict) or one.get("run_type") == "aggregate":
            continue
        name = str(one.get("run_name", one.get("name", "")))
        if one.get("error_occurred"):
            warnings.append(f"{where}: {name} failed: {str(one.get('error_message'))[:200]}")
            continue
        results += (Result(metric, (value,), name) for metric, value in _values(one, where))
    return Content(results, warnings)


def _values(one: dict[str, Any], where: str) -> Iterator[tuple[Metric, float]]:
    unit = one.get("time_unit")
    if unit not in NANOSECONDS:
        raise UnreadableError(f"{where}: time_unit {str(unit)[:20]!r} is not known")
    for metric, key, scale in (
        (TIME_PER_OP, "real_time", NANOSECONDS[unit]),
        (CPU, "cpu_time", NANOSECONDS[unit]),
        (BANDWIDTH, "bytes_per_second", 1.0),
        (RATE, "items_per_second", 1.0),
    ):
        if key in one:
            yield metric, scale * amount(one[key], f"{where} {key}")
    for key, value in one.items():
        if key not in _DESCRIBED and isinstance(value, float) and len(key) <= MAX_NAME:
            yield Metric(clean(key), "1", ""), finite(value, f"{where} {key[:50]}")


FORMAT = Format("google-benchmark", "Google Benchmark's user guide", claims, read, ends_itself=True)
