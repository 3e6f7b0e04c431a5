"""The logs of load generators, which are receivers of `pkt-gen` and `equilibrium`, in one table.

A format turns one log into at most one value per metric. To add a benchmark, add a `LogFormat` and
name it in `FORMATS`; the first one that claims a group of logs reads it.

The value of an iteration of `pkt-gen` is the one that bench-lab's own script computes: without the
first 15 and the last 10 lines of the whole file (its header counts), the median of the seconds in
which anything arrived, printed as `%.8g`. ministat wants three points, so fewer give no value.

`equilibrium` finds by halving the load at which offered and forwarded traffic meet. Its last line
carries both values: `Estimated Equilibrium Ethernet throughput= 64 Mb/s (maximum value seen: 64
Mb/s)`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from labagent.model import Finding, Metric
from labagent.readers.logs import seconds
from labagent.readers.logs.validity import (
    CHECKSUM,
    NOTHING_LOST,
    SENDER_SATURATED,
    carried_share,
    find_throttling,
    judge,
)


@dataclass(frozen=True)
class Outline:
    """What the iterations of one run have in common: the number of header lines and of seconds,
    and whether the log shows that its writer ended."""

    header: int
    seconds: int
    closed: bool


@dataclass(frozen=True)
class Reading:
    """What one log states: a value for each metric, or why there is none.

    `older` holds the values where an earlier release of the tools would have computed others.
    `doubts` name, with the line, what shows that the log is not as it was written.
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
    at such a file, `judge` finds what may be wrong with an iteration from its logs by their kind
    (`sender_2` is a second generator; any but `log` may be missing), `suffixes` maps the ending of
    a value file to its metric, and `older_rule` states in words what `Reading.older` is.
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


MINIMUM_POINTS = 3
MAX_LINES = 100_000
"""A line a second: more than a day. The longest log of the netbenches archive has 1,000."""

PPS = Metric("pps", "packets/s", "more")


def read_pktgen(data: bytes) -> Reading:
    """The median packets/s of one receiver log."""
    kept = seconds.measured_lines(data)
    count = kept.stop - 1 + seconds.COOL_DOWN_LINES
    if not kept:
        return Reading(problem=f"log cut short at {count} lines")
    if count > MAX_LINES:
        return Reading(problem=f"{count} lines, more than the {MAX_LINES} that are read")
    checker = seconds.Checker()
    points: list[int] = []
    for number, (line, second) in enumerate(seconds.parse_lines(data), 1):
        checker.take(number, line, second)
        if number in kept and _counts(line, second):
            if second is None:
                return Reading(problem=f"line {number} is garbled, or not in plain packets/s")
            points.append(second.pps)
    return _judged(points, checker, data)


def _counts(line: bytes, second: seconds.Second | None) -> bool:
    """What ``carries_rate`` finds; of nearly all lines that follows from their second."""
    if second is None or b"] 0" in line:
        return seconds.carries_rate(line)
    return True


def _judged(points: Sequence[int], checker: seconds.Checker, data: bytes) -> Reading:
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


PKTGEN = LogFormat(
    name="pkt-gen",
    metrics=(PPS,),
    log="receiver",
    claims=lambda _data: True,
    read=read_pktgen,
    judge=judge,
    suffixes={".pps": PPS.name},
    older_rule="the median of ministat before 2016, the upper of the two middle values",
)


EQUILIBRIUM = Metric("equilibrium", "Mb/s", "more")
MAXIMUM = Metric("equilibrium_max", "Mb/s", "more")

_NUMBER = rb"(\d{1,9}(?:\.\d{1,9})?)"
_RESULT = re.compile(
    rb"Estimated Equilibrium Ethernet throughput=\s{0,8}" + _NUMBER + rb" Mb/s"
    rb"(?: \(maximum value seen: " + _NUMBER + rb" Mb/s\))?"
)
_ITERATION = re.compile(rb"^Iteration (\d{1,6})\r?$", re.MULTILINE)
_LINK = re.compile(rb"- Link rate = " + _NUMBER + rb" Mb/s")
_FRAME = re.compile(rb"Ethernet frame size=(\d{1,5})B")
_MEASURED = re.compile(rb"Measured forwarding rate = " + _NUMBER + rb" Mb/s")


def read_equilibrium(data: bytes) -> Reading:
    """The equilibrium throughput, and the highest one seen, of one log, in Mb/s."""
    results = list(_RESULT.finditer(data))
    doubts = frame_doubts(data)
    if not results:
        return Reading(problem="no equilibrium was reached", doubts=doubts)
    result = results[-1]
    equilibrium, maximum = result.groups()
    values = {EQUILIBRIUM.name: float(equilibrium)}
    if maximum:
        values[MAXIMUM.name] = float(maximum)
    return Reading(values, doubts=(*doubts, *_inner_doubts(data, result)))


def _inner_doubts(data: bytes, result: re.Match[bytes]) -> Iterator[str]:
    """What does not fit in the search that led to the result: its steps are counted from 1, the
    equilibrium is the last rate measured, the maximum the highest."""
    number = line_of(data, result.start())
    for expected, step in enumerate(_ITERATION.finditer(data), 1):
        if int(step.group(1)) != expected:
            yield f"line {line_of(data, step.start())}: iteration {expected} is missing before it"
            break
    rates = [float(rate) for rate in _MEASURED.findall(data, 0, result.start())]
    if len(rates) != len(_ITERATION.findall(data, 0, result.start())):
        yield f"line {number}: not every iteration before it has a measured rate"
    yield from _unequal(number, "equilibrium", result.group(1), rates[-1:])
    if result.group(2):
        yield from _unequal(number, "maximum", result.group(2), rates)
    if data[result.end() :].strip():
        yield f"line {number}: something follows the result"


def _unequal(number: int, what: str, stated: bytes, rates: Sequence[float]) -> Iterator[str]:
    if rates and float(stated) != max(rates):
        yield f"line {number} states {what} {stated.decode()} Mb/s, measured were {max(rates):g}"


def judge_equilibrium(logs: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """What may be wrong with one search, by its log as ``sender``."""
    return (*_saturation(logs["sender"]), *find_throttling(logs))


def _saturation(data: bytes) -> Iterator[Finding]:
    """The search ends at the load of which the machine loses a little; one that ends at what the
    link carries shows nothing of the machine."""
    link, results = _LINK.search(data), _RESULT.findall(data)
    if not link or not results:
        return
    frame = _FRAME.search(data)
    length = int(frame[1]) if frame else 0
    most = float(link[1]) * (carried_share(length) if length else 1.0)
    reached = float(results[-1][0])
    if most and reached >= NOTHING_LOST * most:
        frames = f" in frames of {length + CHECKSUM} bytes" if length else ""
        yield Finding(
            SENDER_SATURATED,
            f"{reached:g} Mb/s of the {most:.0f} Mb/s that a link of {float(link[1]):g} Mb/s"
            f" carries{frames}: the link was the limit, not the machine",
        )


EQUILIBRIUM_FORMAT = LogFormat(
    name="equilibrium",
    metrics=(EQUILIBRIUM, MAXIMUM),
    log="sender",
    claims=lambda data: b"quilibrium" in data,
    read=read_equilibrium,
    judge=judge_equilibrium,
    suffixes={
        ".equilibrium.max": MAXIMUM.name,
        ".equilibrium.throughpt": EQUILIBRIUM.name,
        ".equilibrium": EQUILIBRIUM.name,
    },
)

FORMATS: tuple[LogFormat, ...] = (PKTGEN, EQUILIBRIUM_FORMAT)
