"""Folded stacks: `fork_exit;ithread_loop;ip_input 17`, outermost caller first."""

from __future__ import annotations

import re
from pathlib import Path

from labagent.readers.profiles.base import (
    COUNT,
    MOST_DEPTH,
    MOST_ROWS,
    Profile,
    ProfileFormat,
    UnreadProfileError,
    first_lines,
    frame_of,
    lines_of,
    too_many,
    warn_of_lines,
)

_LINE = re.compile(rf"(\S.*?) ({COUNT})\Z", re.ASCII)
_TWO_COUNTS = re.compile(r".* \d+\Z", re.ASCII)


def parse(path: Path, data: bytes) -> Profile:
    """The profile of folded stacks. Raises UnreadProfileError."""
    profile = Profile("folded", sections=[{}], expected=[None])
    *lines, rest = lines_of(data)
    odd, rows = [], 0
    for number, line in enumerate(lines, 1):
        if row := _LINE.match(line):
            rows += 1
            if rows > MOST_ROWS:
                raise too_many(path, number, f"{rows} stacks", MOST_ROWS)
            _take(path, profile, number, row)
        elif line.strip():
            odd.append(number)
    warn_of_lines(profile, odd)
    if rest:
        profile.truncated = True
        profile.warn(
            f"truncated: its last line is cut and left out, {profile.samples} samples are there"
        )
    return profile


def _take(path: Path, profile: Profile, number: int, row: re.Match[str]) -> None:
    if _TWO_COUNTS.match(row[1]):
        raise UnreadProfileError(
            path, number, "a stack has two counts", "send the two profiles that were compared"
        )
    names = row[1].split(";")
    if len(names) > MOST_DEPTH:
        raise too_many(path, number, f"{len(names)} levels of callers", MOST_DEPTH)
    if int(row[2]):
        profile.add(tuple(frame_of(name) for name in names), int(row[2]))


def claims(data: bytes) -> bool:
    """Whether most of the first lines are stacks, one of them with a caller."""
    lines = first_lines(data)
    stacks = [row for line in lines if (row := _LINE.match(line))]
    return 2 * len(stacks) > len(lines) and any(";" in row[1] for row in stacks)


FORMAT = ProfileFormat("folded", claims, parse)
