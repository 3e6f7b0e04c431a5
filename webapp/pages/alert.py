"""`/alerts/<n>/`: what happened, where, since which commit, and what people did about it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.contrib import messages
from django.db.models import Max, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import (
    EffectInForce,
    MinEffects,
    beside,
    lab_hint,
    members_at,
    sharper_interval,
)
from webapp.alerts.services import TriageError
from webapp.analysis.models import Finding
from webapp.analysis.queries import one_build_lines
from webapp.bisects.models import Bisect
from webapp.pages.alert_acts import NUMBER_MAX, act, read_number
from webapp.pages.alert_summaries import AlertSummary, summarise
from webapp.pages.bisect_lines import lines_of
from webapp.pages.job_offers import Offers, offers_at_alert
from webapp.pages.links import with_query
from webapp.results.models import Revision

SUSPECTS_SHOWN = 20


class Suspects(NamedTuple):
    """The commits that may be the cause, in order: the first ones, the likeliest and the last; and
    how many ``more`` lie between.
    """

    shown: Sequence[Revision]
    more: int


@require_safe
def page(request: HttpRequest, number: int) -> HttpResponse:
    """One alert; `asof` shows what it held at a moment. The number of a joined one leads on."""
    alert = _alert(number)
    if alert.pk != number:
        messages.info(request, f"Alert {number} is part of this one: their commits are one.")
        return redirect(_with_moment(alert, request.GET.get("asof", "")))
    summary = summarise([alert])[0]
    can_act = is_triager(request.user)
    events = list(alert.events.select_related("actor"))
    asof = _moment(request.GET.get("asof", ""))
    context = {
        "alert": alert,
        "summary": summary,
        "rows": _rows(summary),
        "together": sharper_interval(summary.findings),
        "one_build": one_build_lines(summary.worst) if summary.worst else (),
        "withdrawn": "" if summary.worst else _withdrawn(alert),
        "lab": lab_hint(alert, summary.findings),
        "asof": asof,
        "past": members_at(alert, asof) if asof else (),
        "beside": beside(alert, summary.findings),
        "suspects": _suspects(alert),
        "bisects": lines_of(list(Bisect.objects.about(alert=alert.pk).with_subjects())),
        "events": events,
        "neighbours": _neighbours(alert),
        "can_act": can_act,
        "offers": _offers(summary) if can_act else None,
        "back": request.get_full_path(),
        "can_undo": _can_undo(alert, events),
        "duplicates": list(alert.duplicates.order_by("pk")),
        "simulated": any(row.series.hardware.lab.simulated for row in summary.findings),
    }
    return render(request, "pages/alert.html", context)


@require_POST
@triager_required
def act_on_one(request: HttpRequest, number: int) -> HttpResponse:
    """Do what a triager's form says, and come back to the page with what became of it."""
    alert = _alert(number)
    if alert.pk != number:
        messages.error(request, f"Alert {number} is part of this one now; look again.")
        return redirect(alert)
    actor = signed_in_user(request)
    form = request.POST.dict() | {"findings": " ".join(request.POST.getlist("finding"))}
    seen = read_number(form.get("version", ""))
    try:
        done = act(form.get("act", ""), form, alert=alert.pk, version=seen, actor=actor)
        messages.success(request, f"Alert {done.pk} is {done.get_state_display()}.")
    except TriageError as error:
        messages.error(request, str(error))
    return redirect(alert)


def _alert(number: int) -> Alert:
    found = Alert.objects.with_revisions().numbered(min(number, NUMBER_MAX))
    return get_object_or_404(found)


def _with_moment(alert: Alert, asof: str) -> str:
    """The page of ``alert``, as of the moment that a mail's link names, if it names one."""
    return with_query(alert.get_absolute_url(), [("asof", asof)] if _moment(asof) else [])


def _neighbours(alert: Alert) -> Mapping[str, int | None]:
    """The open alerts around it in the order of the inbox, the newest first."""
    waiting = Alert.objects.open().exclude(pk=alert.pk)
    return waiting.aggregate(
        previous=Min("pk", filter=Q(pk__gt=alert.pk)), next=Max("pk", filter=Q(pk__lt=alert.pk))
    )


def _moment(text: str) -> datetime | None:
    """When ``?asof=`` means; None where it is no time, so that the page shows now."""
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        return make_aware(moment, UTC) if is_naive(moment) else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC the year 1 may be the year 0
        return None


def _rows(summary: AlertSummary) -> list[tuple[Finding, EffectInForce]]:
    """The findings, each with the threshold in force in its series."""
    series = [row.series_id for row in summary.findings]
    thresholds = MinEffects.of(series, tree=summary.alert.tree_id)
    return [(row, thresholds.for_series(row.series)) for row in summary.findings]


def _withdrawn(alert: Alert) -> str:
    """Why an alert of one build a side is gone: what the last of its findings says."""
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    gone = Finding.objects.filter(pk__in=left.findings if left else [], one_build__isnull=False)
    row = gone.order_by("pk").first() if alert.one_build else None
    return row.why if row else ""


def _offers(summary: AlertSummary) -> Offers | None:
    """The jobs to ask for about its worst series; None where no finding is left."""
    worst = summary.worst
    return None if worst is None else offers_at_alert(summary.alert, worst.series)


def _suspects(alert: Alert) -> Suspects:
    between = Revision.objects.between(alert.after, alert.revision)
    first = list(between[: SUSPECTS_SHOWN + 1])
    found = [*first[:SUSPECTS_SHOWN], alert.revision]
    if alert.likeliest not in found:
        found.insert(-1, alert.likeliest)
    for revision in found:
        revision.tree = alert.tree
    are_all = len(first) <= SUSPECTS_SHOWN
    return Suspects(found, 0 if are_all else between.count() - len(found) + 1)


def _can_undo(alert: Alert, events: Sequence[AlertEvent]) -> bool:
    return bool(events) and bool(events[-1].before) and events[-1].version == alert.version
