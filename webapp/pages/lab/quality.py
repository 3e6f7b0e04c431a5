"""`/quality/`: how good the alerts were, and which series to quieten."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts import queries
from webapp.charts import bars
from webapp.pages.lab.disagreements import WAITING_SHOWN, waiting
from webapp.pages.parts.links import days_before, days_of
from webapp.results.models import Tree
from webapp.stats.proportion import Proportion

TIMES = "Alerts by the time until somebody acted on them"


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """How good the alerts of the last days were, of one tree or all."""
    tree = request.GET.get("tree", "")[:300].replace("\0", "")
    days, now = days_of(request), timezone.now()
    start = days_before(now, days)
    found = waiting()
    triage, waits = queries.triage_quality(start, tree=tree), queries.open_by_age(now, tree=tree)
    context = {
        "tree": tree,
        "trees": Tree.objects.all(),
        "days": days,
        "triage": triage,
        "not_real": triage.precision.total - triage.precision.count if triage.precision else 0,
        "open": waits,
        "waits": sum(count for _, count in waits),
        "kinds": [
            (one, _bar(one.real) if one.real else "")
            for one in queries.judged_by_kind(start, tree=tree)
        ],
        "times": bars.draw_counts(triage.times, described=TIMES) if triage.acted_on else "",
        "mails": queries.mail_quality(start, now),
        "noisy": queries.noisiest(start, tree=tree),
        "waiting": found[:WAITING_SHOWN],
        "more_waiting": len(found) > WAITING_SHOWN,
    }
    return render(request, "pages/lab/quality.html", context)


def _bar(real: Proportion) -> str:
    return bars.draw_share(real.share, real.low, real.high, total=real.total)
