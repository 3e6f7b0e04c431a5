"""`/agents/`: who measures what now, what comes next and when, and what ended lately."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.jobs.models import SILENT_AFTER, Job, Worker
from webapp.jobs.queries import Forecast, queue_forecast
from webapp.labs import services
from webapp.labs.models import Agent
from webapp.pages.parts.links import agent_address
from webapp.results.models import Hardware

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
def page(request: HttpRequest) -> HttpResponse:
    """Who measures what, which jobs wait, and until when."""
    now = timezone.now()
    forecast = queue_forecast(now=now)
    workers = _workers(forecast, now)
    context = {
        "workers": workers,
        "reporting": sum(not row.silent for row in workers),
        "busy": sum(row.now is not None for row in workers),
        "waiting": sum(row.job.state == Job.State.QUEUED for row in _all(forecast)),
        "queues": _queues(forecast),
        "ended": list(Job.objects.ended().named()[:ENDED_SHOWN]),
        "uploaders": Agent.objects.filter(workers__isnull=True).select_related("lab"),
        "wheel": agent_address(request),
        "silent_minutes": SILENT_AFTER.total_seconds() / 60,
    }
    return render(request, "pages/jobs/agents.html", context)


def _all(forecast: Mapping[int, Sequence[Forecast]]) -> list[Forecast]:
    return [row for rows in forecast.values() for row in rows]


def _workers(forecast: Mapping[int, Sequence[Forecast]], now: datetime) -> list[WorkerRow]:
    rows = _all(forecast)
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
        made = {
            services.ZIPAPP: services.agent_zipapp,
            services.agent_wheel_name(): services.agent_wheel,
        }.get(name)
        if made is None:
            raise Http404(f"the agent is {services.ZIPAPP} and {services.agent_wheel_name()}")
        content = made()
    except services.AgentMissing as error:
        raise Http404(str(error)) from error
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)
