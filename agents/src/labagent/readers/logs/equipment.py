"""What limits a measurement besides the machine: the link, the sender, a throttled processor."""

import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from labagent.files import numbered_lines
from labagent.model import Finding, clean

SHORTEST_FRAME = 64
"""Bytes with the checksum; shorter frames are padded to it (IEEE 802.3, 3.2.8)."""

CHECKSUM = 4
"""Bytes that generators do not count (`-l 60` of pkt-gen makes frames of 64)."""

_BETWEEN_FRAMES = 20
"""Bytes on the wire besides the frame: preamble and delimiter (8), gap (12)."""

SPEEDS = MappingProxyType(
    {
        "100 Mbit/s": 1e8,
        "1 Gbit/s": 1e9,
        "10 Gbit/s": 1e10,
        "25 Gbit/s": 2.5e10,
        "40 Gbit/s": 4e10,
        "100 Gbit/s": 1e11,
    }
)
"""Links that pkt-gen is used on, in bit/s."""

EXACT = 0.005
"""Share by which a rate at the limit of a link differs from it: a generator that fills the link
holds its rate to 0.1 %."""


def frame_bytes(length: int) -> int:
    """The length with its checksum of a frame that a generator calls `length` bytes long."""
    return max(length + CHECKSUM, SHORTEST_FRAME)


def line_rate(speed: float, frame: int) -> float:
    """Packets/s that a link of `speed` bit/s carries of frames of `frame` bytes (1.488 million of
    64 bytes at 1 Gbit/s)."""
    return speed / (8 * (frame + _BETWEEN_FRAMES))


def carried_share(length: int) -> float:
    """The share of a link's bits that frames of `length` bytes, checksum not counted, have."""
    return length / (frame_bytes(length) + _BETWEEN_FRAMES)


def full_link(rate: float, frame: int) -> str:
    """The name of the link that `rate` packets/s of such frames fill; empty: none that is known."""
    for name, speed in SPEEDS.items():
        most = line_rate(speed, frame)
        if abs(rate - most) <= EXACT * most:
            return name
    return ""


_COMMAND = re.compile(rb"CMD[^\n]*")
_LENGTH = re.compile(rb" -l ?(\d{1,5})\b")
_LIMIT = re.compile(rb" -R ?(\d{1,12})\b")
_SECOND = re.compile(rb"^\d{1,6}\.\d{6} main_thread \[\d{1,6}\] ([1-9]\d{0,11}) pps ", re.M)
"""A second in which anything was sent; no more of the line is needed."""

_SUMMARY_LENGTH = re.compile(rb"^Sent \d{1,18} packets\b[^\n]{0,80}?\b(\d{1,5}) bytes each", re.M)
_SUMMARY_RATE = re.compile(rb"^Speed: (\d{1,12}(?:\.\d{1,6})?) ([KMG]?)pps\b", re.M)
_FACTOR = {b"": 1, b"K": 1_000, b"M": 1_000_000, b"G": 1_000_000_000}

_CUT_SECONDS = 1
"""Seconds left out at either end: sending began and ended within them."""


@dataclass(frozen=True)
class Sent:
    """`rate` in packets/s, None: unknown; `frame` the bytes of a frame with its checksum, None:
    unknown; `limit` what the command asked for, in packets/s, None: as much as possible."""

    rate: float | None
    frame: int | None
    limit: int | None


def read_sender(data: bytes) -> Sent:
    """The middle of the seconds in which anything was sent, else the summary's rate."""
    found = _COMMAND.match(data)
    command = found[0] if found else b""
    length = _LENGTH.search(command) or _SUMMARY_LENGTH.search(data)
    limit = _LIMIT.search(command)
    return Sent(
        rate=_middle_rate(data) or _summary_rate(data),
        frame=frame_bytes(int(length[1])) if length else None,
        limit=int(limit[1]) if limit else None,
    )


def _middle_rate(data: bytes) -> float | None:
    rates = _SECOND.findall(data)
    whole = list(map(int, rates[_CUT_SECONDS:-_CUT_SECONDS]))
    return statistics.median(whole) if whole else None


def _summary_rate(data: bytes) -> float | None:
    found = _SUMMARY_RATE.search(data)
    return float(found[1]) * _FACTOR[found[2]] or None if found else None


THROTTLED = "throttled"

_SAID = re.compile(
    rb"\bthrottl(?:ed|ing)\b|\bcritical temperature\b|\btemperature above threshold\b|\bPROCHOT\b",
    re.IGNORECASE,
)
_HINTS = (b"throttl", b"temperature", b"prochot")
"""One of them is in any text that `_SAID` finds; looking for them is quick."""

_LONGEST = 120
"""Characters of the line that are quoted."""


def find_throttling(logs: Mapping[str, bytes]) -> Iterator[Finding]:
    """The first line that says so, of the iteration's logs by their kind. What the lab typed as a
    command says nothing about the machine."""
    for kind, data in logs.items():
        small = data.lower()
        if not any(hint in small for hint in _HINTS):
            continue
        for number, line in numbered_lines(data):
            if _SAID.search(line) and not line.startswith((b"CMD", b"+ ")):
                said = clean(line.decode("utf-8", "replace")).strip()[:_LONGEST]
                yield Finding(THROTTLED, f"line {number} of the {kind}'s log says: {said}")
                return
