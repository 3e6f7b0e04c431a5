"""The task that proves that messages are taken and executed."""

from celery import shared_task

from webapp.readiness import heartbeats


@shared_task(ignore_result=True)
def heartbeat(part: str) -> None:
    """Each worker sends it to itself (webapp.readiness.pulse)."""
    heartbeats.note(part)
