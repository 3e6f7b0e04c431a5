"""Is it alive, is it ready, and what does it do: for supervisors and for Prometheus.

They do not sign in, so these stay open on a private instance: they name parts and count, and show
nothing of what was measured.
"""

from functools import cache

import prometheus_client
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from webapp.readiness.services import Reporter, heartbeats, parts
from webapp.results.models import Series

DIRTY = prometheus_client.Gauge(
    "driftline_series_dirty", "Series whose points changed since they were analysed"
)
OLDEST = prometheus_client.Gauge(
    "driftline_series_dirty_oldest_seconds", "Age of the longest wait for an analysis"
)
READY = prometheus_client.Gauge(
    "driftline_part_ready", "1 when a part does its work, as /readyz says it", ["part"]
)
HEARTBEAT = prometheus_client.Gauge(
    "driftline_heartbeat_age_seconds", "Seconds since a part was seen at work", ["part"]
)


@login_not_required
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@login_not_required
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Every part does its work; 503 says which does not, since when, and what to do."""
    report = reporter().report()
    answer = {
        "status": "ok" if report.is_ready else "not ready",
        **{part: report.state_of(part) for part in parts.NAMES},
        "problems": [
            {
                "part": each.part,
                "reason": each.reason,
                "since": each.since,
                "remedy": each.remedy,
            }
            for each in report.problems
        ],
    }
    return JsonResponse(answer, status=200 if report.is_ready else 503)


@login_not_required
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text."""
    waiting = Series.objects.waiting()
    DIRTY.set(waiting.count)
    OLDEST.set(waiting.oldest_seconds)
    report = reporter().report()
    for part in parts.NAMES:
        READY.labels(part).set(report.state_of(part) == "ok")
    HEARTBEAT.clear()
    for part in heartbeats.PARTS:
        if part in report.ages:
            HEARTBEAT.labels(part).set(report.ages[part])
    return HttpResponse(
        prometheus_client.generate_latest(), content_type=prometheus_client.CONTENT_TYPE_LATEST
    )


@cache
def reporter() -> Reporter:
    """That of this process."""
    return Reporter(connection.settings_dict, settings.REDIS_URL)
