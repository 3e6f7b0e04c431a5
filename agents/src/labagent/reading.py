"""Files of others, read within bounds: regular ones only, none larger than any real one is.

What cannot be read costs the run it belongs to, never the others: `UnreadFileError` says which file
and why.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from labagent.errors import AgentError

MIB = 1024 * 1024

MAX_LOG_BYTES = 16 * MIB
"""A log: at one line of 120 bytes a second, more than a day."""

MAX_TEXT_BYTES = MIB
"""An `.info` or a value file; real ones have less than 1 KiB."""


class UnreadFileError(AgentError):
    """A file that is not read, and why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path.name}: {reason}")
        self.path = path
        self.reason = reason


def read_file(path: Path, limit: int = MAX_LOG_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; `UnreadFileError` for any other."""
    try:
        with _open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(limit + 1) if size <= limit else b""
    except OSError as error:
        raise UnreadFileError(path, f"cannot be read: {error.strerror}") from error
    if max(size, len(data)) > limit:
        found, most = size_text(max(size, len(data))), size_text(limit)
        raise UnreadFileError(path, f"has {found}, more than the {most} that are read")
    return data


def read_head(path: Path, length: int) -> bytes:
    """The first `length` bytes of a regular file of any size."""
    try:
        with _open_regular(path) as file:
            return file.read(length)
    except OSError as error:
        raise UnreadFileError(path, f"cannot be read: {error.strerror}") from error


def read_tail(path: Path, length: int) -> bytes:
    """The last `length` bytes of a regular file of any size."""
    try:
        with _open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - length))
            return file.read(length)
    except OSError as error:
        raise UnreadFileError(path, f"cannot be read: {error.strerror}") from error


def read_text(path: Path, limit: int = MAX_TEXT_BYTES) -> str:
    """The text of a file; bytes that are no UTF-8 become U+FFFD."""
    return read_file(path, limit).decode("utf-8", "replace")


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content in hexadecimal. Raises what ``read_file`` raises."""
    return hashlib.sha256(read_file(path)).hexdigest()


def numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a file from 1, without their ends; they are never all in memory at once."""
    for number, line in enumerate(BytesIO(data), 1):
        yield number, line.rstrip(b"\r\n")


def _open_regular(path: Path) -> BinaryIO:
    """Nothing that is no file is opened: a FIFO would wait, a device or a socket do harm."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnreadFileError(path, "is no regular file")
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # it was replaced meanwhile
        file.close()
        raise UnreadFileError(path, "is no regular file")
    return file


def size_text(size: int) -> str:
    """A size as people read it: `6.0 GiB`."""
    for unit, name in ((1024**3, "GiB"), (MIB, "MiB"), (1024, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
