"""`/quality/`: how good the alerts were, and which series to quieten."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts.queries import mail_quality, noisiest, open_by_age, triage_quality
from webapp.pages.lab.disagreements import WAITING_SHOWN, waiting
from webapp.pages.parts.days import days_before, days_of
from webapp.results.models import Tree


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """How good the alerts of the last days were, of one tree or all."""
    tree = request.GET.get("tree", "")[:300].replace("\0", "")
    days, now = days_of(request), timezone.now()
    start = days_before(now, days)
    found = waiting()
    context = {
        "tree": tree,
        "trees": Tree.objects.all(),
        "days": days,
        "triage": triage_quality(start, tree=tree),
        "open": open_by_age(now, tree=tree),
        "mails": mail_quality(start, now),
        "noisy": noisiest(start, tree=tree),
        "waiting": found[:WAITING_SHOWN],
        "more_waiting": len(found) > WAITING_SHOWN,
    }
    return render(request, "pages/quality.html", context)
