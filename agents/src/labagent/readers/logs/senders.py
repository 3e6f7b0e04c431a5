"""What a load generator's own log says that it sent: `pkt-gen -f tx`."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass

from labagent.readers.logs.line_rate import frame_bytes

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
