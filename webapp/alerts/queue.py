"""Have the events of alerts read soon; those whose message is lost are found by a sweep."""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

TASK = "webapp.notifications.tasks.notify"
"""By its name: notifications stand above alerts and read their events."""

log = structlog.get_logger()


def events_on_commit() -> None:
    """Have new events read when the present transaction is committed."""
    transaction.on_commit(_send)


def _send() -> None:
    try:
        current_app.send_task(TASK)
    except (OperationalError, RedisError) as error:
        log.warning("notification not queued, the sweep will find it", error=str(error))
