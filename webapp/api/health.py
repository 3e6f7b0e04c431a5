"""Is it alive, is it ready: for supervisors. What it does is in `webapp.api.prometheus`.

Neither they nor Prometheus sign in, so these stay open on a private instance: they name parts and
count, and show nothing of what was measured.
"""

from functools import cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from webapp.readiness.services import Reporter, parts


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


@cache
def reporter() -> Reporter:
    """That of this process."""
    return Reporter(connection.settings_dict, settings.REDIS_URL)
