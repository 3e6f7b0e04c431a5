"""Is it alive, is it ready, and what does it do: for supervisors and for Prometheus.

They do not sign in, so these stay open on a private instance: they name parts and count, and show
nothing of what was measured.
"""

from collections.abc import Callable

import prometheus_client
from celery import current_app
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from webapp.results.models import Series

WORKER_ANSWERS_WITHIN_SECONDS = 1.0
WORKER_SEEN_SECONDS = 15
WORKER_SEEN = "worker-seen"
DIRTY = prometheus_client.Gauge(
    "driftline_series_dirty", "Series whose points changed since they were analysed"
)
OLDEST = prometheus_client.Gauge(
    "driftline_series_dirty_oldest_seconds", "Age of the longest wait for an analysis"
)


@login_not_required
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@login_not_required
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Database, broker and a worker can be reached; 503 says which can't, and why."""
    parts = {name: _state(check) for name, check in CHECKS.items()}
    ready = all(state == "ok" for state in parts.values())
    return JsonResponse(
        {"status": "ok" if ready else "not ready", **parts}, status=200 if ready else 503
    )


@login_not_required
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text."""
    waiting = Series.objects.waiting()
    DIRTY.set(waiting.count)
    OLDEST.set(waiting.oldest_seconds)
    return HttpResponse(
        prometheus_client.generate_latest(), content_type=prometheus_client.CONTENT_TYPE_LATEST
    )


class NotReachable(Exception):
    """A part of the system does not answer."""


def _state(check: Callable[[], None]) -> str:
    try:
        check()
    except (DatabaseError, RedisError, OperationalError, OSError, NotReachable) as error:
        return str(error).strip() or type(error).__name__
    return "ok"


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    with current_app.connection_for_read(connect_timeout=1) as broker:
        broker.ensure_connection(max_retries=1, timeout=1)


def _worker() -> None:
    """A worker answered a ping. Remembered for a while: a ping waits its full second."""
    if cache.get(WORKER_SEEN):
        return
    if not current_app.control.ping(timeout=WORKER_ANSWERS_WITHIN_SECONDS, limit=1):
        raise NotReachable("no worker answers; start one with `celery -A webapp.config worker`")
    cache.set(WORKER_SEEN, 1, WORKER_SEEN_SECONDS)


CHECKS: dict[str, Callable[[], None]] = {
    "database": _database,
    "broker": _broker,
    "worker": _worker,
}
