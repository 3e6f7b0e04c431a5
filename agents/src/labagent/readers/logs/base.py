"""What a log format is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labagent.model import Finding, Metric


@dataclass(frozen=True)
class Outline:
    """What the iterations of one run have in common: the number of header lines and of seconds,
    and whether the log says that its writer ended."""

    header: int
    seconds: int
    closed: bool


@dataclass(frozen=True)
class Reading:
    """What one log says: a value for each metric, or why there is none.

    `older` holds the values where an earlier release of the tools would have computed others.
    `doubts` say, with the line, what shows that the log is not as it was written.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    older: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None
    doubts: tuple[str, ...] = ()
    outline: Outline | None = None


@dataclass(frozen=True)
class LogFormat:
    """How one load generator's results are read.

    `log` is the kind of file that carries the values (`bench.….<iteration>.<log>`), `claims` looks
    at such a file, `judge` says what may be wrong with an iteration from its logs by their kind
    (`sender_2` is a second generator; any but `log` may be missing), `suffixes` maps the ending of
    a value file to its metric, and `older_rule` says in words what `Reading.older` is.
    """

    name: str
    metrics: tuple[Metric, ...]
    log: str
    claims: Callable[[bytes], bool]
    read: Callable[[bytes], Reading]
    judge: Callable[[Mapping[str, bytes]], tuple[Finding, ...]]
    suffixes: Mapping[str, str]
    older_rule: str = ""


LONGEST_LINE = 1024
"""Bytes of a line as load generators write them; the longest of the netbenches archive has 267."""

_LONG_LINE = re.compile(rb"[^\n]{%d}" % (LONGEST_LINE + 1))


def frame_doubts(data: bytes) -> tuple[str, ...]:
    """What is wrong with any log that was cut, joined, converted, or lost blocks: logs begin with
    the command, once, have lines of a moderate length, and end with a newline."""
    doubts = []
    if not data.startswith(b"CMD"):
        doubts.append("line 1 is not the command: the beginning is missing")
    if data and not data.endswith(b"\n"):
        doubts.append(f"line {line_of(data, len(data))} is cut: no newline at the end")
    second = data.find(b"\nCMD")
    if second >= 0:
        doubts.append(f"line {line_of(data, second + 1)}: another log begins")
    nul = data.find(b"\0")
    if nul >= 0:
        doubts.append(f"line {line_of(data, nul)} holds NUL bytes")
    if found := _LONG_LINE.search(data):
        line = line_of(data, found.start())
        doubts.append(f"line {line} has more than {LONGEST_LINE} bytes, so it is none of the log's")
    carriage_return = data.find(b"\r")
    if carriage_return >= 0:
        doubts.append(f"line {line_of(data, carriage_return)} holds a carriage return")
    return tuple(doubts)


def line_of(data: bytes, position: int) -> int:
    """The number of the line that holds this byte, from 1."""
    return data.count(b"\n", 0, position) + 1
