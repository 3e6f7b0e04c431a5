"""Ask for an analysis, at most once at a time.

Many uploads a second need one message, not one each: the worker takes all dirty series anyway.
The mark in Redis only saves messages; if it or a message is lost, the sweep finds the series.
"""

import structlog
from celery import current_app
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

TASK = "webapp.alerts.tasks.analyse_series"
"""By its name: alerts, which group what an analysis finds, stand above."""

MARK = "analysis-queued"
MARK_SECONDS = 10
log = structlog.get_logger()


def analysis_on_commit() -> None:
    """Queue an analysis of everything dirty when the present transaction is committed."""
    transaction.on_commit(_send_once)


def _send_once() -> None:
    try:
        if cache.add(MARK, 1, MARK_SECONDS):
            current_app.send_task(TASK)
    except (OperationalError, RedisError) as error:
        # The runs are stored and their series marked dirty; the sweep analyses them.
        log.warning("analysis not queued, the sweep will find it", error=str(error))


def analysis_begins() -> None:
    """From here on a new upload needs a new message, for this analysis may have passed it."""
    try:
        cache.delete(MARK)
    except RedisError as error:
        log.warning("mark of the queued analysis not removed, it runs out", error=str(error))
