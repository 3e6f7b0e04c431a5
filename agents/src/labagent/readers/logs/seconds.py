"""The seconds of a pkt-gen log: each checked against those around it, all of them for a trend.

A line gives the rate, and the packets and microseconds it was computed from; its time stamp, modulo
1000 s, follows the line before by those microseconds; and some logs end with the sum. So a lost,
doubled, moved or altered line shows.

A trend is found by the Mann-Kendall test (Mann 1945, Kendall 1975) with Sen's slope (1968), both by
ranks, so that odd seconds do not matter. What follows on each other is alike, which makes trends
out of nothing: the variance is that of a series of first-order autocorrelation φ, larger by
(1 + φ)/(1 − φ). φ is estimated from the ranks of what a parabola leaves: a straight line would
leave the bend of a slow approach to the level, and take it for autocorrelation.
"""

import math
import re
import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import sub
from typing import NamedTuple

from labagent.files import numbered_lines

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
        # Time stamps are to the microsecond, and what closes a log is written once.
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
                f"line {number} states {second.pps} pps, but {second.packets} packets in"
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
                f"line {number} states {total.group(1).decode()} packets, but the seconds add up to"
                f" {self.packets}"
            )


MOST_BLOCKS = 100
"""A longer series is first put together into the means of so many blocks: the pairs of 100 are
4,950."""

FEWEST = 10
"""Values below which nothing is tested: even ten in perfect order stay below `DECISIVE`."""

DECISIVE = 4.7
"""Standard deviations that a trend needs. By simulation (tests/readers/logs/test_trend.py) at most
1 of 1000 series without a trend has it, of any length and with an autocorrelation up to 0.8."""

_MOST_PHI = 0.99
_ODD = 4.0
"""Scales from the median beyond which a value is odd: one of 16,000 of a normal distribution."""


@dataclass(frozen=True)
class Trend:
    """`change` is that of the line from the first value to the last, in the values' unit; `z` the
    standard deviations of Mann and Kendall's statistic with their sign; `phi` the autocorrelation.
    """

    change: float
    z: float
    phi: float

    @property
    def is_decisive(self) -> bool:
        """Whether it is more than scatter."""
        return abs(self.z) >= DECISIVE


def find_trend(values: Sequence[float], least_change: float = 0.0) -> Trend | None:
    """The trend of values in their order; None of fewer than `FEWEST`, where all are equal, or
    where it is smaller than ``least_change``, in the unit of the values."""
    if len(values) < FEWEST or len(set(values)) == 1:
        return None
    blocks = _blocks(values)
    if not _may_change(blocks, least_change):
        return None
    slope = _sen_slope(blocks)
    change = slope * (len(blocks) - 1)
    if abs(change) < least_change:
        return None
    rest = _bounded([value - slope * at for at, value in enumerate(blocks)])
    phi = _autocorrelation(_without_parabola(rest))
    deviation = math.sqrt(_variance(blocks) * (1 + phi) / (1 - phi))
    return Trend(change, _kendall(blocks) / deviation, phi)


def _blocks(values: Sequence[float]) -> list[float]:
    count = min(len(values), MOST_BLOCKS)
    edges = [len(values) * at // count for at in range(count + 1)]
    return [statistics.fmean(values[start:end]) for start, end in pairwise(edges)]


def _may_change(values: Sequence[float], least: float) -> bool:
    """Whether Sen's line may change by ``least`` or more; of most series it is soon known that it
    does not. The median of the slopes of all pairs reaches a slope where half of them do, and
    those that do are the pairs in order once a line of that slope is taken off."""
    pairs = len(values) * (len(values) - 1) // 2
    step = least * (1 - 1e-9) / (len(values) - 1)
    rising = [value - step * at for at, value in enumerate(values)]
    falling = [-value - step * at for at, value in enumerate(values)]
    return 2 * _in_order(rising) >= pairs or 2 * _in_order(falling) >= pairs


def _in_order(values: Sequence[float]) -> int:
    """Pairs of which the later one is not the smaller."""
    count = 0
    before: list[float] = []
    for value in values:
        place = bisect_right(before, value)
        count += place
        before.insert(place, value)
    return count


def _sen_slope(values: Sequence[float]) -> float:
    slopes: list[float] = []
    for steps in range(1, len(values)):
        slopes += [rise / steps for rise in map(sub, values[steps:], values)]
    return statistics.median(slopes)


def _kendall(values: Sequence[float]) -> int:
    """How many more pairs rise than fall."""
    return sum(
        (later > value) - (later < value)
        for at, value in enumerate(values)
        for later in values[at + 1 :]
    )


def _variance(values: Sequence[float]) -> float:
    """Of `_kendall` in a series without trend and without memory, with ties (Kendall 1975)."""
    ties = Counter(values).values()
    terms = sum(_pairs_term(count) for count in ties)
    return (_pairs_term(len(values)) - terms) / 18


def _pairs_term(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


def _bounded(rest: Sequence[float]) -> list[float]:
    """Odd values moved to `_ODD` scales from the median: squares would bend the parabola to them.
    The scale is the median of absolute deviations, as a standard deviation (Hampel 1974)."""
    middle = statistics.median(rest)
    scale = 1.4826 * statistics.median(abs(value - middle) for value in rest)
    most = _ODD * scale
    return [min(max(value, middle - most), middle + most) for value in rest]


def _without_parabola(values: Sequence[float]) -> list[float]:
    """What the parabola of least squares leaves, by orthogonal polynomials."""
    middle = (len(values) - 1) / 2
    flat = [1.0] * len(values)
    line = [at - middle for at in range(len(values))]
    square = statistics.fmean(at * at for at in line)
    bend = [at * at - square for at in line]
    rest = list(values)
    for term in (flat, line, bend):
        share = _product(rest, term) / _product(term, term)
        rest = [value - share * one for value, one in zip(rest, term, strict=True)]
    return rest


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _autocorrelation(rest: Sequence[float]) -> float:
    """φ of lag 1 by ranks, from 0 on. In n values around a fitted parabola the estimate is too low
    by about (3 + 6φ)/n, as by (2 + 4φ)/n around a line (Marriott and Pope 1954)."""
    ranks = _ranks(rest)
    whole = sum(rank * rank for rank in ranks)
    if whole == 0:
        return 0.0
    found = sum(rank * after for rank, after in pairwise(ranks)) / whole
    count = len(ranks)
    return min(max((found + 3 / count) / (1 - 6 / count), 0.0), _MOST_PHI)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks around 0; equal values share theirs."""
    first: dict[float, int] = {}
    for at, value in enumerate(sorted(values)):
        first.setdefault(value, at)
    middle = (len(values) - 1) / 2
    counts = Counter(values)
    return [first[value] + (counts[value] - 1) / 2 - middle for value in values]
