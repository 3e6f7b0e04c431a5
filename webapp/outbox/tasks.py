"""Tasks: thin, safe to run twice. Each kind is sent by one process at a time."""

from collections.abc import Callable

from celery import shared_task
from django.conf import settings

from webapp.outbox import services
from webapp.outbox.deadlines import Deadline
from webapp.outbox.models import HookDelivery, Mail
from webapp.outbox.services import delivering, items, mailing
from webapp.outbox.services.items import singleton_lock
from webapp.queueing import Task, begins

SOFT, HARD = settings.SENDING_SOFT_LIMIT, settings.SENDING_TIME_LIMIT


@shared_task(ignore_result=True, soft_time_limit=SOFT, time_limit=HARD)
def send_mails() -> None:
    """Send the mails that are due."""
    begins(Task.SEND_MAILS)
    _send("mails", _send_mails, mailing.are_mails_due)


@shared_task(ignore_result=True, soft_time_limit=SOFT, time_limit=HARD)
def sweep_mails() -> None:
    """Send what became due, and what a lost message or a killed worker left (beat runs this)."""
    items.correct_times(Mail.objects.all())
    items.correct_pauses()
    send_mails()


@shared_task(ignore_result=True, soft_time_limit=SOFT, time_limit=HARD)
def send_deliveries() -> None:
    """Send the deliveries that are due."""
    begins(Task.SEND_DELIVERIES)
    _send("deliveries", _send_deliveries, delivering.are_deliveries_due)


@shared_task(ignore_result=True, soft_time_limit=SOFT, time_limit=HARD)
def sweep_deliveries() -> None:
    """Send what became due, and what a lost message or a killed worker left (beat runs this)."""
    items.correct_times(HookDelivery.objects.all())
    items.correct_pauses()
    send_deliveries()


def _send(what: str, send: Callable[[Deadline], None], is_due: Callable[[], bool]) -> None:
    """Who finds another process at it leaves the rest to that one, which therefore looks once more
    when it has let go: something may have become due in between.
    """
    until = Deadline(settings.SENDING_SECONDS)
    is_left = True
    while is_left and not until.is_over:
        with singleton_lock(what) as is_mine:
            if not is_mine:
                return
            send(until)
        is_left = is_due()


def _send_mails(until: Deadline) -> None:
    while not until.is_over and services.send_due_mails(until=until):
        pass


def _send_deliveries(until: Deadline) -> None:
    delivering.send_due_deliveries(seconds=until.left())
