"""Write a backup: whole or not at all, and never over another file; one a day into the directory of
DRIFTLINE_BACKUPS.
"""

import errno
import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO

import psycopg
import structlog
from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone

from webapp.launcher import StackError, archive
from webapp.launcher.restoring import rehearse
from webapp.readiness.models import Backup
from webapp.readiness.services import heartbeats

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


EVERY = timedelta(hours=23)
"""Less than a day, so that backups do not wander through it: the sweep looks each hour."""

REHEARSE_EVERY = timedelta(days=30)
LONGEST_SECONDS = 6 * 3600
TRY = "SELECT pg_try_advisory_lock(hashtextextended('driftline-backup', 0))"

log = structlog.get_logger()


# Its message is acknowledged first: it would come back while a large backup is written.
@shared_task(
    ignore_result=True,
    acks_late=False,
    soft_time_limit=LONGEST_SECONDS,
    time_limit=LONGEST_SECONDS + 60,
)
def back_up() -> None:
    """Make the backup that is due, and remove those that are old (beat runs this)."""
    if not settings.BACKUPS:
        return
    # Of its own, because a long transaction would hold vacuum up; one worker makes a backup.
    with heartbeats.connect(connection.settings_dict) as own:
        row = own.execute(TRY).fetchone()
        if row is not None and row[0]:
            make_due_backup(Path(settings.BACKUPS), timezone.now())


def make_due_backup(directory: Path, now: datetime) -> None:
    """Write a backup into ``directory`` unless the last one is younger than a day."""
    if Backup.objects.filter(failure="", at__gt=now - EVERY).exists():
        return
    # What a killed worker left has the time of its start in its name; one worker makes a backup.
    for draft in directory.glob("driftline-*.backup.part"):
        draft.unlink(missing_ok=True)
    path = directory / f"driftline-{now:%Y-%m-%dT%H%M%SZ}.backup"
    try:
        save(connection.settings_dict, settings.SECRET_KEY, path)
    except StackError as error:
        log.exception("the backup failed", file=str(path))
        Backup.objects.create(at=now, file=path.name, failure=str(error))
        return
    made = Backup.objects.create(at=now, file=path.name, bytes=path.stat().st_size)
    _remove_old(directory, now)
    if not Backup.objects.filter(rehearsed_at__gt=now - REHEARSE_EVERY).exists():
        _rehearse(made, path)


def _rehearse(backup: Backup, path: Path) -> None:
    """See that it can be restored. What fails is that of the backup: `/status/` shows it."""
    try:
        rehearse(connection.settings_dict, path)
    except StackError as error:
        log.exception("the backup could not be restored", file=str(path))
        backup.failure = f"restoring it was rehearsed: {error}"
    else:
        backup.rehearsed_at = timezone.now()
    backup.save()


def _remove_old(directory: Path, now: datetime) -> None:
    """Called after a good one: the last good backup is never removed."""
    if not settings.KEEP_BACKUPS_DAYS:
        return
    old = Backup.objects.filter(at__lt=now - timedelta(days=settings.KEEP_BACKUPS_DAYS))
    for each in old:
        (directory / each.file).unlink(missing_ok=True)
        each.delete()
