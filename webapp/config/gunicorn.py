"""Gunicorn's configuration: `gunicorn -c python:webapp.config.gunicorn webapp.config.wsgi`."""

from typing import Any

from webapp.config import settings

bind = settings.BIND
worker_class = "gthread"
workers = settings.WEB_WORKERS
# A poll that waits for a job sleeps in its thread; there are always WEB_THREADS for the others.
threads = settings.WEB_THREADS + settings.HELD_POLLS
# There are more threads than work at once, and each would keep a connection of its own.
if not settings.DATABASE_POOL:
    settings.use_pool(settings.WEB_THREADS)
# No preloading: each worker opens its own database pool after the fork.
preload_app = False
# Longer than the idle time after which common proxies (60 s) drop an upstream connection.
keepalive = 65
timeout = 60
graceful_timeout = 20
# X-Forwarded-* of strangers must not choose the scheme.
forwarded_allow_ips = "*" if settings.TRUSTED_PROXIES else ""
logconfig_dict = settings.LOGGING
control_socket_disable = True


def post_worker_init(worker: Any) -> None:
    """Let waiting polls go when the process is told to end, instead of after their minute."""
    from webapp.jobs.holding import room  # noqa: PLC0415 (needs Django, set up only now)

    room.closes = lambda: not worker.alive


def pre_request(worker: Any, request: Any) -> None:
    """Close a connection after its request when this process has more to do than its share.

    Processes take new connections as they come, and keep them: one process may hold those of all
    the busy agents while another idles. The next request comes over a new connection, which an
    idle process is the quicker to take.
    """
    busy = worker.nr_conns - len(worker.keepalived_conns) - _held_polls()
    if busy > settings.WEB_THREADS // 2:
        request.force_close()


def _held_polls() -> int:
    from webapp.jobs.holding import room  # noqa: PLC0415 (as above)

    return len(room)
