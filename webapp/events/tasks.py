"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.events.services.canaries import request_due


@shared_task(ignore_result=True)
def sweep_canaries() -> None:
    """Ask for the measurements that are due (beat runs this)."""
    request_due()
