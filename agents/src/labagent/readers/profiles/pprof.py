"""pprof: `profile.proto` of https://github.com/google/pprof, perhaps packed by gzip.

The decoder knows the two wire types that its messages use, numbers (0) and bytes (2), and passes
over fixed ones (1, 5). Field numbers are those of profile.proto.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labagent.readers.profiles import base

MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of a profile that was packed."""

MOST_ENTRIES = 1_000_000
"""Samples, locations, functions and texts together."""

_GZIP = b"\x1f\x8b"
_AGAIN = "copy the file again from where it was written"
_MOST_SAMPLES, _LARGEST_RATE = 10**15, 1e18
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_DURATION, _PERIOD_TYPE, _PERIOD = 10, 11, 12

Value = int | bytes


class _WireError(Exception):
    """The bytes are no message of protobuf."""


@dataclass
class _Tables:
    """What samples refer to, by number: strings by place, the others by their id. A location has
    its frames, what was inlined first. `timing` is what a sample is taken each of (a type and a
    number), and for how many nanoseconds, by field."""

    strings: list[str] = field(default_factory=list)
    types: list[tuple[int, int]] = field(default_factory=list)
    timing: dict[int, Value] = field(default_factory=dict)
    mappings: dict[int, int] = field(default_factory=dict)
    functions: dict[int, int] = field(default_factory=dict)
    locations: dict[int, bytes] = field(default_factory=dict)
    samples: list[bytes] = field(default_factory=list)


def parse(path: Path, data: bytes) -> base.Profile:
    """The profile of a `profile.proto`. Raises UnreadProfileError."""
    try:
        return _profile(path, _tables(_unpacked(path, data)))
    except (_WireError, zlib.error) as error:
        raise base.UnreadProfileError(
            path, 0, f"is no whole profile of pprof: {error}", _AGAIN
        ) from error


def _unpacked(path: Path, data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    packed = zlib.decompressobj(wbits=31)
    found = packed.decompress(data, MOST_UNPACKED)
    if packed.unconsumed_tail:
        raise base.too_many(path, 0, "unpacked bytes", MOST_UNPACKED)
    if not packed.eof:
        raise _WireError("its gzip ends early")
    return found


def _tables(data: bytes) -> _Tables:
    tables = _Tables()
    for count, (number, value) in enumerate(_fields(data)):
        if count >= MOST_ENTRIES:
            raise _WireError(f"it has more than {MOST_ENTRIES} entries")
        if number == _STRING:
            tables.strings.append(_bytes(value).decode("utf-8", "replace"))
        elif number == _SAMPLE_TYPE:
            kind = _numbers_of(value)
            tables.types.append((kind.get(1, 0), kind.get(2, 0)))
        elif number in (_PERIOD_TYPE, _PERIOD, _DURATION):
            tables.timing[number] = value
        elif number == _SAMPLE:
            tables.samples.append(_bytes(value))
        elif number == _MAPPING:
            mapping = _numbers_of(value)
            tables.mappings[mapping.get(1, 0)] = mapping.get(5, 0)
        elif number == _FUNCTION:
            function = _numbers_of(value)
            tables.functions[function.get(1, 0)] = function.get(2, 0)
        elif number == _LOCATION:
            tables.locations[_numbers_of(value).get(1, 0)] = _bytes(value)
    return tables


def _profile(path: Path, tables: _Tables) -> base.Profile:
    profile = base.Profile("pprof", sections=[{}], expected=[None])
    period_type = _numbers_of(tables.timing.get(_PERIOD_TYPE, b""))
    profile.event = _string(tables, period_type.get(1, 0))
    if len(tables.samples) > base.MOST_ROWS:
        raise base.too_many(path, 0, f"{len(tables.samples)} stacks", base.MOST_ROWS)
    index = _index_of_counts(path, tables)
    frames = {key: _frames(tables, location) for key, location in tables.locations.items()}
    for sample in tables.samples:
        locations, values = _sample(sample)
        if index >= len(values):
            raise _WireError(f"a sample has {len(values)} values")
        if not 0 <= values[index] < _MOST_SAMPLES:
            reason = f"a stack has {values[index]} samples"
            raise base.UnreadProfileError(path, 0, reason, "send no difference of profiles")
        if values[index]:
            profile.add(_stack(path, frames, locations), values[index])
    profile.event_rate = _rate(tables, profile, _string(tables, period_type.get(2, 0)))
    return profile


def _rate(tables: _Tables, profile: base.Profile, unit: str) -> float | None:
    """How often the event happened (1/s): nanoseconds of the CPU's time, or what is counted."""
    is_known = unit == "nanoseconds" if profile.event == "cpu" else unit in ("count", profile.event)
    period, duration = (_number_of(tables.timing.get(one, 0)) for one in (_PERIOD, _DURATION))
    if not is_known or not duration:
        return None
    rate = profile.samples * period / (duration / 1e9)
    return rate if 0 < rate <= _LARGEST_RATE else None


def _stack(
    path: Path, frames: dict[int, list[base.Frame]], locations: list[int]
) -> tuple[base.Frame, ...]:
    if unknown := [one for one in locations if one not in frames]:
        raise _WireError(f"it has no location {unknown[0]}")
    stack = [frame for one in locations for frame in frames[one]]
    if len(stack) > base.MOST_DEPTH:
        raise base.too_many(path, 0, f"{len(stack)} levels of callers", base.MOST_DEPTH)
    return tuple(reversed(stack)) or (base.frame_of(""),)


def _index_of_counts(path: Path, tables: _Tables) -> int:
    """Which of a sample's values counts samples."""
    for index, (kind, unit) in enumerate(tables.types):
        if _string(tables, kind) == "samples" or _string(tables, unit) == "count":
            return index
    found = ", ".join(_string(tables, kind) for kind, _ in tables.types) or "nothing"
    raise base.UnreadProfileError(
        path, 0, f"holds {found}, not numbers of samples", "send a profile of the CPU"
    )


def _sample(data: bytes) -> tuple[list[int], list[int]]:
    """The locations of a sample, the one that ran first, and its values."""
    locations: list[int] = []
    values: list[int] = []
    for number, value in _fields(data):
        if number == 1:
            locations += _repeated(value)
        elif number == 2:
            values += [one - (1 << 64) if one >> 63 else one for one in _repeated(value)]
    return locations, values


def _frames(tables: _Tables, location: bytes) -> list[base.Frame]:
    numbers = _numbers_of(location)
    module = _string(tables, tables.mappings.get(numbers.get(2, 0), 0))
    lines = [_numbers_of(value) for number, value in _fields(location) if number == 4]
    if not lines:
        return [base.frame_of(f"0x{numbers.get(3, 0):x}", module)]
    names = [_string(tables, tables.functions.get(line.get(1, 0), 0)) for line in lines]
    return [base.frame_of(name, module) for name in names]


def _string(tables: _Tables, index: int) -> str:
    if not index:
        return ""
    if index >= len(tables.strings):
        raise _WireError(f"it has no text {index}")
    return tables.strings[index]


def _numbers_of(value: Value) -> dict[int, int]:
    """The fields of a message that are numbers."""
    return {number: one for number, one in _fields(_bytes(value)) if isinstance(one, int)}


def _bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise _WireError("a number stands in place of bytes")
    return value


def _number_of(value: Value) -> int:
    if not isinstance(value, int):
        raise _WireError("bytes stand in place of a number")
    return value


def _repeated(value: Value) -> list[int]:
    """The numbers of a repeated field: packed, or one each."""
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = _number(value, at)
        numbers.append(number)
    return numbers


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """The fields of a message: number and value."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield key >> 3, value
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            length, at = _number(data, at)
            if at + length > len(data):
                raise _WireError("it ends early")
            yield key >> 3, data[at : at + length]
            at += length
        else:
            raise _WireError(f"wire type {kind} at byte {at}")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint, and where the next one begins."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _WireError("it ends early")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise _WireError(f"a number of more than 64 bits at byte {at}")


def claims(data: bytes) -> bool:
    """Whether it is packed by gzip, or begins with a type of samples."""
    return data.startswith(_GZIP) or (data[:1] == b"\x0a" and data[2:3] == b"\x08")


FORMAT = base.ProfileFormat("pprof", claims, parse)
