"""What runs on a database that is exchanged: it stops meanwhile, and forgets what it cached."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from django.conf import settings
from kombu.exceptions import OperationalError

from webapp.config import instance
from webapp.config.celery import app
from webapp.launcher.errors import SupervisorLost
from webapp.launcher.supervision import Supervisor


@contextmanager
def paused(state: Path, *, ours: bool) -> Iterator[Callable[[], None]]:
    """A function that stops the programs of the instance in `state`, which start again when the
    block ends, with the key that is stored then. Programs elsewhere lose their connections and
    make new ones.
    """
    supervisor = Supervisor(state, Path(instance.read(state).sockets))
    stopped: list[str] = []

    def pause() -> None:
        with contextlib.suppress(SupervisorLost):  # PostgreSQL alone may run
            stopped.extend(supervisor.pause() if ours else ())

    try:
        yield pause
    finally:
        for name in stopped:
            supervisor.launch(name)


def forget_in_redis() -> list[str]:
    """Remove what is cached and queued: all that is to be done is stored. Warnings, if any."""
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5)
        prefix = settings.CACHES["default"]["KEY_PREFIX"]
        for key in client.scan_iter(match=f"{prefix}:*", count=1000):
            client.delete(key)
        app.control.purge()
    except (redis.RedisError, OperationalError) as error:
        return [f"Redis does not answer ({error}); what it holds of before runs out by itself."]
    return []
