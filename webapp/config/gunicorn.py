"""Gunicorn's configuration: `gunicorn -c python:webapp.config.gunicorn webapp.config.wsgi`."""

import gc
import os
import sys
from typing import Any

from webapp.config import settings

BODIES = 16
"""Threads for large bodies that come in (`webapp.config.admission`)."""

bind = settings.BIND
worker_class = "gthread"
workers = settings.WEB_WORKERS
# WEB_THREADS requests work at once; the threads of the others wait (`webapp.config.admission`).
threads = (
    settings.WEB_THREADS
    + settings.WAITING_POLLS
    + settings.LARGE_BODIES
    + 2 * settings.REQUESTS_PER_ADDRESS
)
worker_connections = 1000 + threads
# There are more threads than work at once, and each would keep a connection of its own.
settings.use_web_role()
if not settings.DATABASE_POOL:
    settings.use_pool(settings.WEB_THREADS)
# No preloading: each worker opens its own database pool after the fork.
preload_app = False
timeout = 60
graceful_timeout = 20
# X-Forwarded-* of strangers must not choose the scheme.
forwarded_allow_ips = "*" if settings.PROXIES else ""
logconfig_dict = settings.LOGGING
control_socket_disable = True
# Read when prometheus_client is imported, in each process
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIRECTORY)
settings.METRICS_SHARED = True

SWITCH_SECONDS = 0.0005
"""How long a thread may compute while others want to. After each of its fifteen statements an
upload waits for its turn: Python's 5 ms, times the pages being drawn, would be most of its time."""


def on_starting(_server: Any) -> None:
    """Forget what the processes of an earlier start counted."""
    directory = settings.METRICS_DIRECTORY
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in directory.glob("*.db"):
            path.unlink()
    except OSError as error:
        raise SystemExit(
            f"PROMETHEUS_MULTIPROC_DIR={directory} cannot be used ({error.strerror}); name a "
            "directory that the web server may write to."
        ) from error


def child_exit(_server: Any, worker: Any) -> None:
    """A process that ended has no request in progress. What it counted stays."""
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 (as below)

    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_worker_init(worker: Any) -> None:
    """Let waiting polls go when the process is to end, and leave their turns to others."""
    # Both need Django, set up only now.
    from webapp.config.middleware import note_pool  # noqa: PLC0415
    from webapp.jobs.waiting_polls import polls  # noqa: PLC0415

    gc.set_threshold(settings.NEW_OBJECTS, *gc.get_threshold()[1:])
    sys.setswitchinterval(SWITCH_SECONDS)
    polls.closes = lambda: not worker.alive
    polls.resting = worker.wsgi.rested
    settings.limit_statements(
        seconds=settings.STATEMENT_SECONDS, idle_seconds=settings.IDLE_TRANSACTION_SECONDS
    )
    note_pool()  # also of a process that nobody asks anything; opens the pool with these limits


def worker_exit(_server: Any, _worker: Any) -> None:
    """Close the database pool: left to the interpreter's end, its threads delay that."""
    from django.db import connections  # noqa: PLC0415 (as above)

    for connection in connections.all():
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL only
