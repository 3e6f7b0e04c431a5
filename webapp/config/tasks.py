"""What nobody needs any more, and removing it, a batch at a time: by the command `prune`, and by a
task that is safe to run twice.

A mail keeps its row, which is why nobody is notified of a thing twice, and loses its text. So does
a job's log, whose entries decide which reports came already. Deliveries about what happens once go.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from webapp.accounts.models import AuditEntry
from webapp.accounts.services import prune_entries
from webapp.jobs.models import Job, JobEvent, Worker
from webapp.outbox.models import HookDelivery, Mail
from webapp.results.models import Profile, RefusedReplacement
from webapp.results.services import recount_quotas

BATCH = 500
ENDED = Q(state__in=["sent", "dropped"])
HAPPENS_ONCE = Q(about__contains=":event:") | Q(kind="ping")
"""Such a thing is posted when it is read, and never again; what may be posted again is known by the
delivery that there was."""


@dataclass(frozen=True)
class Kind:
    """``days``: for how long it is kept, 0: for ever. ``found`` are the rows older than a moment;
    of these the ``emptied`` columns are, or they go."""

    name: str
    days: int
    found: Callable[[datetime], QuerySet[Any]]
    emptied: tuple[str, ...] = ()
    remove: Callable[[int, int], int] | None = None
    """What removes up to so many rows older than so many days, where rows have no other way out."""

    def due(self, now: datetime) -> QuerySet[Any]:
        """What is to go now."""
        return self.found(now - timedelta(days=self.days))

    def prune(self, now: datetime) -> int:
        """Remove a batch; its size."""
        if self.remove is not None:
            return self.remove(self.days, BATCH)
        with transaction.atomic():
            found = self.due(now).order_by("pk").select_for_update(of=("self",), skip_locked=True)
            chosen = list(found.values_list("pk", flat=True)[:BATCH])
            rows = self.due(now).model._base_manager.filter(pk__in=chosen)  # noqa: SLF001 (all rows)
            if self.emptied:
                rows.update(**dict.fromkeys(self.emptied, ""))
            else:
                rows.delete()
        return len(chosen)


def kinds() -> list[Kind]:
    """Everything that is kept for a time, those for ever left out."""
    found = [
        Kind("texts of mails", settings.KEEP_MAIL_TEXT_DAYS, _mails, ("text", "html")),
        Kind("webhook deliveries", settings.KEEP_DELIVERIES_DAYS, _deliveries),
        Kind("logs of jobs", settings.KEEP_JOB_LOGS_DAYS, _jobs, ("log",)),
        Kind("logs of tries of jobs", settings.KEEP_JOB_LOGS_DAYS, _job_events, ("log",)),
        Kind("profiles", settings.KEEP_PROFILES_DAYS, _profiles),
        Kind("refused replacements", settings.KEEP_REFUSALS_DAYS, _refusals),
        Kind("audit log", settings.KEEP_AUDIT_DAYS, _audit, remove=prune_entries),
        Kind("silent workers without a job", settings.KEEP_WORKERS_DAYS, _workers),
    ]
    return [Kind("sessions that ended", 0, _sessions), *(kind for kind in found if kind.days)]


def remove_old(now: datetime, *, seconds: float | None = None) -> Iterator[tuple[str, int]]:
    """Remove what is older than it is kept; how much of each kind.

    After ``seconds`` the rest is left for the next time.
    """
    until = float("inf") if seconds is None else time.monotonic() + seconds
    for kind in kinds():
        total = 0
        while time.monotonic() < until and (done := kind.prune(now)):
            total += done
        yield kind.name, total


def _sessions(before: datetime) -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=before)


def _mails(before: datetime) -> QuerySet[Any]:
    ended = Mail.objects.filter(ENDED, ended_at__lt=before)
    return ended.exclude(text="", html="")


def _deliveries(before: datetime) -> QuerySet[Any]:
    ended = ENDED | Q(state="dead")
    return HookDelivery.objects.filter(ended, HAPPENS_ONCE, ended_at__lt=before)


def _jobs(before: datetime) -> QuerySet[Any]:
    return Job.objects.filter(ended_at__lt=before).exclude(log="")


def _job_events(before: datetime) -> QuerySet[Any]:
    return JobEvent.objects.filter(job__ended_at__lt=before, at__lt=before).exclude(log="")


def _profiles(before: datetime) -> QuerySet[Any]:
    return Profile.objects.filter(received_at__lt=before)


def _refusals(before: datetime) -> QuerySet[Any]:
    return RefusedReplacement.objects.filter(last_at__lt=before)


def _audit(before: datetime) -> QuerySet[Any]:
    return AuditEntry.objects.filter(at__lt=before)


def _workers(before: datetime) -> QuerySet[Any]:
    """A worker names itself by its process, so there is a new one after each start. Those that had
    a job are named by it."""
    jobs = Job.objects.filter(worker=OuterRef("pk"))
    events = JobEvent.objects.filter(worker=OuterRef("pk"))
    return Worker.objects.filter(~Exists(jobs), ~Exists(events), last_seen_at__lt=before)


@shared_task(ignore_result=True)
def prune() -> None:
    """Remove what nobody needs any more, and count anew what labs have (beat runs this daily)."""
    for _ in remove_old(timezone.now(), seconds=settings.TASK_SECONDS / 2):
        pass
    recount_quotas()
