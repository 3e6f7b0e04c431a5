"""Go's benchmarks, `go test -bench`: one line a repetition, pairs of value and unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labagent.model import MAX_NAME, Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.metrics import BANDWIDTH, TIME_PER_OP
from labagent.readers.formats.numbers import finite

_LINE = re.compile(r"Benchmark(\S*?)(?:-\d+)?\s+(\d+)((?:\s+\S+ \S+)+)\s*$")
_UNIT = re.compile(r"Unit (\S+) (?:\S+ )*?better=(higher|lower)\b")
_PAIR = re.compile(r"\s+(\S+) (\S+)")
KNOWN: dict[str, tuple[Metric, float]] = {
    "ns/op": (TIME_PER_OP, 1.0),
    "MB/s": (BANDWIDTH, 1e6),
    "B/op": (Metric("allocated", "B/op", "less"), 1.0),
    "allocs/op": (Metric("allocations", "allocs/op", "less"), 1.0),
}


def claims(printed: Printed) -> bool:
    """Whether a line is a benchmark's."""
    return any(_LINE.match(line) for line in printed.text.splitlines())


def read(printed: Printed) -> Content:
    """All pairs; a unit of the user has a direction where a line `Unit` states it.

    Raises UnreadableError."""
    directions = {
        match[1]: "more" if match[2] == "higher" else "less"
        for match in map(_UNIT.match, printed.text.splitlines())
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


FORMAT = Format("go", "the Go benchmark data format", claims, read)
