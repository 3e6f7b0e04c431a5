"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.outbox import queue


@shared_task(ignore_result=True)
def send_mails() -> None:
    """Send the mails that are due."""
    queue.begins("mails")


@shared_task(ignore_result=True)
def send_deliveries() -> None:
    """Send the deliveries that are due."""
    queue.begins("deliveries")
