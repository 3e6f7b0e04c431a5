"""What the benchmarks of languages write: Go, Google Benchmark and JMH."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import fsum
from typing import Any

from labagent.histograms import Histogram
from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.json_tables import mean_doubts, select
from labagent.readers.formats.metrics import BANDWIDTH, LATENCY, NANOSECONDS, RATE, TIME_PER_OP
from labagent.readers.formats.numbers import amount, finite, whole

# Go's benchmarks, `go test -bench`: one line a repetition, pairs of value and unit.


_LINE = re.compile(r"Benchmark(\S*?)(?:-\d+)?\s+(\d+)((?:\s+\S+ \S+)+)\s*$")
_GO_UNIT = re.compile(r"Unit (\S+) (?:\S+ )*?better=(higher|lower)\b")
_PAIR = re.compile(r"\s+(\S+) (\S+)")
KNOWN: dict[str, tuple[Metric, float]] = {
    "ns/op": (TIME_PER_OP, 1.0),
    "MB/s": (BANDWIDTH, 1e6),
    "B/op": (Metric("allocated", "B/op", "less"), 1.0),
    "allocs/op": (Metric("allocations", "allocs/op", "less"), 1.0),
}


def claims_go(printed: Printed) -> bool:
    """Whether a line is a benchmark's."""
    return any(_LINE.match(line) for line in printed.text.splitlines())


def read_go(printed: Printed) -> Content:
    """All pairs; a unit of the user has a direction where a line `Unit` states it.

    Raises UnreadableError."""
    directions = {
        match[1]: "more" if match[2] == "higher" else "less"
        for match in map(_GO_UNIT.match, printed.text.splitlines())
        if match
    }
    results = []
    warnings = []
    before = ""
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if line == before and line.startswith("Benchmark"):
            warnings.append(f"{where}: the line before is the same; one may be a copy")
        before = line
        if match := _LINE.match(line):
            results += list(_pairs(match[1], match[3], where, directions))
        elif line.startswith("Benchmark") and len(line.split()) > 1:
            warnings.append(f"{where} is no whole line of a benchmark; left out")
    return Content(results, warnings)


def _pairs(case: str, text: str, where: str, directions: dict[str, str]) -> Iterator[Result]:
    for value, unit in _PAIR.findall(text):
        if len(unit) > MAX_NAME:
            raise UnreadableError(f"{where}: a unit of {len(unit)} characters")
        name = re.sub(r"[\s:/?#&]", "_", unit)
        metric, scale = KNOWN.get(unit, (Metric(name, unit, directions.get(unit, "")), 1.0))
        yield Result(metric, (scale * finite(value, where),), case)


# Google Benchmark's `--benchmark_format=json`: each repetition is a sample.


CPU = Metric("cpu_time_per_op", "ns", "less")
_DESCRIBED = frozenset(
    {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads"}
    | {"iterations", "real_time", "cpu_time", "bytes_per_second", "items_per_second"}
)


def claims_google(printed: Printed) -> bool:
    """Whether there are benchmarks with a time unit."""
    return any(True for _ in select(printed.json, "benchmarks/*/time_unit"))


def read_google(printed: Printed) -> Content:
    """Times and rates; counters of the user have no direction. Raises UnreadableError."""
    results: list[Result] = []
    warnings: list[str] = []
    for at, one in select(printed.json, "benchmarks/*"):
        where = f"{printed.where}{at}"
        if (
            not isinstance(one, dict)
            or one.get("run_type") == "aggregate"
            or "aggregate_name" in one
        ):
            continue
        name = str(one.get("run_name", one.get("name", "")))
        if one.get("error_occurred"):
            warnings.append(f"{where}: {name} failed: {str(one.get('error_message'))[:200]}")
            continue
        results += (Result(metric, (value,), name) for metric, value in _values(one, where))
    return Content(results, warnings)


def _values(one: dict[str, Any], where: str) -> Iterator[tuple[Metric, float]]:
    unit = one.get("time_unit")
    if not isinstance(unit, str) or unit not in NANOSECONDS:
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


# JMH's `-rf json`: the raw data of all forks.


_JMH_UNIT = re.compile(r"(?:ops/(?P<rate>ns|us|ms|s))|(?:(?P<time>ns|us|ms|s)/op)")


def claims_jmh(printed: Printed) -> bool:
    """Whether it is a list of benchmarks with a primary metric."""
    return any(True for _ in select(printed.json, "*/primaryMetric/scoreUnit"))


def read_jmh(printed: Printed) -> Content:
    """Throughput as operations/s, every other mode as time an operation, that of sampled ones also
    as a histogram of latencies. Raises UnreadableError."""
    results: list[Result] = []
    warnings: list[str] = []
    for at, one in select(printed.json, "*"):
        where = f"{printed.where}{at}"
        if not isinstance(one, dict):
            raise UnreadableError(f"{where} is no benchmark")
        metric, scale = _metric(one, where)
        score = [amount(value, f"{where} score") for _, value in select(one, "primaryMetric/score")]
        raw = select(one, "primaryMetric/rawData/*/*")
        data = [amount(value, f"{where} rawData") for _, value in raw]
        counts = list(_jmh_counts(one, where))
        histogram = Histogram.of(counts, scale / NANOSECONDS["us"])
        if histogram.values:
            results.append(Result(LATENCY, (), _name(one), (histogram,)))
            total = sum(count for _, count in counts)
            mean = fsum(value * count for value, count in counts) / total
            warnings += mean_doubts([mean], score, where)
        elif data:
            warnings += mean_doubts(data, score, where)
        else:
            warnings.append(f"{where}: no rawData, so the score counts")
        values = tuple(scale * value for value in data or score)
        results.append(Result(metric, values, _name(one)))
    return Content(results, warnings)


def _jmh_counts(one: dict[str, Any], where: str) -> Iterator[tuple[float, int]]:
    """Values with their counts, of all iterations of all forks."""
    for at, pair in select(one, "primaryMetric/rawDataHistogram/*/*/*"):
        place = f"{where} rawDataHistogram{at}"
        if not isinstance(pair, list) or len(pair) != 2:
            raise UnreadableError(f"{place} is no value with its count")
        yield amount(pair[0], place), whole(pair[1], place)


def _name(one: dict[str, Any]) -> str:
    parameters = one.get("params")
    listed = sorted(parameters.items()) if isinstance(parameters, dict) else []
    return ".".join([str(one.get("benchmark", "")), *(f"{key}-{value}" for key, value in listed)])


def _metric(one: dict[str, Any], where: str) -> tuple[Metric, float]:
    units = [unit for _, unit in select(one, "primaryMetric/scoreUnit")]
    match = _JMH_UNIT.fullmatch(str(units[0])[:20]) if units else None
    if not match or (match["rate"] is not None) != (one.get("mode") == "thrpt"):
        raise UnreadableError(f"{where}: scoreUnit is not one of mode {one.get('mode')!r:.20}")
    if match["rate"]:
        return RATE, 1e9 / NANOSECONDS[match["rate"]]
    return TIME_PER_OP, NANOSECONDS[match["time"]]


FORMATS = (
    Format("go", "the Go benchmark data format", claims_go, read_go),
    Format(
        "google-benchmark",
        "Google Benchmark's user guide",
        claims_google,
        read_google,
        ends_itself=True,
    ),
    Format("jmh", "JMH: the mode states what a score is", claims_jmh, read_jmh, ends_itself=True),
)
