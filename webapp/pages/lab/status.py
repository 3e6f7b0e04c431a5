"""`/status/`: what the instance does now, and what to do where it does not. For operators."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.services import operator_required
from webapp.notifications.models import Problem
from webapp.notifications.services import checks


@operator_required
@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """All checks, those that are wrong first."""
    found = checks()
    since = dict(Problem.objects.values_list("name", "since"))
    context = {
        "checks": [(each, each.since or since.get(each.name)) for each in found],
        "wrong": sum(each.is_wrong for each in found),
    }
    return render(request, "pages/lab/status.html", context)
