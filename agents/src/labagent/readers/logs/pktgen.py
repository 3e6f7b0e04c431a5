"""`pkt-gen` receiver logs: packets received, one line a second.

The value of an iteration is the one that bench-lab's own script computes: without the first 15 and
the last 10 lines of the whole file (its header counts), the median of the seconds in which anything
arrived, printed as `%.8g`. ministat wants three points, so fewer give no value.
"""

from __future__ import annotations

from collections.abc import Sequence

from labagent.model import Metric
from labagent.readers.logs.base import LogFormat, Outline, Reading, frame_doubts
from labagent.readers.logs.seconds import (
    COOL_DOWN_LINES,
    Checker,
    Second,
    carries_rate,
    measured_lines,
    parse_lines,
)
from labagent.readers.logs.validity import judge

MINIMUM_POINTS = 3
MAX_LINES = 100_000
"""A line a second: more than a day. The longest log of the netbenches archive has 1,000."""

PPS = Metric("pps", "packets/s", "more")


def read(data: bytes) -> Reading:
    """The median packets/s of one receiver log."""
    kept = measured_lines(data)
    count = kept.stop - 1 + COOL_DOWN_LINES
    if not kept:
        return Reading(problem=f"log cut short at {count} lines")
    if count > MAX_LINES:
        return Reading(problem=f"{count} lines, more than the {MAX_LINES} that are read")
    checker = Checker()
    points: list[int] = []
    for number, (line, second) in enumerate(parse_lines(data), 1):
        checker.take(number, line, second)
        if number in kept and _counts(line, second):
            if second is None:
                return Reading(problem=f"line {number} is garbled, or not in plain packets/s")
            points.append(second.pps)
    return _judged(points, checker, data)


def _counts(line: bytes, second: Second | None) -> bool:
    """What ``carries_rate`` says; of nearly all lines that follows from their second."""
    if second is None or b"] 0" in line:
        return carries_rate(line)
    return True


def _judged(points: Sequence[int], checker: Checker, data: bytes) -> Reading:
    doubts = (*frame_doubts(data), *checker.doubts)
    if len(points) < MINIMUM_POINTS:
        return Reading(problem=f"fewer than {MINIMUM_POINTS} seconds with packets", doubts=doubts)
    ordered = sorted(points)
    middle = len(ordered) // 2
    upper = ordered[middle]
    median = upper if len(ordered) % 2 else (ordered[middle - 1] + upper) / 2
    outline = Outline(checker.header, checker.seconds, checker.closed)
    values, older = {PPS.name: _as_printed(median)}, {PPS.name: _as_printed(upper)}
    return Reading(values, older, doubts=doubts, outline=outline)


def _as_printed(value: float) -> float:
    return float(f"{value:.8g}")


FORMAT = LogFormat(
    name="pkt-gen",
    metrics=(PPS,),
    log="receiver",
    claims=lambda _data: True,
    read=read,
    judge=judge,
    suffixes={".pps": PPS.name},
    older_rule="the median of ministat before 2016, the upper of the two middle values",
)
