"""`pkt-gen` receiver logs: packets received, one line a second.

The value of an iteration is the one that bench-lab's own script computes: without the first 15 and
the last 10 lines of the whole file (its header counts), the median of the seconds in which anything
arrived, printed as `%.8g`. ministat wants three points, so fewer give no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labagent.formats.base import LogFormat, Reading
from labagent.model import Metric

WARM_UP_LINES = 15
COOL_DOWN_LINES = 10
MINIMUM_POINTS = 3

PPS = Metric("pps", "packets/s", "more")

_SECOND = re.compile(rb"main_thread\s\[\d+\]\s[1-9].*pps")
_PPS_COLUMN = 3


def read(data: bytes) -> Reading:
    """The median packets/s of one receiver log."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    kept = lines[WARM_UP_LINES : max(WARM_UP_LINES, len(lines) - COOL_DOWN_LINES)]
    if not kept:
        return Reading(problem=f"log cut short at {len(lines)} lines")
    return _medians([line.split() for line in kept if _SECOND.search(line)])


def _medians(rows: Sequence[Sequence[bytes]]) -> Reading:
    if len(rows) < MINIMUM_POINTS:
        return Reading(problem=f"fewer than {MINIMUM_POINTS} seconds with packets")
    try:
        points = sorted(float(row[_PPS_COLUMN]) for row in rows)
    except (ValueError, IndexError):
        return Reading(problem="garbled line")
    middle = len(points) // 2
    upper = points[middle]
    median = upper if len(points) % 2 else (points[middle - 1] + upper) / 2
    return Reading({PPS.name: _as_printed(median)}, {PPS.name: _as_printed(upper)})


def _as_printed(value: float) -> float:
    return float(f"{value:.8g}")


FORMAT = LogFormat(
    name="pkt-gen",
    metrics=(PPS,),
    log="receiver",
    claims=lambda _data: True,
    read=read,
    suffixes={".pps": PPS.name},
    older_rule="the median of ministat before 2016, the upper of the two middle values",
)
