"""Stacks of kernels, the function that ran first: maps of `bpftrace` and `btrace`, `perf script`.

`bpftrace` (Linux) and `btrace` (OpenBSD) print a map:

    @[                              @[
        ip_rcv+91                   ip_input+0x1c
        __netif_receive_skb+28      ether_input+0x4d
    ]: 17                           kernel
                                    ]: 17

`btrace` writes offsets in hexadecimal and ends each stack with `kernel`. What else stands
within the brackets (`, swapper]`) is another key of the map: the stacks are added over it.

`perf script` of Linux prints a line a sample, its stack below:

    swapper     0 [001]  5076.836336:     250000 cycles:
            ffffffff81001a2b ip_rcv+0x5b ([kernel.kallsyms])
            ffffffff81002b3c __netif_receive_skb+0x1c ([kernel.kallsyms])

Each sample counts one: with a frequency (`-F`) periods vary, and their sum is no number of samples.
Over the time from the first sample to the last it is how often the event happened.
The CPU is a section, where the lines name it.
"""

import re
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path

from labagent.readers.profiles import base

_BEGIN = re.compile(r"@(\w*)\[", re.ASCII)
_END = re.compile(rf"(?:@\w*\[)?.*\]: ({base.COUNT})\Z", re.ASCII)
_MAP_FRAME = re.compile(
    r"\s*(?:[0-9a-f]{8,16} )?(\S+?)(?:\+(?:0x[0-9a-f]+|\d+))?(?: \(?\[?([^\s\[\]()]+)\]?\)?)?\Z",
    re.ASCII,
)
_HEXADECIMAL = re.compile(r"\S+\+0x[0-9a-f]+\Z", re.ASCII)
_NOISE = re.compile(r"Attach\w+ \d+ probes?|\^C|\s*\Z", re.ASCII)
USERLAND = "userland"
"""What `btrace` prints where the kernel did not run; `bpftrace` prints an empty stack."""


@dataclass
class _Map:
    """A map while it is read. `stack` is None between two entries, else has the function that ran
    first."""

    path: Path
    profile: base.Profile
    stack: list[base.Frame] | None = None
    name: str | None = None

    def begin(self, line: int, name: str) -> None:
        """Begin an entry."""
        if self.name not in (None, name):
            both = f"maps @{self.name} and @{name}"
            raise base.UnreadProfileError(self.path, line, both, "print one map of stacks only")
        self.name = self.profile.event = name
        self.stack = []

    def frame(self, line: int, row: re.Match[str]) -> None:
        """Add a caller to the stack in hand."""
        if self.stack is None:
            return
        base.check_depth(self.path, line, len(self.stack))
        self.stack.append(base.frame_of(row[1], row[2] or ""))

    def end(self, count: int) -> None:
        """Count the entry in hand."""
        stack = self.stack or []
        if stack and stack[-1] == ("kernel", ""):
            stack.pop()
        if count:
            self.profile.add(tuple(reversed(stack)) or ((USERLAND, ""),), count)
        self.stack = None


def parse_map(path: Path, data: bytes, form: str) -> base.Profile:
    """The profile of a printed map. Raises UnreadProfileError."""
    found = _Map(path, base.Profile(form, sections=[{}], expected=[None]))
    *lines, rest = base.lines_of(data)
    odd = base.lines_not_taken(path, lines, partial(_take_map, found))
    base.warn_of_lines(found.profile, odd)
    if rest or found.stack is not None:
        found.profile.truncated = True
        found.profile.warn(
            f"truncated: the last stack is cut and left out, {found.profile.samples} samples are"
            " there"
        )
    return found.profile


def _take_map(found: _Map, number: int, line: str) -> bool:
    """Whether the line is a part of a map; one that begins before another has ended is none."""
    if len(line) > base.MOST_LINE:
        return False
    begins, ends = _BEGIN.match(line), _END.match(line)
    complete = True
    if begins:
        complete = found.stack is None
        found.begin(number, begins[1])
    if ends and found.stack is not None:
        found.end(int(ends[1]))
    elif found.stack is None:
        return bool(_NOISE.match(line))
    elif not begins and (row := _MAP_FRAME.match(line)):
        found.frame(number, row)
    elif not begins:
        return not line.strip()
    return complete


def _is_btrace(data: bytes) -> bool:
    lines = base.first_lines(data)
    return base.is_any(_HEXADECIMAL, lines) or any(line in ("kernel", USERLAND) for line in lines)


def _is_map(data: bytes) -> bool:
    return base.is_any(_BEGIN, base.first_lines(data))


BPFTRACE = base.ProfileFormat("bpftrace", _is_map, partial(parse_map, form="bpftrace"))
BTRACE = base.ProfileFormat(
    "btrace", lambda data: _is_map(data) and _is_btrace(data), partial(parse_map, form="btrace")
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
    profile: base.Profile
    cpus: dict[str, int] = field(default_factory=dict)
    cpu: str | None = None
    stack: list[base.Frame] = field(default_factory=list)
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
            raise base.UnreadProfileError(
                self.path, line, other, "write a script of one event only"
            )
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
        if len(self.cpus) > base.MOST_SECTIONS:
            raise base.too_many(self.path, line, f"{len(self.cpus)} CPUs", base.MOST_SECTIONS)

    def frame(self, line: int, row: re.Match[str]) -> None:
        """Add a caller to the stack in hand."""
        base.check_depth(self.path, line, len(self.stack))
        name = _OFFSET.sub("", row[2])
        self.stack.append(base.frame_of(name, "" if row[3] == "[unknown]" else row[3] or ""))

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


def parse_perf(path: Path, data: bytes) -> base.Profile:
    """The profile of a script. Raises UnreadProfileError."""
    script = _Script(path, base.Profile("perf"))
    *lines, rest = base.lines_of(data)
    odd = base.lines_not_taken(path, lines, partial(_take_perf, script))
    _finish(script, rest, odd)
    return script.profile


def _take_perf(script: _Script, number: int, line: str) -> bool:
    """Whether the line is a part of a script."""
    if not line.strip():
        script.end()
    elif line.startswith("#") or len(line) > base.MOST_LINE:
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
    base.warn_of_lines(profile, odd)
    if rest:
        profile.truncated = True
        profile.warn(f"truncated: the last sample is cut and left out, {profile.samples} are there")
    if script.empty:
        profile.warn(f"{script.empty} samples without a stack, left out: record with -g")


def claims_perf(data: bytes) -> bool:
    """Whether one of the first lines begins a sample."""
    return base.is_any(_SAMPLE, base.first_lines(data))


PERF = base.ProfileFormat("perf", claims_perf, parse_perf)
