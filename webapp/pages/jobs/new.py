"""`/jobs/new/?series=…&revision=…`: the jobs that can be asked for about one point of a series.

The trend chart shows the forms alone, in its card.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import triager_required
from webapp.pages.parts.job_offers import offers_at_point
from webapp.pages.parts.links import local_page
from webapp.pages.parts.numbers import read_number
from webapp.results.models import Point, Series


@require_safe
@vary_on_headers("HX-Request")
@triager_required
def page(request: HttpRequest) -> HttpResponse:
    """What can be measured anew beside a point of a series."""
    series = get_object_or_404(
        Series.objects.named().plain(), pk=read_number(request.GET.get("series", ""))
    )
    if series.is_cost:
        raise Http404(
            f"The {series.subject} follows from two series: ask for runs of {series.mode} and of "
            f"{series.mode.parts.without(series.metric.option)} instead."
        )
    point = _point(series, request.GET.get("revision", ""))
    context = {
        "point": point,
        "offers": offers_at_point(series, point),
        "back": local_page(request, request.GET.get("next", ""), otherwise="agents"),
    }
    fragment = request.headers.get("HX-Request") == "true"
    template = "pages/_job_offers.html" if fragment else "pages/job_new.html"
    return render(request, template, context)


def _point(series: Series, name: str) -> Point:
    points = Point.objects.of_series(series).select_related("revision")
    point = points.filter(revision__name=name.replace("\0", "")).first()
    if point is None:
        raise Http404(f"{series.mode} on {series.hardware} has no point at {name}.")
    point.revision.tree = series.tree
    return point
