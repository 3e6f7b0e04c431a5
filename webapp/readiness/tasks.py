"""The task that proves that messages are taken and executed, and a worker's heartbeats to itself,
which do not depend on beat.
"""

from typing import Any

import structlog
from celery import bootsteps, shared_task
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from webapp.readiness import heartbeats
from webapp.readiness.heartbeats import EVERY_SECONDS, QUEUES


@shared_task(ignore_result=True)
def heartbeat(part: str) -> None:
    """Each worker sends it to itself."""
    heartbeats.note(part)


log = structlog.get_logger()

LEFT_SECONDS = 3600
"""After which RabbitMQ removes the queue of a worker that is gone. Redis keeps no empty queue."""


def own_queue(node: str) -> Queue:
    """The queue from which the worker of this name alone takes."""
    name = f"alive-{node}"
    return Queue(name, Exchange("driftline"), name, durable=False, expires=LEFT_SECONDS)


class Pulse(bootsteps.StartStopStep):
    """Queues a heartbeat for each part that the worker is, in a queue of its own, at its start and
    then every EVERY_SECONDS. One of its processes has to take and execute it like any other task.
    """

    requires = ("celery.worker.consumer:Tasks",)

    def __init__(self, consumer: Any, **named: Any) -> None:
        super().__init__(consumer, **named)
        self._timer: Any = None
        self._queue = consumer.app.amqp.queues.select_add(own_queue(consumer.hostname)).name

    def start(self, consumer: Any) -> None:
        """Begin, also when the connection to the broker was made anew."""
        queues = set(consumer.app.amqp.queues.consume_from)
        parts = [part for part, queue in QUEUES.items() if queue in queues]
        send(parts, self._queue)
        self._timer = consumer.timer.call_repeatedly(EVERY_SECONDS, send, (parts, self._queue))

    def stop(self, consumer: Any) -> None:
        """End."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


def send(parts: list[str], queue: str) -> None:
    """Queue the heartbeat of each of ``parts``. What piles up would only repeat itself."""
    for part in parts:
        try:
            heartbeat.apply_async((part,), queue=queue, expires=EVERY_SECONDS)
        except (OperationalError, RedisError) as error:
            log.warning("heartbeat not queued, the next one will be", part=part, error=str(error))
