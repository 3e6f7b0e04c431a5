"""The task that proves that messages are taken and executed."""

from celery import shared_task

from webapp.readiness import noting


@shared_task(ignore_result=True)
def heartbeat(part: str) -> None:
    """Each worker sends it to the queues that it takes from (webapp.readiness.pulse)."""
    noting.note(part)
