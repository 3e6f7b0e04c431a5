"""The heartbeats of a worker, which it sends to itself: they do not depend on beat."""

from typing import Any

import structlog
from celery import bootsteps
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from webapp.readiness.heartbeats import EVERY_SECONDS, QUEUES
from webapp.readiness.tasks import heartbeat

log = structlog.get_logger()


class Pulse(bootsteps.StartStopStep):
    """Queues a heartbeat in each queue that the worker takes from, at its start and then every
    EVERY_SECONDS. One of the worker's processes has to take and execute it like any other task.
    """

    requires = ("celery.worker.consumer:Tasks",)

    def __init__(self, consumer: Any, **named: Any) -> None:
        super().__init__(consumer, **named)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Begin, also when the connection to the broker was made anew."""
        queues = set(consumer.app.amqp.queues.consume_from)
        parts = [part for part, queue in QUEUES.items() if queue in queues]
        send(parts)
        self._timer = consumer.timer.call_repeatedly(EVERY_SECONDS, send, (parts,))

    def stop(self, consumer: Any) -> None:
        """End."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


def send(parts: list[str]) -> None:
    """Queue the heartbeat of each of ``parts``. What piles up would only repeat itself."""
    for part in parts:
        try:
            heartbeat.apply_async((part,), queue=QUEUES[part], expires=EVERY_SECONDS)
        except (OperationalError, RedisError) as error:
            log.warning("heartbeat not queued, the next one will be", part=part, error=str(error))
