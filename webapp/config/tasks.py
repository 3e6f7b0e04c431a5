"""Tasks: thin, safe to run twice."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from webapp.config import pruning
from webapp.results.services import recount_quotas


@shared_task(ignore_result=True)
def prune() -> None:
    """Remove what nobody needs any more, and count anew what labs have (beat runs this daily)."""
    for _ in pruning.prune(timezone.now(), seconds=settings.TASK_SECONDS / 2):
        pass
    recount_quotas()
