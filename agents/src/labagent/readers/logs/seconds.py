"""The seconds of a pkt-gen log, each checked against what its line and the lines around it say.

A line gives the rate, and the packets and microseconds it was computed from; its time stamp, modulo
1000 s, follows the line before by those microseconds; and some logs end with the sum. So a lost,
doubled, moved or altered line shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from labagent.reading import numbered_lines

_SECOND = re.compile(
    rb"(\d{1,6})\.(\d{6}) main_thread \[\d{1,6}\] (\d{1,12}) pps "
    rb"\((\d{1,12}) pkts (?:\d{1,18} bps )?in (\d{1,12}) usec\)"
)
_STARTED = re.compile(rb"(\d{1,6})\.(\d{6}) \w{1,40} \[\d{1,6}\] reading from ")
_SUM = re.compile(rb"Received (\d{1,18}) packets ")
_RATE = re.compile(rb"\s\[\d{1,6}\]\s[1-9]")

WARM_UP_LINES = 15
COOL_DOWN_LINES = 10
"""Lines of a log, its header included, that bench-lab's script leaves out at either end."""

_MICROSECONDS = 1_000_000
_STAMP_RANGE = 1000 * _MICROSECONDS
MAX_DOUBTS = 5
"""Lines of a log that are named; the others are counted."""

_WAITING = b"waiting for initial packets"
_CLOSING = (b"Terminated", b"Received ", b"Speed: ", b"+ ")


class Second(NamedTuple):
    """One second as it is printed; `stamp` in microseconds."""

    stamp: int
    pps: int
    packets: int
    microseconds: int

    @property
    def rate(self) -> int:
        """The rate as pkt-gen computes it, rounded to the nearest."""
        length = self.microseconds
        return (self.packets * _MICROSECONDS + length // 2) // (length or 1)

    def lateness(self, before: int) -> int:
        """Microseconds by which it ended later than the second that ended at stamp ``before``, and
        its own length, make it; negative: earlier. Stamps are modulo 1000 s."""
        late = (self.stamp - before) % _STAMP_RANGE - (self.microseconds or 1)
        return late - _STAMP_RANGE if late > _STAMP_RANGE // 2 else late


def measured_lines(data: bytes) -> range:
    """The numbers, from 1, of the lines between warm-up and cool-down."""
    count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return range(WARM_UP_LINES + 1, count - COOL_DOWN_LINES + 1)


def parse_second(line: bytes) -> Second | None:
    """The second of a line, None where it is not one that pkt-gen writes in plain packets/s."""
    match = _SECOND.match(line)
    if match is None:
        return None
    seconds, fraction, pps, packets, microseconds = map(int, match.groups())
    return Second(seconds * _MICROSECONDS + fraction, pps, packets, microseconds)


@lru_cache(maxsize=1)
def parse_lines(data: bytes) -> Sequence[tuple[bytes, Second | None]]:
    """The lines of a log with the second of each, None where it is none. The last log is kept: it
    is read for its value, then for what may be wrong with it."""
    return [(line, parse_second(line)) for _, line in numbered_lines(data)]


def carries_rate(line: bytes) -> bool:
    """Whether bench-lab's script takes this line for a second in which something arrived."""
    rest = line.partition(b"main_thread")[2]
    rate = _RATE.match(rest)
    return rate is not None and b"pps" in rest[rate.end() :]


@dataclass
class Checker:
    """Takes the lines of a log one after the other and collects what does not fit."""

    found: list[str] = field(default_factory=list)
    more: int = 0
    header: int = 0
    seconds: int = 0
    packets: int = 0
    closed: bool = False
    _stamp: int | None = None
    _line: bytes = b""
    _stranger: int = 0

    @property
    def doubts(self) -> tuple[str, ...]:
        """What does not fit, each with its line; how many more do not."""
        more = f"{self.more} more lines do not fit either"
        return (*self.found, more) if self.more else tuple(self.found)

    def _doubt(self, text: str) -> None:
        if len(self.found) < MAX_DOUBTS:
            self.found.append(text)
        else:
            self.more += 1

    def take(self, number: int, line: bytes, second: Second | None) -> None:
        """Read one line; ``second`` is what it measured, None: nothing."""
        # Time stamps are to the microsecond, and what closes a log is said once.
        if line == self._line and (line[:1].isdigit() or (line and self.seconds)):
            self._doubt(f"line {number} repeats the line before")
        elif second is not None:
            self._take_second(number, second)
        elif b"main_thread" in line:
            self._doubt(f"line {number} is not a second as pkt-gen writes it")
        elif self.seconds == 0:
            self._take_header(line)
        else:
            self._take_closing(number, line)
        self._line = line

    def _take_second(self, number: int, second: Second) -> None:
        if second.pps != second.rate:
            self._doubt(
                f"line {number} says {second.pps} pps, but {second.packets} packets in"
                f" {second.microseconds} µs are {second.rate}"
            )
        if self._stamp is not None:
            self._check_time(number, second, self._stamp)
        if self._stranger:
            self._doubt(f"line {self._stranger} stands between two seconds and is none")
            self._stranger = 0
        self._stamp = second.stamp
        self.seconds += 1
        self.packets += second.packets

    def _check_time(self, number: int, second: Second, before: int) -> None:
        length = second.microseconds or 1
        late = second.lateness(before)
        if late < -length // 2:
            self._doubt(f"line {number}: its time does not follow the line before")
        elif late > length // 2:
            missing = (late + length // 2) // length
            lost = "1 second is" if missing == 1 else f"{missing} seconds are"
            self._doubt(f"line {number}: {lost} missing before it")

    def _take_header(self, line: bytes) -> None:
        started = _STARTED.match(line)
        if started:
            seconds, fraction = map(int, started.groups())
            self._stamp = seconds * _MICROSECONDS + fraction
        self.header += bool(line) and not line.startswith(b"+") and _WAITING not in line

    def _take_closing(self, number: int, line: bytes) -> None:
        if not self._stranger and _WAITING not in line:
            self._stranger = number
        self.closed = self.closed or line.startswith(_CLOSING)
        total = _SUM.match(line)
        if total and int(total.group(1)) != self.packets:
            self._doubt(
                f"line {number} says {total.group(1).decode()} packets, but the seconds add up to"
                f" {self.packets}"
            )
