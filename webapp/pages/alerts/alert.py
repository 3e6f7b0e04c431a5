"""`/alerts/<n>/`: what happened, where, since which commit, what to do next, what people did, each
act in a sentence that begins with its actor.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.alerts import queries as alerts
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services import TriageError
from webapp.analysis import queries
from webapp.analysis.models import Finding
from webapp.bisects.models import Bisect
from webapp.charts import small
from webapp.pages.alerts.acts import act
from webapp.pages.alerts.cards import (
    CARDS,
    NARROW,
    SMALL,
    Card,
    beside_worst,
    cards_of,
    headline,
    how_sure,
    pill_of,
    state_note,
)
from webapp.pages.alerts.suspects import steps_of, suspects_of
from webapp.pages.bisects.bisects import lines_of
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.job_offers import Offers, offers_at_alert
from webapp.pages.parts.links import (
    NUMBER_MAX,
    diff_link,
    read_number,
    refuse,
    typed_before,
    with_query,
)
from webapp.pages.parts.summaries import counts_text
from webapp.results.models import Hardware

CARDS_DRAWN: Cache[SafeString] = Cache(most=64, seconds=60.0)
"""Drawn cards of alerts: many people open the same ones. What changes without a sign of it in the
key, the name of a revision, shows late, by a minute at most."""

MEMBERS: Cache[Mapping[int, alerts.Members]] = Cache(most=16, seconds=60.0)
"""What alerts hold, by all that it follows from but the names of revisions. Nobody changes it."""

TOO_FEW = "A side has fewer than 3 samples: ministat refuses it."

SYSTEM = "Driftline"
_Kind = AlertEvent.Kind
DID = {
    _Kind.OPENED: "opened the alert",
    _Kind.JOINED: "added findings",
    _Kind.LEFT: "took findings out",
    _Kind.MOVED: "moved the alert",
    _Kind.REFINED: "narrowed or widened the suspects",
    _Kind.NAMED: "ended a bisect",
    _Kind.TURNED: "changed the verdict",
    _Kind.CONFIRMED: "found the change confirmed by more builds",
    _Kind.ONE_BUILD: "found that the change rests on one build a side",
    _Kind.RECOVERED: "found everything recovered",
    _Kind.RETURNED: "found the change back after a recovery",
    _Kind.RETRACTED: "retracted the alert",
    _Kind.REACTIVATED: "found the findings back",
    _Kind.SNOOZED: "snoozed the alert",
    _Kind.WOKE: "woke the alert",
    _Kind.HISTORY: "found history alone behind the alert",
    _Kind.CLOSED: "closed the alert after quiet days",
    _Kind.ACKNOWLEDGED: "acknowledged the alert",
    _Kind.INVESTIGATING: "is investigating the alert",
    _Kind.RESOLVED: "resolved the alert",
    _Kind.REOPENED: "reopened the alert",
    _Kind.MERGED: "merged the alert",
    _Kind.SPLIT: "split findings off",
    _Kind.SENT: "moved findings",
    _Kind.UNDONE: "undid the last step",
}
"""What somebody did, after their name."""

BY_THE_METHOD = " when the analysis was repeated after an upgrade"


@require_safe
def page(request: HttpRequest, number: int) -> HttpResponse:
    """One alert; `asof` shows what it held at a moment, `show` opens what is folded. The number of
    a joined one leads on.
    """
    one = _found(number, alerts.one_listed(min(number, NUMBER_MAX), keep=MEMBERS.get))
    alert = one.alert
    if alert.pk != number:
        messages.info(request, f"Alert {number} is part of this one: their commits are one.")
        return redirect(_with_moment(alert, request.GET.get("asof", "")))
    return render(request, "pages/alerts/alert.html", _context(request, one))


def _context(request: HttpRequest, one: alerts.Listed) -> dict[str, object]:
    alert, findings = one.alert, one.members.findings
    can_act = is_triager(request.user)
    events = alerts.events_of(alert)
    asof = queries.moment_of(request.GET.get("asof", ""))
    show = request.GET.get("show", "")
    bisects = Bisect.objects.about(alert=alert.pk).with_subjects()
    facts = alerts.facts_beside(alert, drawn=[row.pk for row in findings[:CARDS]])
    return {
        "one": one,
        "alert": alert,
        "headline": headline(one),
        "how_sure": how_sure(one.suspicion),
        "pill": pill_of(alert),
        "state_note": state_note(alert),
        "acknowledged_by": one.taken_by,
        "only": _only_machine(findings),
        "cards": _cards(alert, findings[:CARDS], facts.stamp),
        "undrawn": max(len(findings) - CARDS, 0),
        "together": alerts.sharper_interval(findings),
        "one_build": queries.one_build_lines(one.members.worst) if one.members.worst else (),
        "withdrawn": "" if one.members.worst else alerts.why_withdrawn(alert),
        "lab": alerts.lab_hint(alert, findings, canaries=facts.canaries, recorded=facts.recorded),
        "left_out": alerts.left_out_beside(findings) if facts.left_out else [],
        "asof": asof,
        "past": alerts.members_at(alert, asof) if asof else (),
        "facts": facts,
        "candidates": list(alerts.candidates_beside(alert).with_revisions().with_subjects())
        if facts.candidates
        else (),
        "suspects": suspects_of(one),
        "steps": steps_of(one, signed_in=request.user.is_authenticated),
        "bisects": lines_of(list(bisects)) if facts.bisects else [],
        "events": lines_of_events(events[::-1]),
        "can_act": can_act,
        "back": request.get_full_path(),
        "can_undo": can_act and _can_undo(alert, events, signed_in_user(request)),
        "typed": typed_before(request),
        "simulated": any(row.series.hardware.lab.simulated for row in findings),
        **_section(show, one, can_act=can_act),
    }


def _can_undo(alert: Alert, events: Sequence[AlertEvent], reader: User) -> bool:
    """The last thing that happened to the alert is an act of the reader's own."""
    if not events:
        return False
    last = events[-1]
    return bool(last.before) and last.version == alert.version and last.actor == reader


def _cards(alert: Alert, findings: Sequence[Finding], stamp: str | None) -> SafeString:
    """The cards of ``findings``, as HTML."""
    key = (alert.pk, stamp, tuple(row.pk for row in findings))
    return CARDS_DRAWN.get(key, lambda: _drawn(alert, findings))


def _drawn(alert: Alert, findings: Sequence[Finding]) -> SafeString:
    cards = cards_of(findings, alerts.surroundings_of(findings, whiskers=findings), narrow=NARROW)
    written = (
        render_to_string("pages/alerts/_card.html", {"card": card, "alert": alert})
        for card in cards
    )
    return mark_safe("".join(written))  # noqa: S308 (what templates wrote)


def _profiled(one: alerts.Listed) -> list[tuple[queries.ProfiledPair, str]]:
    """The pairs of profiled kernels around its findings, and the address of each difference."""
    shown = one.members.findings[: alerts.MOST_PROFILED]
    gaps = [queries.Gap.before(queries.Subject.of(row.series), row.position) for row in shown]
    return [(pair, diff_link(pair.a.text, pair.b.text)) for pair in queries.profiled_around(gaps)]


@require_safe
def evidence(request: HttpRequest, number: int) -> HttpResponse:
    """What stands beside the rows of the inbox: the charts of one alert, and its suspect."""
    one = _found(number, alerts.one_listed(min(number, NUMBER_MAX), shown=3))
    near = alerts.surroundings_of(one.members.findings, whiskers=one.members.findings)
    context = {"chosen": chosen_of(one, near), "here": request.GET.get("here", "")[:2000]}
    return render(request, "pages/alerts/_chosen.html", context)


@require_safe
def ministat(request: HttpRequest, number: int, finding: int) -> HttpResponse:
    """ministat's block of the two points around a finding of the alert, with every sample."""
    rows = Finding.all_kinds.filter(pk=min(finding, NUMBER_MAX), membership__alert=number)
    row = get_object_or_404(rows.with_subjects().with_revisions())
    context = {"row": row, "number": number, **_samples(row)}
    return render(request, "pages/alerts/_ministat.html", context)


@require_POST
@triager_required
def act_on_one(request: HttpRequest, number: int) -> HttpResponse:
    """Apply a triager's form, and come back to the page with what became of it."""
    alert = get_object_or_404(Alert.objects.with_revisions().numbered(min(number, NUMBER_MAX)))
    if alert.pk != number:
        refuse(request, f"Alert {number} is part of this one now; look again.")
        return redirect(alert)
    actor = signed_in_user(request)
    form = request.POST.dict() | {"findings": " ".join(request.POST.getlist("finding"))}
    seen = read_number(form.get("version", ""))
    try:
        done = act(form.get("act", ""), form, alert=alert.pk, version=seen, actor=actor)
        state = done.get_state_display()
        messages.success(request, f"Alert {done.pk} is {state}.", extra_tags="act")
    except TriageError as error:
        refuse(request, str(error))
        if form.get("act") in REGROUPING:
            return redirect(f"{alert.get_absolute_url()}?show=findings")
    return redirect(alert)


REGROUPING = ("move", "split")
"""Acts whose form stands below the findings."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One alert as it stands beside the rows of the inbox."""

    one: alerts.Listed
    headline: str
    cards: Sequence[Card]
    more: str

    @property
    def hardware(self) -> Hardware | None:
        """The machine of its weightiest finding."""
        return self.one.members.worst.series.hardware if self.one.members.worst else None


def chosen_of(one: alerts.Listed, near: Mapping[int, alerts.Surroundings]) -> Chosen:
    """The alert with its charts; ``near`` is what lies around its findings, with whiskers."""
    findings = one.members.findings
    cards = [*cards_of(findings[:1], near), *cards_of(findings[1:], near, size=SMALL)]
    return Chosen(one, headline(one), cards, beside_worst(one) if one.members.more else "")


def _found(number: int, found: alerts.Listed | None) -> alerts.Listed:
    if found is None:
        raise Http404(f"no alert {number}")
    return found


def _with_moment(alert: Alert, asof: str) -> str:
    """The page of ``alert``, as of the moment that a mail's link names, if it names one."""
    return with_query(alert.get_absolute_url(), [("asof", asof)] if queries.moment_of(asof) else [])


def _only_machine(findings: Sequence[Finding]) -> Hardware | None:
    """The machine that all of several findings are on."""
    machines = {row.series.hardware_id: row.series.hardware for row in findings}
    return next(iter(machines.values())) if len(machines) == 1 else None


def _section(show: str, one: alerts.Listed, *, can_act: bool) -> dict[str, object]:
    """What of the page is folded and asked for."""
    findings = one.members.findings
    if show == "findings":
        return {"show": show, "rows": _rows(one)}
    if show == "others":
        found = alerts.beside(one.alert, findings)
        return {"show": show, "beside": found, "counted": counts_text(found.counts)}
    if show == "profiles":
        return {"show": show, "pairs": _profiled(one)}
    if show == "measure" and can_act:
        return {"show": show, "offers": _offers(one)}
    return {"show": ""}


def _rows(one: alerts.Listed) -> list[tuple[Finding, alerts.EffectInForce]]:
    """The findings, each with the threshold in force in its series."""
    findings = one.members.findings
    thresholds = alerts.MinEffects.of([row.series_id for row in findings], tree=one.alert.tree_id)
    return [(row, thresholds.for_series(row.series)) for row in findings]


def _offers(one: alerts.Listed) -> Offers | None:
    """The jobs to ask for about its worst series; None where no finding is left."""
    worst = one.members.worst
    return None if worst is None else offers_at_alert(one.alert, worst.series)


def _samples(row: Finding) -> dict[str, object]:
    """The block and the strips of the samples on either side, or why there are none."""
    try:
        rows = queries.compare_sides(queries.sides_of(row)).rows
    except queries.SideError as error:
        return {"problem": f"No samples to show: {error}."}
    if not rows:
        return {"problem": "No samples to show: they were withdrawn."}
    found = rows[0]
    sets = [
        small.Strip(one.label, one.samples, fmean(one.samples), one.units.interval())
        for one in found.sets
    ]
    return {
        "ministat": found.ministat_text() if found.can_render else "",
        "problem": "" if found.can_render else TOO_FEW,
        "strips": small.draw_strips(sets, unit=found.metric.unit),
    }


@dataclass(frozen=True, slots=True)
class EventLine:
    """Who did what, and when."""

    at: datetime
    who: str
    did: str


def lines_of_events(events: Iterable[AlertEvent]) -> list[EventLine]:
    """A line for each, in the order given."""
    return [
        EventLine(one.at, one.actor.get_username() if one.actor else SYSTEM, _did(one))
        for one in events
    ]


def _did(event: AlertEvent) -> str:
    did = DID[_Kind(event.kind)] + (BY_THE_METHOD if event.is_quiet else "")
    return f"{did}: {event.reason}" if event.reason else did
