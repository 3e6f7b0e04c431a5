"""Ask for a task when the present transaction is committed, whatever becomes of the broker.

Tasks go by their names, so that a room can ask for one of a room above. What each of them is to do
is also found by a sweep: a message that is lost costs seconds, never work.
"""

from enum import StrEnum
from functools import partial

import structlog
from celery import current_app
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError


class Task(StrEnum):
    """The tasks that are asked for on commit, by the names under which Celery knows them."""

    ANALYSE = "webapp.alerts.tasks.analyse_series"
    ESTIMATE_POSITIONS = "webapp.merging.tasks.estimate_positions"
    ANALYSE_STALE = "webapp.alerts.tasks.analyse_stale_series"
    NOTIFY = "webapp.notifications.tasks.notify"
    ADVANCE_BISECT = "webapp.bisects.tasks.advance_bisect"
    SEND_MAILS = "webapp.outbox.tasks.send_mails"
    SEND_DELIVERIES = "webapp.outbox.tasks.send_deliveries"


MARKED = {Task.ANALYSE, Task.ESTIMATE_POSITIONS, Task.SEND_MAILS, Task.SEND_DELIVERIES}
"""Many uploads a second need one message, for these take everything that waits. A mark in Redis
stands for the message that is on its way; the task calls `begins` before it looks."""

MARK_SECONDS = 10
log = structlog.get_logger()


def queue_on_commit(task: Task, *arguments: int) -> None:
    """Queue ``task`` with ``arguments`` when the present transaction is committed."""
    transaction.on_commit(partial(_send, task, arguments))


def begins(task: Task) -> None:
    """From here on new work needs a new message, for this run of ``task`` may have passed it."""
    try:
        cache.delete(_mark(task))
    except RedisError as error:
        log.warning("mark of a queued task not removed, it runs out", task=task, error=str(error))


def _send(task: Task, arguments: tuple[int, ...]) -> None:
    try:
        if task not in MARKED or cache.add(_mark(task), 1, MARK_SECONDS):
            current_app.send_task(task.value, arguments)
    except (OperationalError, RedisError) as error:
        # What the task is to do is stored.
        log.warning("task not queued, a sweep finds its work", task=task.value, error=str(error))


def _mark(task: Task) -> str:
    return f"queued:{task}"
