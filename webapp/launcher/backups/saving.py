"""Write a backup: whole or not at all, and never over another file."""

import errno
import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO

import psycopg

from webapp.launcher.backups import archive

DUMPING = ("--format=custom", "--no-owner", "--no-privileges", "--no-comments")


def save(database: archive.Database, secret_key: str, path: Path) -> None:
    """Write everything of the instance to `path`. Raises `BackupError`.

    What runs meanwhile is in it as of one moment: pg_dump reads one snapshot of the database.
    """
    with archive.connect(database) as connection:
        major, migrations = archive.major_of(connection), migrations_of(connection)
    manifest = archive.Manifest(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        driftline=our_version(),
        postgres=major,
        migrations=migrations,
    )
    with (
        _new_file(path) as file,
        archive.client("pg_dump", database, major, *DUMPING, stdout=subprocess.PIPE) as dumping,
    ):
        writer = archive.Writer(file)
        writer.add(archive.DUMP, _chunks(dumping))
        if dumping.wait() == 0:
            writer.add(archive.KEY, iter([secret_key.encode()]))
            writer.end(manifest)


def migrations_of(connection: psycopg.Connection[tuple[object, ...]]) -> dict[str, list[str]]:
    """By app, what was applied to a database. Raises `BackupError` where it is not Driftline's."""
    try:
        rows = connection.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
    except psycopg.errors.UndefinedTable as error:
        raise archive.BackupError("This database holds nothing of Driftline.") from error
    found: dict[str, list[str]] = {}
    for app, name in rows:
        found.setdefault(str(app), []).append(str(name))
    return found


def our_version() -> str:
    """That of the installed distribution; an image has the code alone."""
    try:
        return version("driftline")
    except PackageNotFoundError:
        return "unknown"


def _chunks(process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    assert process.stdout is not None
    while chunk := process.stdout.read(archive.CHUNK):
        yield chunk


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that only its owner may read, which gets its name when the block ends well.

    What a killed backup left under the other name is written over by the next one.
    """
    _require_absent(path)
    draft = path.with_name(f"{path.name}.part")
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b") as file:
            _take(file, draft)
            try:
                yield file
                _publish(draft, path)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise archive.BackupError(_sentence(error, path)) from error


def _take(file: BinaryIO, draft: Path) -> None:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise archive.BackupError(f"{draft} is another's; remove it, or choose another name.")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise archive.BackupError(f"Another backup is being written to {draft}.") from None
    os.fchmod(file.fileno(), 0o600)
    os.ftruncate(file.fileno(), 0)


def _publish(draft: Path, path: Path) -> None:
    """Give it its name, unless somebody else has taken that meanwhile."""
    try:
        os.link(draft, path)
    except FileExistsError:
        _require_absent(path)
        raise
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        _require_absent(path)  # a file system without links
        draft.rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _require_absent(path: Path) -> None:
    if os.path.lexists(path):
        raise archive.BackupError(
            f"{path} is there already: choose another name, or remove it first."
        )


def _sentence(error: OSError, path: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"There is no room for a backup at {path} ({error.strerror}). Nothing is left there."
    return f"{path} cannot be written: {error.strerror}"
