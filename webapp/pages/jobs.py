"""`/agents/`: who measures what now, what comes next and when, and what ended lately.

`/jobs/<n>/`: one job with its log; what triagers do to it; and asking for one.

`/jobs/new/?series=…&revision=…`: the jobs that can be asked for about one point of a series.

The trend chart shows the forms alone, in its card.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.models import User
from webapp.accounts.services import signed_in_user, triager_required
from webapp.jobs import services
from webapp.jobs.models import SILENT_AFTER, Job, Worker
from webapp.jobs.queries import Forecast, queue_forecast
from webapp.jobs.services import ActRefused, Asked, JobsError
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.pages.parts.job_offers import offers_at_point
from webapp.pages.parts.links import NUMBER_MAX, agent_address, read_number
from webapp.results.models import Hardware, Metric, Mode, Point, Revision, Series, Tree

Form = Mapping[str, str]
Row = TypeVar("Row")
MOST_REVISIONS = 2
"""In one request: a candidate and its parent."""


def act(name: str, form: Form, *, job: int, actor: User) -> Job:
    """Apply the form. Raises JobsError, whose message is for people."""
    given = _plain(form)
    if name == "cancel":
        return services.cancel_job(job=job, reason=given.get("reason", ""), actor=actor)
    if name == "retry":
        return services.retry_job(job=job, actor=actor)
    if name == "priority":
        priority = _number("priority", given.get("priority", ""))
        return services.change_priority(job=job, priority=priority, actor=actor)
    raise ActRefused("choose what to do")


def request_from(form: Form, revisions: Sequence[str], *, actor: User) -> Asked:
    """Queue a job for each of ``revisions``, the rest as in ``form``, all described by names.

    Raises ActRefused, naming the field.
    """
    given = _plain(form)
    tree = _named("tree", Tree.objects.filter(name=given.get("tree", "")).first(), given)
    hardware = Hardware.objects.filter(name=given.get("hardware", "")).first()
    mode = Mode.objects.filter(name=given.get("mode", "")).first()
    if given.get("builds"):
        return services.request_builds(
            revisions=_revisions(tree, revisions),
            hardware=_named("hardware", hardware, given),
            mode=_named("mode", mode, given),
            boots=_number("boots", given.get("boots", "")),
            builds=_number("builds", given["builds"]),
            requested_by=actor,
        )
    return services.request_more_runs(
        revisions=_revisions(tree, revisions),
        hardware=_named("hardware", hardware, given),
        mode=_named("mode", mode, given),
        metric=_metric(given),
        boots=_number("boots", given.get("boots", "")),
        purpose=given.get("purpose", Job.Purpose.MORE_RUNS),
        reason=given.get("reason", "").strip(),
        requested_by=actor,
    )


def _revisions(tree: Tree, names: Sequence[str]) -> list[Revision]:
    """Each revision once, in the order given."""
    found: dict[int, Revision] = {}
    for name in names[:MOST_REVISIONS] or [""]:
        given = _plain({"revision": name})
        known = Revision.objects.placed().named(tree=tree, name=given["revision"])
        revision = _named("revision", known, given)
        found[revision.pk] = revision
    return list(found.values())


def _plain(form: Form) -> dict[str, str]:
    """PostgreSQL holds no NUL."""
    return {field: text.replace("\0", "")[:500] for field, text in form.items()}


def _metric(form: Form) -> Metric | None:
    """Left out: all metrics of the mode."""
    if not form.get("metric"):
        return None
    return _named("metric", Metric.objects.filter(name=form["metric"]).first(), form)


def _named(field: str, row: Row | None, form: Form) -> Row:
    if row is None:
        raise ActRefused(f"{field}: “{form.get(field, '')}” is not known here; name a known one")
    return row


def _number(field: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise ActRefused(f"{field}: give a number")
    return int(text)


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
    return render(request, "pages/jobs/job.html", context)


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
    back = _back(request, form.get("next", ""))
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


@require_safe
@vary_on_headers("HX-Request")
@triager_required
def new_page(request: HttpRequest) -> HttpResponse:
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
        "back": _back(request, request.GET.get("next", "")),
    }
    fragment = request.headers.get("HX-Request") == "true"
    template = "pages/parts/job_offers.html" if fragment else "pages/jobs/new.html"
    return render(request, template, context)


def _point(series: Series, name: str) -> Point:
    points = Point.objects.of_series(series).select_related("revision")
    point = points.filter(revision__name=name.replace("\0", "")).first()
    if point is None:
        raise Http404(f"{series.mode} on {series.hardware} has no point at {name}.")
    point.revision.tree = series.tree
    return point


def _back(request: HttpRequest, address: str) -> str:
    """``address`` when it is one of this instance's pages, else that of the queue."""
    local = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if local else reverse("agents")


ENDED_SHOWN = 30
QUEUED_SHOWN = 20
"""Of each hardware."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker, what it does and what it will do next."""

    worker: Worker
    silent: bool
    now: Forecast | None
    next: Forecast | None


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for one hardware."""

    hardware: Hardware
    waiting: Sequence[Forecast]
    more: int


@require_safe
def agents(request: HttpRequest) -> HttpResponse:
    """Who measures what, which jobs wait, and until when."""
    now = timezone.now()
    forecast = queue_forecast(now=now)
    workers = _workers(forecast, now)
    context = {
        "workers": workers,
        "reporting": sum(not row.silent for row in workers),
        "busy": sum(row.now is not None for row in workers),
        "waiting": sum(row.job.state == Job.State.QUEUED for row in _forecasts(forecast)),
        "queues": _queues(forecast),
        "ended": list(Job.objects.ended().named()[:ENDED_SHOWN]),
        "uploaders": Agent.objects.filter(workers__isnull=True).select_related("lab"),
        "wheel": agent_address(request),
        "silent_minutes": SILENT_AFTER.total_seconds() / 60,
    }
    return render(request, "pages/jobs/agents.html", context)


def _forecasts(forecast: Mapping[int, Sequence[Forecast]]) -> list[Forecast]:
    return [row for rows in forecast.values() for row in rows]


def _workers(forecast: Mapping[int, Sequence[Forecast]], now: datetime) -> list[WorkerRow]:
    rows = _forecasts(forecast)
    doing = _first_of_each(row for row in rows if row.job.state == Job.State.LEASED)
    waiting = sorted(
        (row for row in rows if row.job.state == Job.State.QUEUED and row.starts_at),
        key=lambda row: row.starts_at or now,
    )
    next_ones = _first_of_each(waiting)
    workers = Worker.objects.with_agents().order_by("agent__lab__name", "agent__name", "name")
    return [
        WorkerRow(each, each.is_silent(now), doing.get(each.pk), next_ones.get(each.pk))
        for each in workers
    ]


def _first_of_each(rows: Iterable[Forecast]) -> dict[int, Forecast]:
    """By worker (id)."""
    found: dict[int, Forecast] = {}
    for row in rows:
        if row.worker is not None:
            found.setdefault(row.worker.pk, row)
    return found


def _queues(forecast: Mapping[int, Sequence[Forecast]]) -> list[Queue]:
    queues = []
    for rows in forecast.values():
        waiting = [row for row in rows if row.job.state == Job.State.QUEUED]
        if waiting:
            shown, more = waiting[:QUEUED_SHOWN], max(0, len(waiting) - QUEUED_SHOWN)
            queues.append(Queue(waiting[0].job.hardware, shown, more))
    return sorted(queues, key=lambda queue: queue.hardware.name)


@login_not_required
@require_safe
def agent_file(request: HttpRequest, name: str) -> HttpResponse:
    """The wheel or the zipapp. Open on a private instance too: pip does not sign in, and neither
    holds anything of the instance."""
    try:
        made = {labs.ZIPAPP: labs.agent_zipapp, labs.agent_wheel_name(): labs.agent_wheel}.get(name)
        if made is None:
            raise Http404(f"the agent is {labs.ZIPAPP} and {labs.agent_wheel_name()}")
        content = made()
    except labs.AgentMissing as error:
        raise Http404(str(error)) from error
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)
