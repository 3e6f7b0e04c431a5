"""`/canaries/`: what watches the machines themselves, and the control chart of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import operator_required
from webapp.charts import small
from webapp.charts.small import Control
from webapp.charts.text import better_text
from webapp.events.models import Canary
from webapp.events.queries import WatchedCanary, watch
from webapp.events.services import set_canary_active
from webapp.jobs.models import Job
from webapp.pages.parts.links import NUMBER_MAX
from webapp.results.services import Unprocessable
from webapp.stats.control import LEAST_BOOTS

BOOTS_SHOWN = 200
JOBS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class CanaryLine:
    """A canary, and where it stands."""

    watched: WatchedCanary

    @property
    def canary(self) -> Canary:
        """What it is about."""
        return self.watched.canary

    @property
    def text(self) -> str:
        """Where it stands, in words."""
        count = len(self.watched.boots)
        if self.watched.chart.limits is None:
            return f"cannot tell yet: {count} of {LEAST_BOOTS} boots"
        if self.watched.left_at is not None:
            return f"left its limits on {self.watched.left_at:%Y-%m-%d %H:%M} UTC"
        return f"within its limits, {count} boots"

    @property
    def is_out(self) -> bool:
        """Whether it is outside its limits now."""
        return self.watched.chart.is_out


SIDES = {0: "", 1: "above its limit", -1: "below its limit"}
"""Where a boot lies, in words; empty: within its limits."""


def canary_lines(canaries: Sequence[Canary]) -> list[CanaryLine]:
    """Where each stands, in one query."""
    return [CanaryLine(one) for one in watch(canaries)]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """All canaries by hardware, and where each stands."""
    lines = canary_lines(list(Canary.objects.named()))
    return render(request, "pages/hardware/canaries.html", {"lines": lines, "least": LEAST_BOOTS})


@require_safe
def one(request: HttpRequest, number: int) -> HttpResponse:
    """One canary: its control chart, its boots and the jobs it asked for."""
    canary = _canary(number)
    (line,) = canary_lines([canary])
    boots = [
        (boot, SIDES[side])
        for boot, side in zip(line.watched.boots, line.watched.chart.sides, strict=True)
    ]
    context = {
        "line": line,
        "canary": canary,
        "limits": line.watched.chart.limits,
        "image": small.draw_control(_control(line.watched)) if boots else "",
        "boots": boots[: -BOOTS_SHOWN - 1 : -1],
        "shown": BOOTS_SHOWN,
        "jobs": Job.objects.filter(canary__canary=canary).order_by("-pk")[:JOBS_SHOWN],
        "least": LEAST_BOOTS,
    }
    return render(request, "pages/hardware/canary.html", context)


@require_POST
@operator_required
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Begin or end the schedule of a canary."""
    canary = _canary(number)
    try:
        set_canary_active(canary=canary, is_active=request.POST.get("act") == "start")
        messages.success(request, "Started." if canary.is_active else "Stopped.")
    except Unprocessable as refusal:
        messages.error(request, str(refusal))
    return redirect(canary)


def _control(watched: WatchedCanary) -> Control:
    metric, limits = watched.canary.metric, watched.chart.limits
    shown = watched.boots[-BOOTS_SHOWN:]
    return Control(
        values=[boot.value for boot in shown],
        days=[f"{boot.at:%Y-%m-%d}" for boot in shown],
        sides=watched.chart.sides[-BOOTS_SHOWN:],
        lines=(limits.low, limits.centre, limits.high) if limits else None,
        title=f"{metric.name}, {metric.unit} ({better_text(metric.better)})",
    )


def _canary(number: int) -> Canary:
    return get_object_or_404(Canary.objects.named(), pk=min(number, NUMBER_MAX))
