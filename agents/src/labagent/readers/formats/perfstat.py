"""`perf stat -j` and `-x`: events with their counts, on standard error unless `-o` says where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from labagent.model import MAX_NAME, Metric, clean
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.metrics import SYSTEM_TIME, USER_TIME
from labagent.readers.formats.numbers import amount

TIMES = {
    "task-clock": (Metric("task_clock", "s", "less"), {"msec": 1e-3}),
    "cpu-clock": (Metric("cpu_clock", "s", "less"), {"msec": 1e-3}),
    "duration_time": (Metric("wall_time", "s", "less"), {"ns": 1e-9}),
    "user_time": (USER_TIME, {"ns": 1e-9}),
    "system_time": (SYSTEM_TIME, {"ns": 1e-9}),
}
"""Times of the command. Whether more of any other event is better depends on what is measured."""

NOTHING = frozenset({"<not supported>", "<not counted>"})
# A unit is no number: with a decimal comma and `-x,` columns shift.
_COLUMNS = re.compile(
    r"([0-9.]+|<not (?:supported|counted)>)([,;|\t])((?![0-9])[^,;|\t]*)\2([^,;|\t]+)\2"
)


def claims(printed: Printed) -> bool:
    """Whether each line is an event."""
    if printed.json_lines:
        return all({"counter-value", "event"} <= one.keys() for one in printed.json_lines)
    lines = _lines(printed.text)
    return bool(lines) and all(_COLUMNS.match(line) for line in lines)


def read(printed: Printed) -> Content:
    """The counts that were counted. Raises UnreadableError."""
    results = []
    warnings = []
    for where, count, unit, event in _events(printed):
        if count in NOTHING:
            continue
        metric, units = TIMES.get(event) or _other(event, unit, where)
        if unit not in units:
            raise UnreadableError(f"{where}: {event} in {unit[:20]!r} is not known")
        results.append(Result(metric, (units[unit] * amount(count, where),)))
    names = [one.metric.name for one in results]
    doubled = {name for name in names if names.count(name) > 1}
    warnings += [f"{printed.where}: {name} is there twice" for name in sorted(doubled)]
    return Content(results, warnings)


def _events(printed: Printed) -> Iterator[tuple[str, str, str, str]]:
    if printed.json_lines:
        for number, one in enumerate(printed.json_lines, 1):
            values = (str(one.get(key, "")) for key in ("counter-value", "unit", "event"))
            count, unit, event = values
            yield f"{printed.where} event {number}", count, unit, event
        return
    for number, line in enumerate(_lines(printed.text), 1):
        where = f"{printed.where} event {number}"
        if not (match := _COLUMNS.match(line)):
            raise UnreadableError(f"{where} is none that perf stat -x prints")
        yield where, match[1], match[3], match[4]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _other(event: str, unit: str, where: str) -> tuple[Metric, Mapping[str, float]]:
    if not event or len(event) > MAX_NAME:
        raise UnreadableError(f"{where}: an event's name has 1 to {MAX_NAME} characters")
    name = re.sub(r"[\s:/?#&]", "_", clean(event))
    return Metric(name, unit or "events", ""), {unit: 1.0}


FORMAT = Format("perf-stat", "perf-stat(1)", claims, read)
