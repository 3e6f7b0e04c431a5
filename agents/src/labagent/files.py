"""Files: read within bounds, TOML read strictly, written so that they survive a power cut.

What cannot be read costs the run it belongs to, never the others: `UnreadFileError` names the file
and why.
"""

import contextlib
import difflib
import fcntl
import hashlib
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, BinaryIO

from labagent.errors import AgentError, SettingsError
from labagent.job import UnsafeJobError, check_word

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


TEMPORARY = ".writing-"


def write_durably(path: Path, content: bytes) -> None:
    """Write a file beside, sync it and rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename in `directory` last; systems that cannot open one sync it by themselves."""
    with contextlib.suppress(PermissionError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def try_lock(file: IO[Any]) -> bool:
    """Whether the lock of an open file is this process's now; it waits for no other."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_toml(path: Path) -> "Table":
    """The file's table; `SettingsError` with the line where it is no TOML."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"cannot read {path}: {reason}", "correct the file") from error
    return Table(content, path)


class Table:
    """A table whose keys are asked for one by one; `finish` refuses those nobody asked for."""

    def __init__(self, content: Mapping[str, Any], path: Path, where: str = "") -> None:
        self.path = path
        self._content = content
        self._where = where
        self._asked: set[str] = set()

    def key(self, name: str) -> str:
        """The whole name of a key, as messages show it."""
        return f"{self._where}.{name}" if self._where else name

    def error(self, name: str, problem: str, remedy: str) -> SettingsError:
        """An error about a key, with the file and the remedy."""
        return SettingsError(f"{self.path}: {self.key(name)} {problem}", remedy)

    def get(self, name: str) -> Any:
        """The value as it is, None: it is not given."""
        self._asked.add(name)
        return self._content.get(name)

    def text(self, name: str, default: str = "") -> str:
        """One line of text. Raises SettingsError for anything else."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self.error(name, f"is {value!r}", 'write one line of text: "…"')
        return value

    def need_text(self, name: str, remedy: str) -> str:
        """One line of text that has to be there. Raises SettingsError."""
        value = self.text(name)
        if not value:
            raise self.error(name, "is missing", remedy)
        return value

    def need_word(self, name: str, remedy: str) -> str:
        """A text that may stand in a command."""
        value = self.need_text(name, remedy)
        try:
            return check_word(value, self.key(name))
        except UnsafeJobError as error:
            raise SettingsError(f"{self.path}: {error.message}", error.remedy) from error

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, None: it is not given. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(name, f"is {value!r}", 'write a list of texts: ["…", "…"]')
        return tuple(value)

    def number(self, name: str, default: float, low: float = 0.0, high: float = 1e12) -> float:
        """A number from ``low`` to ``high``. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return default
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise self.error(name, f"is {value!r}", f"write a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(name, f"is {value!r}", "write true or false")
        return value

    def table(self, name: str) -> "Table | None":
        """A table inside, None: it is not given. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(name, f"is {value!r}", f"write a table: [{self.key(name)}]")
        return Table(value, self.path, self.key(name))

    def tables(self, name: str) -> "list[Table]":
        """A list of tables inside. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(name, "is no list of tables", f"write [[{self.key(name)}]]")
        keys = [f"{self.key(name)}[{number}]" for number in range(1, len(value) + 1)]
        return [Table(one, self.path, at) for one, at in zip(value, keys, strict=True)]

    def mapping(self, name: str) -> dict[str, Any]:
        """A table of which any key may be used."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(name, f"is {value!r}", f"write a table: [{self.key(name)}]")
        return value

    def finish(self) -> None:
        """Raises SettingsError for a key that nobody asked for."""
        for name in self._content.keys() - self._asked:
            near = difflib.get_close_matches(name, self._asked, 1)
            known = ", ".join(sorted(self._asked))
            remedy = f"do you mean {near[0]}?" if near else f"it may hold {known}"
            raise self.error(name, "is not known", remedy)
