"""Ask for the next step of a bisect when one of its jobs ended."""

from collections.abc import Sequence
from functools import partial

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from webapp.bisects.models import BisectJob
from webapp.jobs.listeners import on_job_ended

log = structlog.get_logger()


@on_job_ended
def advance_on_commit(jobs: Sequence[int]) -> None:
    """Queue a step of every bisect that asked for one of the jobs."""
    asked = BisectJob.objects.filter(job__in=jobs, settled=False)
    for bisect in asked.order_by().values_list("bisect_id", flat=True).distinct():
        transaction.on_commit(partial(_send, bisect))


def _send(bisect: int) -> None:
    from webapp.bisects.tasks import advance_bisect  # noqa: PLC0415 (tasks import services)

    try:
        advance_bisect.delay(bisect)
    except (OperationalError, RedisError) as error:
        # The job's end is stored; the sweep takes the step.
        log.warning("step not queued, the sweep will take it", bisect=bisect, error=str(error))
