"""Scheduled backups: one a day into the directory of DRIFTLINE_BACKUPS."""

from datetime import datetime, timedelta
from pathlib import Path

import structlog
from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone

from webapp.launcher import StackError
from webapp.launcher.backups.restoring import rehearse
from webapp.launcher.backups.saving import save
from webapp.readiness.models import Backup
from webapp.readiness.services import heartbeats

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
