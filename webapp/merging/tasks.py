"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.merging.services import settle_counts
from webapp.queueing import Task, begins


@shared_task(ignore_result=True)
def estimate_positions() -> None:
    """Merge and place what counts all commits, as far as its trees allow."""
    begins(Task.ESTIMATE_POSITIONS)
    settle_counts()


@shared_task(ignore_result=True)
def sweep_estimates() -> None:
    """Find what a lost message was about (beat runs this)."""
    estimate_positions()
