"""Counts requests and their times for `/metrics`."""

import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Gauge, Histogram

from webapp.api.wiring import METRICS

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
POLL = "/api/v1/jobs/poll"
REQUESTS = Counter(
    "driftline_requests", "Requests answered", ["method", "route", "status"], registry=METRICS
)
SECONDS = Histogram(
    "driftline_request_seconds",
    "Time from the whole request to the beginning of its answer",
    ["route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=METRICS,
)
IN_PROGRESS = Gauge(
    "driftline_requests_in_progress",
    "Requests at work; polls of agents that wait for a job are counted apart",
    ["kind"],
    multiprocess_mode="livesum",
    registry=METRICS,
)
POOL = Gauge(
    "driftline_database_pool",
    "Connections of the web server to the database, and requests that wait for one",
    ["state"],
    multiprocess_mode="livesum",
    registry=METRICS,
)


class CountRequests:
    """The first of all middlewares: it sees what the others refuse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer as without this."""
        began = time.monotonic()
        at_work = IN_PROGRESS.labels("poll" if request.path_info == POLL else "other")
        note_pool()
        with at_work.track_inprogress():
            response = self.get_response(request)
        route = route_of(request)
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).inc()
        SECONDS.labels(route).observe(time.monotonic() - began)
        note_pool()
        return response


def route_of(request: HttpRequest) -> str:
    """The pattern of the address: never what a visitor typed, so there are only so many."""
    if request.path_info.startswith(f"/{settings.STATIC_URL.lstrip('/')}"):
        return "static/"
    found = request.resolver_match
    if found is None:
        return "none"
    return "admin/" if "admin" in found.app_names else found.route or "/"


def note_pool() -> None:
    """What this process knows of its connections."""
    pool = getattr(connection, "pool", None)
    if pool is not None:
        found = pool.get_stats()
        POOL.labels("most").set(found["pool_max"])
        POOL.labels("used").set(found["pool_size"] - found["pool_available"])
        POOL.labels("waiting").set(found["requests_waiting"])
