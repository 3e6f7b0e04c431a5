"""`equilibrium` logs: the load at which offered and forwarded traffic meet, found by halving.

Its last line carries both values: `Estimated Equilibrium Ethernet throughput= 64 Mb/s (maximum
value seen: 64 Mb/s)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from labagent.model import Finding, Metric
from labagent.readers.logs.base import LogFormat, Reading, frame_doubts, line_of
from labagent.readers.logs.line_rate import CHECKSUM, carried_share
from labagent.readers.logs.throttling import find_throttling
from labagent.readers.logs.validity import NOTHING_LOST, SENDER_SATURATED

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


def read(data: bytes) -> Reading:
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
        yield f"line {number} says {what} {stated.decode()} Mb/s, the measured rates {max(rates):g}"


def judge(logs: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """What may be wrong with one search, by its log as ``sender``."""
    return (*_saturation(logs["sender"]), *find_throttling(logs))


def _saturation(data: bytes) -> Iterator[Finding]:
    """The search ends at the load of which the machine loses a little; one that ends at what the
    link carries says nothing about the machine."""
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


FORMAT = LogFormat(
    name="equilibrium",
    metrics=(EQUILIBRIUM, MAXIMUM),
    log="sender",
    claims=lambda data: b"quilibrium" in data,
    read=read,
    judge=judge,
    suffixes={
        ".equilibrium.max": MAXIMUM.name,
        ".equilibrium.throughpt": EQUILIBRIUM.name,
        ".equilibrium": EQUILIBRIUM.name,
    },
)
