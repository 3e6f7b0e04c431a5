"""Maps of kernel stacks as `bpftrace` (Linux) and `btrace` (OpenBSD) print them, the function that
ran first:

    @[                              @[
        ip_rcv+91                   ip_input+0x1c
        __netif_receive_skb+28      ether_input+0x4d
    ]: 17                           kernel
                                    ]: 17

`btrace` writes offsets in hexadecimal and ends each stack with `kernel`. What else stands
within the brackets (`, swapper]`) is another key of the map: the stacks are added over it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from labagent.readers.profiles.base import (
    COUNT,
    MOST_LINE,
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
    warn_of_lines,
)

_BEGIN = re.compile(r"@(\w*)\[", re.ASCII)
_END = re.compile(rf"(?:@\w*\[)?.*\]: ({COUNT})\Z", re.ASCII)
_FRAME = re.compile(
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
    profile: Profile
    stack: list[Frame] | None = None
    name: str | None = None

    def begin(self, line: int, name: str) -> None:
        """Begin an entry."""
        if self.name not in (None, name):
            both = f"maps @{self.name} and @{name}"
            raise UnreadProfileError(self.path, line, both, "print one map of stacks only")
        self.name = self.profile.event = name
        self.stack = []

    def frame(self, line: int, row: re.Match[str]) -> None:
        """Add a caller to the stack in hand."""
        if self.stack is None:
            return
        check_depth(self.path, line, len(self.stack))
        self.stack.append(frame_of(row[1], row[2] or ""))

    def end(self, count: int) -> None:
        """Count the entry in hand."""
        stack = self.stack or []
        if stack and stack[-1] == ("kernel", ""):
            stack.pop()
        if count:
            self.profile.add(tuple(reversed(stack)) or ((USERLAND, ""),), count)
        self.stack = None


def parse(path: Path, data: bytes, form: str) -> Profile:
    """The profile of a printed map. Raises UnreadProfileError."""
    found = _Map(path, Profile(form, sections=[{}], expected=[None]))
    *lines, rest = lines_of(data)
    odd = lines_not_taken(path, lines, partial(_take, found))
    warn_of_lines(found.profile, odd)
    if rest or found.stack is not None:
        found.profile.truncated = True
        found.profile.warn(
            f"truncated: the last stack is cut and left out, {found.profile.samples} samples are"
            " there"
        )
    return found.profile


def _take(found: _Map, number: int, line: str) -> bool:
    """Whether the line is a part of a map; one that begins before another has ended is none."""
    if len(line) > MOST_LINE:
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
    elif not begins and (row := _FRAME.match(line)):
        found.frame(number, row)
    elif not begins:
        return not line.strip()
    return complete


def _is_btrace(data: bytes) -> bool:
    lines = first_lines(data)
    return is_any(_HEXADECIMAL, lines) or any(line in ("kernel", USERLAND) for line in lines)


def _is_map(data: bytes) -> bool:
    return is_any(_BEGIN, first_lines(data))


BPFTRACE = ProfileFormat("bpftrace", _is_map, partial(parse, form="bpftrace"))
BTRACE = ProfileFormat(
    "btrace", lambda data: _is_map(data) and _is_btrace(data), partial(parse, form="btrace")
)
