"""What an Ethernet link carries at most."""

from __future__ import annotations

from types import MappingProxyType

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
