"""Whether the seconds of a pkt-gen iteration measure the machine under test, and steadily; and what
limits a measurement besides the machine: the link, the sender, a throttled processor.

Each finding states its numbers. None changes a value: bench-lab's rule stays, and people decide.
"""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from labagent.files import numbered_lines
from labagent.model import Finding, clean
from labagent.readers.logs.seconds import Second, find_trend, measured_lines, parse_lines

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

_QUOTED = re.compile(
    rb"\bthrottl(?:ed|ing)\b|\bcritical temperature\b|\btemperature above threshold\b|\bPROCHOT\b",
    re.IGNORECASE,
)
_HINTS = (b"throttl", b"temperature", b"prochot")
"""One of them is in any text that `_QUOTED` finds; looking for them is quick."""

_LONGEST = 120
"""Characters of the line that are quoted."""


def find_throttling(logs: Mapping[str, bytes]) -> Iterator[Finding]:
    """The first line that states it, of the iteration's logs by their kind. What the lab typed as a
    command shows nothing of the machine."""
    for kind, data in logs.items():
        small = data.lower()
        if not any(hint in small for hint in _HINTS):
            continue
        for number, line in numbered_lines(data):
            if _QUOTED.search(line) and not line.startswith((b"CMD", b"+ ")):
                quoted = clean(line.decode("utf-8", "replace")).strip()[:_LONGEST]
                yield Finding(THROTTLED, f"line {number} of the {kind}'s log reads: {quoted}")
                return


SENDER_SATURATED = "sender-saturated"
"""The link was full, or the generator sent all that it was asked for: the machine was not the
limit."""

ALL_ARRIVED = "all-arrived"
"""All that was sent arrived, and what limited the generator is not known: where Ethernet flow
control slows it down, the rate is the machine's."""

WARM_UP = "warm-up"
ZERO_SECONDS = "zero-seconds"
MISSING_SECONDS = "missing-seconds"
TOO_FEW_SECONDS = "too-few-seconds"
CLOCK_STEP = "clock-step"

NOTHING_LOST = 0.98
"""Share of what was sent from which on a machine that forwards it was not the limit: counters and
clocks of sender and receiver differ by less than 1 %."""

LEAST_CHANGE = 0.02
"""Share of the level by which a trend has to move it: the median is then off by 1 %, as much as
iterations of a quiet machine scatter."""

FEWEST_SECONDS = 9
"""From nine on the 95 % interval of a median leaves out the smallest and the largest value (that
of the second to the eighth of nine covers 1 − 20/512 = 96 %, binomial), so that one odd second
cannot be an end of it."""

OFF_LENGTH = 0.25
"""Share by which a second's length may differ from what was asked. pkt-gen's own vary by 6 %."""

_INTERVAL = re.compile(rb"CMD[^\n]* -T ?(\d{1,7})\b")
_USUAL_INTERVAL = 1000
"""Milliseconds of a line of pkt-gen without -T."""


@dataclass(frozen=True)
class Part:
    """The measured part of a receiver's log, from the first second in which packets came.
    `interval` is the length of a second that was asked for, in microseconds."""

    seconds: Sequence[Second]
    interval: int

    @cached_property
    def off(self) -> list[int]:
        """Microseconds of the seconds that lasted far from what was asked for."""
        most = OFF_LENGTH * self.interval
        lengths = (one.microseconds for one in self.seconds)
        return [length for length in lengths if abs(length - self.interval) > most]

    @cached_property
    def rates(self) -> list[int]:
        """Packets/s of the seconds that can be used."""
        off = set(self.off)
        return [one.pps for one in self.seconds if one.pps and one.microseconds not in off]

    @cached_property
    def late(self) -> list[int]:
        """By how many microseconds each second but the first ended later than the one before and
        its own length make it; negative: earlier."""
        return [after.lateness(one.stamp) for one, after in pairwise(self.seconds)]


def judge(logs: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """What may be wrong with one iteration, by its logs: ``receiver``, ``sender``, ``sender_2``."""
    part = _measured_part(logs["receiver"])
    kinds = sorted(kind for kind in logs if kind.startswith("sender"))
    senders = [read_sender(logs[kind]) for kind in kinds]
    return (
        *_saturation(part, senders),
        *_trend(part),
        *_zeros(part),
        *_gaps(part),
        *_few(part),
        *_clock(part),
        *find_throttling(logs),
    )


def _measured_part(data: bytes) -> Part:
    kept = measured_lines(data)
    seconds: list[Second] = []
    began = False
    for number, (_, second) in enumerate(parse_lines(data), 1):
        if number >= kept.stop:
            break
        began = began or bool(second and second.pps)  # before, the generator had not begun
        if second and began and number in kept:
            seconds.append(second)
    asked = _INTERVAL.match(data)
    interval = int(asked[1]) if asked else 0
    return Part(seconds, 1000 * (interval or _USUAL_INTERVAL))


def _saturation(part: Part, senders: Sequence[Sent]) -> Iterator[Finding]:
    if not part.rates or not senders:
        return
    received = statistics.median(part.rates)
    first = senders[0]
    if first.rate is None:
        yield from _line_saturation(received, first)
        return
    sent = first.rate
    if received > sent * (2 - NOTHING_LOST):  # what the other generators sent was forwarded as well
        sent = sum(one.rate or 0.0 for one in senders)
    if received >= NOTHING_LOST * sent:
        share = f"{100 * received / sent:.1f} % of the {sent:,.0f} packets/s that were sent arrived"
        why = _why_no_more(sent, first)
        unknown = "so the machine was not the limit, unless flow control slowed the generator down"
        code = SENDER_SATURATED if why else ALL_ARRIVED
        yield Finding(code, f"{share}: {why or unknown}")


def _line_saturation(received: float, sender: Sent) -> Iterator[Finding]:
    """Where the generator does not state what it sent, only how long its frames were."""
    link = full_link(received, sender.frame) if sender.frame else ""
    if link:
        yield Finding(
            SENDER_SATURATED,
            f"{received:,.0f} packets/s arrived, {_full(link, sender)}: the link was the limit,"
            " not the machine",
        )


def _why_no_more(sent: float, sender: Sent) -> str:
    """What is known to have limited the generator; empty: nothing."""
    link = full_link(sent, sender.frame) if sender.frame else ""
    if link:
        return f"that is {_full(link, sender)}, so the link was the limit, not the machine"
    if sender.limit and sent >= NOTHING_LOST * sender.limit:
        return f"{sender.limit:,} were asked for (-R), so the machine was not the limit"
    return ""


def _full(link: str, sender: Sent) -> str:
    return f"all that {link} Ethernet carries of {sender.frame}-byte frames"


def _trend(part: Part) -> Iterator[Finding]:
    rates = part.rates
    if not rates:
        return
    level = statistics.median(rates)
    trend = find_trend(rates, LEAST_CHANGE * level)
    if trend and trend.is_decisive:
        yield Finding(
            WARM_UP,
            f"the rate {'rises' if trend.change > 0 else 'falls'} by"
            f" {100 * abs(trend.change) / level:.1f} % within the {len(rates)} seconds measured"
            f" (Mann-Kendall: {abs(trend.z):.1f} standard deviations at an autocorrelation of"
            f" {trend.phi:.2f})",
        )


def _zeros(part: Part) -> Iterator[Finding]:
    count = sum(one.pps == 0 for one in part.seconds)
    if count:
        of = f"{count} of {len(part.seconds)}"
        yield Finding(ZERO_SECONDS, f"no packet arrived in {of} seconds measured")


def _gaps(part: Part) -> Iterator[Finding]:
    """Gaps of half a second or more between one line's time and the next."""
    gaps = [one for one in part.late if one > part.interval // 2]
    if gaps:
        yield Finding(
            MISSING_SECONDS,
            f"{sum(gaps) / 1e6:.1f} s are missing between {len(part.seconds)} seconds measured, in"
            f" {_count(len(gaps), 'place')}",
        )


def _few(part: Part) -> Iterator[Finding]:
    count = len(part.rates)
    if count < FEWEST_SECONDS:
        yield Finding(
            TOO_FEW_SECONDS,
            f"{_count(count, 'usable second')}; below {FEWEST_SECONDS} the 95 % interval of a"
            " median reaches to the smallest or the largest, and one odd second can be its end",
        )


def _clock(part: Part) -> Iterator[Finding]:
    back = [one for one in part.late if one < -part.interval // 2]
    off = part.off
    parts = []
    if back:
        parts.append(f"the time goes back {_count(len(back), 'time')}")
    if off:
        worst = max(off, key=lambda length: abs(length - part.interval))
        parts.append(
            f"{_count(len(off), 'second')} of {len(part.seconds)} did not last"
            f" {part.interval / 1e6:g} s, one {worst / 1e6:.2f} s"
        )
    if parts:
        yield Finding(CLOCK_STEP, "; ".join(parts))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
