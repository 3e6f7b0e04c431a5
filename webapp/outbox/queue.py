"""Ask for what waits to be sent. A lost message costs seconds: the sweep sends what is due."""

from typing import TYPE_CHECKING

import structlog
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

if TYPE_CHECKING:
    from celery import Task

MARK_SECONDS = 10
log = structlog.get_logger()


def mails_on_commit() -> None:
    """Queue the sending of due mails when the present transaction is committed."""
    transaction.on_commit(_send_mails)


def deliveries_on_commit() -> None:
    """Queue the sending of due deliveries when the present transaction is committed."""
    transaction.on_commit(_send_deliveries)


def begins(name: str) -> None:
    """From here on a new parcel needs a new message, for this sending may have passed it."""
    try:
        cache.delete(_mark(name))
    except RedisError as error:
        log.warning("mark of the queued sending not removed, it runs out", error=str(error))


def _send_mails() -> None:
    from webapp.outbox.tasks import send_mails  # noqa: PLC0415 (tasks import services)

    _send_once("mails", send_mails)


def _send_deliveries() -> None:
    from webapp.outbox.tasks import send_deliveries  # noqa: PLC0415 (tasks import services)

    _send_once("deliveries", send_deliveries)


def _send_once(name: str, task: "Task[[], None]") -> None:
    try:
        if cache.add(_mark(name), 1, MARK_SECONDS):
            task.delay()
    except (OperationalError, RedisError) as error:
        log.warning("sending not queued, the sweep will find it", what=name, error=str(error))


def _mark(name: str) -> str:
    return f"outbox-queued-{name}"
