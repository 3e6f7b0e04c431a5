"""HdrHistogram's interval logs (`.hlog`): a histogram an interval, of one or of several tags.

The encoding is V2 of HdrHistogram: base64 of a zlib stream of counts as ZigZag LEB128, a negative
one being so many zeros. Values lie in linear buckets within each power of two.
"""

import re
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from labagent.model import Histogram
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError, amount
from labagent.readers.formats.latencies import VALUE

_INTERVAL = re.compile(r"(?:Tag=([^,]*),)?([0-9.]+),([0-9.]+),([0-9.]+),(HIST[A-Za-z0-9+/=]+)$")
_KIND = 0xFFFFFF0F
"""Of a cookie, all but the size of its words."""
COMPRESSED, ENCODED = 0x1C849304, 0x1C849303
_HEAD = struct.Struct(">IIIIQQd")
MOST_BYTES = 16 * 1024 * 1024
"""Of a histogram without compression; one of 5 digits over 63 bits may have 60 MiB, real ones have
a few KiB."""
GAP = 0.5
"""Of an interval: a longer gap before the next one is doubted."""


@dataclass(frozen=True)
class _Interval:
    """Seconds, and values in the middle of their buckets with their counts."""

    tag: str
    start: float
    length: float
    counts: list[tuple[float, int]]


def claims(printed: Printed) -> bool:
    """Whether a line is an interval."""
    return any(_INTERVAL.match(line) for line in printed.text.splitlines())


def read(printed: Printed) -> Content:
    """Mean and histogram over all intervals, a case a tag, in a unit that the file does not state.
    Raises UnreadableError."""
    found: dict[str, list[_Interval]] = {}
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _INTERVAL.match(line):
            start, length = (amount(text, where) for text in match.group(2, 3))
            interval = _Interval(match[1] or "", start, length, list(decoded(match[5], where)))
            found.setdefault(interval.tag, []).append(interval)
        elif line.strip() and not line.startswith(("#", '"StartTimestamp"')):
            raise UnreadableError(f"{where} is no interval of HdrHistogram")
    base = printed.metric or VALUE
    results, warnings = [], []
    for tag, intervals in found.items():
        warnings += [f"{printed.where}: {tag or 'intervals'}: {one}" for one in _doubts(intervals)]
        pairs = [pair for one in intervals for pair in one.counts]
        if total := sum(count for _, count in pairs):
            mean = sum(value * count for value, count in pairs) / total
            results += [
                Result(base, (), tag, (Histogram.of(pairs),)),
                Result(replace(base, name=f"{base.name}_mean"), (mean,), tag),
            ]
    return Content(results, warnings)


def _doubts(intervals: list[_Interval]) -> Iterator[str]:
    steps = [(b.start - a.start - a.length, a.length) for a, b in pairwise(intervals)]
    if any(gap > GAP * length for gap, length in steps):
        yield "there is a gap between two intervals; one may be missing"
    if any(gap < -GAP * length for gap, length in steps):
        yield "two intervals overlap; one may be there twice"


def decoded(text: str, where: str) -> Iterator[tuple[float, int]]:
    """The values in the middle of their buckets, ascending, and their counts. Raises
    UnreadableError."""
    try:
        raw = b64decode(text, validate=True)
        kind, length = struct.unpack_from(">II", raw)
        if kind & _KIND != COMPRESSED or length != len(raw) - 8:
            raise UnreadableError(f"{where}: the histogram is not in HdrHistogram's encoding V2")
        stream = zlib.decompressobj()
        data = stream.decompress(raw[8:], MOST_BYTES)
        kind, size, offset, digits, lowest, _, ratio = _HEAD.unpack_from(data)
    except (ValueError, struct.error, zlib.error) as error:
        raise UnreadableError(f"{where}: the histogram is damaged: {error}") from error
    counts = data[_HEAD.size :]
    if kind & _KIND != ENCODED or not stream.eof or size != len(counts):
        raise UnreadableError(f"{where}: the histogram is damaged or too large")
    if offset or ratio != 1 or not 1 <= digits <= 5 or not 1 <= lowest < 2**53:
        raise UnreadableError(f"{where}: a histogram of shifted or scaled values is not read")
    half = (2 * 10**digits - 1).bit_length() - 1
    yield from _values(counts, half, lowest.bit_length() - 1, where)


def _values(data: bytes, half: int, unit: int, where: str) -> Iterator[tuple[float, int]]:
    """``2**half`` is the number of buckets in a power of two, ``2**unit`` the narrowest."""
    index = 0
    for number in _numbers(data, where):
        if number < 0:
            index -= number
            continue
        power = max((index >> half) - 1, 0)
        if power + half + unit > 63:
            raise UnreadableError(f"{where}: the histogram holds values of more than 63 bits")
        if number:
            step = index if index < 2 << half else (index & ((1 << half) - 1)) + (1 << half)
            width = 1 << (power + unit)
            yield float(step * width + width // 2), number
        index += 1


def _numbers(data: bytes, where: str) -> Iterator[int]:
    """ZigZag LEB128; the ninth byte of a number has eight bits of it."""
    value = shift = 0
    for byte in data:
        is_last = shift == 56 or byte < 0x80
        value |= (byte if shift == 56 else byte & 0x7F) << shift
        shift += 7
        if is_last:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
    if shift:
        raise UnreadableError(f"{where}: the histogram ends within a number")


FORMAT = Format("hdrhistogram-log", "the user: unit and direction", claims, read)
