"""The task that proves that messages are sent, taken and executed."""

from celery import shared_task

from webapp.readiness import noting
from webapp.readiness.heartbeats import BEAT


@shared_task(ignore_result=True)
def heartbeat(part: str, *, by_beat: bool = False) -> None:
    """Beat sends it to each queue; so does who asks whether all is well and finds old ones."""
    noting.note(part, *([BEAT] if by_beat else []))
