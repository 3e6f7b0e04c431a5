"""Profiles: one table of all formats.

A format is recognised by a file's content, whatever its name. To add one, add a `ProfileFormat` and
name it here; the first one that claims a file reads it.
"""

from pathlib import Path

from labagent.files import MAX_LOG_BYTES, read_file, read_head
from labagent.readers.profiles import graph, pprof, stacks
from labagent.readers.profiles.base import (
    Profile,
    ProfileFormat,
    UnreadProfileError,
    check_bounds,
    too_many,
)
from labagent.readers.profiles.graph import perl_folded

FORMATS: tuple[ProfileFormat, ...] = (
    pprof.FORMAT,
    graph.GRAPH,
    stacks.BTRACE,
    stacks.BPFTRACE,
    stacks.PERF,
    graph.FOLDED,
)

MOST_LINES = 1_000_000
HEAD_BYTES = 16 * 1024
"""Bytes by which a format is recognised."""

PICTURE = "a picture", "send the graph or folded file it was made from"
BINARY = "binary samples without symbols", "pmcstat -R FILE -z 100 -G FILE.graph"
"""What `pmcstat -O` writes, and how a profile is made of it where the kernel's files are."""

_PMCLOG_MAGIC = 0xEE

__all__ = [
    "FORMATS",
    "Profile",
    "ProfileFormat",
    "UnreadProfileError",
    "format_of",
    "perl_folded",
    "read_profile",
    "refusal_of",
]


def read_profile(path: Path, limit: int = MAX_LOG_BYTES) -> Profile:
    """The profile in a file of at most ``limit`` bytes, in any format of the table.

    Raises UnreadProfileError (an UnreadFileError) for what is none or beyond a bound.
    """
    data = read_file(path, limit)
    form = _format_of(path, data)
    if form is not pprof.FORMAT and (lines := data.count(b"\n")) > MOST_LINES:
        raise too_many(path, 0, f"{lines} lines", MOST_LINES)
    profile = check_bounds(path, form.parse(path, data))
    profile.name = path.name
    return profile


def format_of(path: Path) -> ProfileFormat | None:
    """The format of a file by its first bytes, None for any other file.

    Raises UnreadFileError where it cannot be read.
    """
    head = read_head(path, HEAD_BYTES)
    return next((form for form in FORMATS if not refusal_of(head) and form.claims(head)), None)


def refusal_of(data: bytes) -> tuple[str, str] | None:
    """What a file is that was made from a profile or is the raw form of one, and the remedy."""
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<?xml", b"<svg", b"<!doctype svg", b"<!--", b"\x89png")):
        return PICTURE
    if len(data) >= 4 and data[3] == _PMCLOG_MAGIC:
        return BINARY
    return None


def _format_of(path: Path, data: bytes) -> ProfileFormat:
    if not data:
        raise UnreadProfileError(path, 0, "is empty", "take the profile again")
    if refused := refusal_of(data):
        raise UnreadProfileError(path, 0, f"is {refused[0]}", refused[1])
    for form in FORMATS:
        if form.claims(data):
            return form
    names = ", ".join(form.name for form in FORMATS)
    raise UnreadProfileError(path, 0, "is no profile", f"what is read: {names}")
