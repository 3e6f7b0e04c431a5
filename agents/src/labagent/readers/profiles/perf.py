"""The text of `perf script` of Linux: a line a sample, its stack below with the function that
ran first.

    swapper     0 [001]  5076.836336:     250000 cycles:
            ffffffff81001a2b ip_rcv+0x5b ([kernel.kallsyms])
            ffffffff81002b3c __netif_receive_skb+0x1c ([kernel.kallsyms])

Each sample counts one: with a frequency (`-F`) periods vary, and their sum is no number of samples.
Over the time from the first sample to the last it is how often the event happened.
The CPU is a section, where the lines name it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path

from labagent.readers.profiles.base import (
    MOST_LINE,
    MOST_SECTIONS,
    Frame,
    Profile,
    ProfileFormat,
    UnreadProfileError,
    check_depth,
    first_lines,
    frame_of,
    is_any,
    lines_not_taken,
    lines_of,
    too_many,
    warn_of_lines,
)

_SAMPLE = re.compile(
    r"\S.{0,40}?\s{1,40}\d{1,10}(?:/\d{1,10})?\s+(?:\[(\d{1,4})\]\s+)?"
    r"(\d+\.\d+):\s+(?:(\d+)\s+)?(\S+):\s*\Z",
    re.ASCII,
)
_FRAME = re.compile(r"\s+([0-9a-f]{1,16})\s+(\S.*?)(?: \(([^()]*)\))?\Z", re.ASCII)
_OFFSET = re.compile(r"\+0x[0-9a-f]+\Z", re.ASCII)
_MOST_DIGITS = 18
"""Of a time or a period; a 64-bit counter has no more that matter."""


@dataclass
class _Script:
    """A script while it is read. `cpu` is that of the sample in hand, whose stack has the function
    that ran first, `period` its own. `events` is the sum of all periods, None once one is
    unknown."""

    path: Path
    profile: Profile
    cpus: dict[str, int] = field(default_factory=dict)
    cpu: str | None = None
    stack: list[Frame] = field(default_factory=list)
    period: int | None = None
    first: float = inf
    last: float = 0.0
    events: int | None = 0
    empty: int = 0

    def begin(self, line: int, sample: re.Match[str]) -> None:
        """Begin a sample."""
        self.end()
        event = sample[4]
        if self.profile.event and event != self.profile.event:
            other = f"samples of {self.profile.event} and of {event}"
            raise UnreadProfileError(self.path, line, other, "write a script of one event only")
        self.profile.event = event
        self.period = _whole(sample[3])
        if len(sample[2]) <= _MOST_DIGITS:
            time = float(sample[2])
            self.first, self.last = min(self.first, time), max(self.last, time)
        self.cpu = sample[1] or ""
        if self.cpu not in self.cpus:
            self.cpus[self.cpu] = len(self.cpus)
            self.profile.sections.append({})
            self.profile.expected.append(None)
        if len(self.cpus) > MOST_SECTIONS:
            raise too_many(self.path, line, f"{len(self.cpus)} CPUs", MOST_SECTIONS)

    def frame(self, line: int, row: re.Match[str]) -> None:
        """Add a caller to the stack in hand."""
        check_depth(self.path, line, len(self.stack))
        name = _OFFSET.sub("", row[2])
        self.stack.append(frame_of(name, "" if row[3] == "[unknown]" else row[3] or ""))

    def end(self) -> None:
        """Count the sample in hand."""
        if self.cpu is None:
            return
        if self.stack:
            self.profile.add(tuple(reversed(self.stack)), 1, self.cpus[self.cpu])
            whole = self.events is not None and self.period is not None
            self.events = (self.events or 0) + (self.period or 0) if whole else None
        else:
            self.empty += 1
        self.cpu, self.stack = None, []

    def rate(self) -> float | None:
        """How often the event happened (1/s); None where a period or the time is unknown."""
        seconds = self.last - self.first
        return self.events / seconds if self.events and seconds > 0 else None


def _whole(digits: str | None) -> int | None:
    return int(digits) if digits and len(digits) <= _MOST_DIGITS else None


def parse(path: Path, data: bytes) -> Profile:
    """The profile of a script. Raises UnreadProfileError."""
    script = _Script(path, Profile("perf"))
    *lines, rest = lines_of(data)
    odd = lines_not_taken(path, lines, partial(_take, script))
    _finish(script, rest, odd)
    return script.profile


def _take(script: _Script, number: int, line: str) -> bool:
    """Whether the line is a part of a script."""
    if not line.strip():
        script.end()
    elif line.startswith("#") or len(line) > MOST_LINE:
        return line.startswith("#")
    elif sample := _SAMPLE.match(line):
        script.begin(number, sample)
    elif script.cpu is not None and (row := _FRAME.match(line)):
        script.frame(number, row)
    else:
        return False
    return True


def _finish(script: _Script, rest: str, odd: list[int]) -> None:
    profile = script.profile
    if not rest:
        script.end()
    profile.event_rate = script.rate()
    warn_of_lines(profile, odd)
    if rest:
        profile.truncated = True
        profile.warn(f"truncated: the last sample is cut and left out, {profile.samples} are there")
    if script.empty:
        profile.warn(f"{script.empty} samples without a stack, left out: record with -g")


def claims(data: bytes) -> bool:
    """Whether one of the first lines begins a sample."""
    return is_any(_SAMPLE, first_lines(data))


FORMAT = ProfileFormat("perf", claims, parse)
