"""Take the next step of a bisect when one of its jobs ended."""

from typing import Any

from django.dispatch import receiver

from webapp.bisects.models import BisectJob
from webapp.jobs.models import Job
from webapp.jobs.services import job_ended
from webapp.queueing import Task, queue_on_commit


@receiver(job_ended, dispatch_uid="bisects.advance_on_commit")
def advance_on_commit(job: Job, **_: Any) -> None:
    """Queue a step of every bisect that asked for ``job``."""
    asked = BisectJob.objects.filter(job=job, settled=False)
    for bisect in asked.order_by().values_list("bisect_id", flat=True).distinct():
        queue_on_commit(Task.ADVANCE_BISECT, bisect)
