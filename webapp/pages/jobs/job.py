"""`/jobs/<n>/`: one job with its log; what triagers do to it; and asking for one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import signed_in_user, triager_required
from webapp.jobs.models import Job
from webapp.jobs.queries import Forecast, queue_forecast
from webapp.jobs.services import ActRefused, JobsError
from webapp.pages.jobs.acts import act, request_from
from webapp.pages.parts.links import local_page

NUMBER_MAX = 2**63 - 1


@require_safe
def page(request: HttpRequest, number: int) -> HttpResponse:
    """One job: what it is for, when it may run, its result and its log."""
    job = _job(number)
    context = {
        "job": job,
        "forecast": None if job.has_ended else _forecast(job),
        "runs": job.results(),
        "events": list(job.events.select_related("actor", "worker")),
    }
    return render(request, "pages/job.html", context)


@require_POST
@triager_required
def act_on_job(request: HttpRequest, number: int) -> HttpResponse:
    """Cancel it, change its priority, queue it again."""
    job = _job(number)
    form = request.POST.dict()
    try:
        act(form.get("act", ""), form, job=job.pk, actor=signed_in_user(request))
    except JobsError as error:
        messages.error(request, _sentence(error))
    return redirect(job)


@require_POST
@triager_required
def request_job(request: HttpRequest) -> HttpResponse:
    """Ask for more runs of a point, for a point that lacks, or for a candidate's confirmation.

    ``revision`` may stand twice: a candidate and its parent are asked for together.
    """
    form = request.POST.dict()
    back = local_page(request, form.get("next", ""), otherwise="agents")
    try:
        asked = request_from(form, request.POST.getlist("revision"), actor=signed_in_user(request))
    except ActRefused as error:
        messages.error(request, _sentence(error))
        return redirect(back)
    for label, jobs in (("Queued", asked.queued), ("Already asked", asked.already_queued)):
        for job in jobs:
            messages.success(request, _link_sentence(label, job))
    return redirect(back)


def _job(number: int) -> Job:
    job = Job.objects.named().filter(pk=min(number, NUMBER_MAX)).first()
    if job is None:
        raise Http404(f"there is no job {number}")
    return job


def _link_sentence(label: str, job: Job) -> str:
    return format_html(
        '{}: <a href="{}">job {}</a>, {} boot{} of {} on {} in {}.',
        label,
        job.get_absolute_url(),
        job.pk,
        job.boots,
        pluralize(job.boots),
        job.revision,
        job.hardware,
        job.mode,
    )


def _forecast(job: Job) -> Forecast | None:
    rows = queue_forecast(now=timezone.now(), hardware=[job.hardware_id]).get(job.hardware_id, [])
    return next((row for row in rows if row.job.pk == job.pk), None)


def _sentence(error: JobsError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
