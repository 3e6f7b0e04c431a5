"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.bisects import services
from webapp.bisects.models import Bisect
from webapp.bisects.services import automatic


@shared_task(ignore_result=True)
def advance_bisect(bisect: int) -> None:
    """Take the step that a job's end makes due."""
    services.advance_bisect(bisect=bisect)


@shared_task(ignore_result=True)
def sweep_bisects() -> None:
    """Begin what begins by itself, and find steps whose message was lost (beat runs this)."""
    automatic.confirm_candidates()
    automatic.start_automatic_bisects()
    for number in Bisect.objects.running().order_by("pk").values_list("pk", flat=True):
        # A step each: one bisect that cannot go on holds up none of the others.
        advance_bisect.delay(number)
