"""The Celery application: `celery -A webapp.config.celery worker`."""

import gc
import os
from typing import Any

import psycopg
import structlog
from celery import Celery
from celery.signals import setup_logging, worker_init, worker_shutdown
from celery.utils.nodenames import nodesplit

from webapp.readiness import heartbeats
from webapp.readiness.tasks import Pulse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.config.settings")

app = Celery("driftline")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(Pulse)
log = structlog.get_logger()


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep Celery from replacing the handlers that Django's settings installed."""


YIELD = 5
"""How much nicer the workers are than the web server (`nice`): a third of its share of a processor
that both want. Whoever uploads or reads waits for an answer; an analysis may wait a second."""


@worker_init.connect
def yield_to_the_web_server(**_: Any) -> None:
    """Before the processes of the worker are forked."""
    os.nice(YIELD)


@worker_init.connect
def look_for_cycles_rarely(**_: Any) -> None:
    """Before the processes of the worker are forked."""
    from webapp.config import settings  # noqa: PLC0415 (reads the environment)

    gc.set_threshold(settings.NEW_OBJECTS, *gc.get_threshold()[1:])


@worker_init.connect
def take_the_name_of_the_host(sender: Any, **_: Any) -> None:
    """Before the processes of the worker are forked: `name@host`."""
    if sender is not None:
        heartbeats.use_host(nodesplit(sender.hostname)[1])


@worker_shutdown.connect
def forget_heartbeats(sender: Any, **_: Any) -> None:
    """After the last task, so that nobody misses a worker that was stopped; one that was killed is
    reported as silent."""
    from webapp.config import settings  # noqa: PLC0415 (reads the environment)

    queues = sender.app.amqp.queues.consume_from
    parts = [part for part, queue in heartbeats.QUEUES.items() if queue in queues]
    try:
        heartbeats.forget(settings.DATABASES["default"], parts)
    except psycopg.Error as error:
        log.warning("heartbeats not removed, the worker will count as silent", error=str(error))


@worker_init.connect
def limit_statements(**_: Any) -> None:
    """Before the processes of the worker are forked: a task computes inside its transaction, so
    the database waits for it as long as a task may run."""
    from webapp.config import settings  # noqa: PLC0415 (reads the environment)

    settings.limit_statements(
        seconds=settings.WORKER_STATEMENT_SECONDS,
        idle_seconds=max(settings.IDLE_TRANSACTION_SECONDS, settings.TASK_SECONDS)
        if settings.IDLE_TRANSACTION_SECONDS
        else 0,
    )
