"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.outbox import queue, services

MOST_BATCHES, MOST_DELIVERIES = 20, 20
"""Of one task, which has a time limit; the sweep goes on with the rest."""


@shared_task(ignore_result=True)
def send_mails() -> None:
    """Send the mails that are due."""
    queue.begins("mails")
    for _ in range(MOST_BATCHES):
        if not services.send_due_mails():
            return


@shared_task(ignore_result=True)
def sweep_mails() -> None:
    """Send what became due, and what a lost message or a killed worker left (beat runs this)."""
    send_mails()


@shared_task(ignore_result=True)
def send_deliveries() -> None:
    """Send the deliveries that are due."""
    queue.begins("deliveries")
    for _ in range(MOST_DELIVERIES):
        if not services.send_due_delivery():
            return


@shared_task(ignore_result=True)
def sweep_deliveries() -> None:
    """Send what became due, and what a lost message or a killed worker left (beat runs this)."""
    send_deliveries()
