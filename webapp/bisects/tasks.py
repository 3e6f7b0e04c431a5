"""Tasks: thin, safe to run twice. A bisect takes its next step when one of its jobs ended."""

from typing import Any

from celery import shared_task
from django.dispatch import receiver

from webapp.bisects import services
from webapp.bisects.models import Bisect, BisectJob
from webapp.bisects.services import automatic
from webapp.jobs.models import Job
from webapp.jobs.services import job_ended
from webapp.queueing import Task, queue_on_commit


@shared_task(ignore_result=True)
def advance_bisect(bisect: int) -> None:
    """Take the step that a job's end makes due."""
    services.advance_bisect(bisect=bisect)


@shared_task(ignore_result=True)
def sweep_bisects() -> None:
    """Begin what begins by itself, and find steps whose message was lost (beat runs this)."""
    automatic.confirm_candidates()
    automatic.start_automatic_bisects()
    for number in Bisect.objects.running().order_by("pk").values_list("pk", flat=True):
        # A step each: one bisect that cannot go on holds up none of the others.
        advance_bisect.delay(number)


@receiver(job_ended, dispatch_uid="bisects.advance_on_commit")
def advance_on_commit(job: Job, **_: Any) -> None:
    """Queue a step of every bisect that asked for ``job``."""
    asked = BisectJob.objects.filter(job=job, settled=False)
    for bisect in asked.order_by().values_list("bisect_id", flat=True).distinct():
        queue_on_commit(Task.ADVANCE_BISECT, bisect)
