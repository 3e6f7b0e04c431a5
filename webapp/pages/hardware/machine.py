"""`/hardware/<name>/`: one machine, what it measures, and what changed on it. `/canaries/`: what
watches the machines themselves, and the control chart of each.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import operator_required, signed_in_required, signed_in_user
from webapp.alerts import queries
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, Verdict
from webapp.charts import small
from webapp.charts.text import POINTS, better_text, cost_points, end_levels, percent
from webapp.events.models import Canary, LabEvent
from webapp.events.queries import WatchedCanary, watch
from webapp.events.services import set_canary_active
from webapp.jobs.models import Job
from webapp.notifications.models import Subscription
from webapp.notifications.services import NameTaken, save_subscription, switch
from webapp.pages.hardware.knobs import Knob, knobs_of, rows_of, sweeps_of
from webapp.pages.hardware.lanes import label_positions, lanes_of, lead, panels
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.links import NUMBER_MAX
from webapp.pages.parts.summaries import variants_on
from webapp.results.models import Hardware, HardwareFact
from webapp.results.services import Unprocessable
from webapp.stats.control import LEAST_BOOTS
from webapp.stats.metrics import least_of

ALERTS_SHOWN = 12
NAMED = ("tree", "revision", "after", "likeliest")


@dataclass(frozen=True, slots=True)
class AlertOnMachine:
    """What an alert (by number) holds on this machine: its weightiest finding here, of which
    series, and how many others.
    """

    alert: int
    series: queries.SeriesOnMachine
    worst: queries.FindingOnMachine
    others: int

    @property
    def size(self) -> str:
        """``−8.2 %``; of what an option costs ``+2.6 points``."""
        worst, series = self.worst, self.series
        if not series.option:
            least = least_of(series.unit)
            levels = end_levels(worst.level_before, worst.level, worst.change_pct, least)
            return " → ".join(levels) if levels else f"{percent(worst.change_pct)} %"
        grown = cost_points(worst.level_before, worst.change_pct, series.better)
        return f"{percent(grown)} {POINTS}"

    @property
    def is_one_build(self) -> bool:
        """Whether its worst rests on one build a side."""
        return self.worst.state == Finding.State.ONE_BUILD


@dataclass(frozen=True, slots=True)
class AlertHere:
    """An open alert, whom it suspects, and what it holds ``here``."""

    alert: Alert
    suspicion: queries.Suspicion
    here: AlertOnMachine


REVISIONS_SHOWN = 200
EVENTS_SHOWN = 10
FORMER_SHOWN = 20
"""Former values of one fact."""

BOOTS_SHOWN = 200
JOBS_SHOWN = 5
"""Of a canary."""

NAME_MAX = 100
"""Of a subscription."""

Marks = Mapping[str, tuple[tuple[int, str], ...]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a machine's page shows of its series, most of it as HTML. ``together`` is the address of
    the first panel's modes in one chart.
    """

    has_series: bool
    has_found: bool
    lead: SafeString
    lanes: SafeString
    rows: SafeString
    together: str
    alerts: Sequence[AlertOnMachine]
    knobs: Sequence[Knob]


DRAWN: Cache[Drawn] = Cache(most=32, seconds=60.0)
"""A machine's series change with an upload and else stay. What changes without a sign of it in the
key, the name of a revision or the number of its place, shows late, by a minute at most."""

OPEN: Cache[SafeString] = Cache(most=32, seconds=60.0)
"""Open alerts as a machine's page lists them; a revision that becomes known may be a suspect."""


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    """One machine: its changes, its series, its facts. `q` narrows the series to some modes."""
    found = queries.machine_named(name)
    if found is None:
        raise Http404(f"No machine {name} is known.")
    machine = found.hardware
    asked = request.GET.get("q", "").replace("\0", "")[:200]
    rows = queries.findings_on(machine.pk) if found.stamp else []
    recorded = LabEvent.objects.in_force().on_hardware(found.hardware).named()
    events = list(recorded[:EVENTS_SHOWN]) if found.events else []
    marks = _marks(events)
    key = (machine.pk, machine.name, found.stamp, asked, tuple(rows), tuple(marks.items()))
    shown = DRAWN.get(key, lambda: _drawn(machine, rows, marks, asked))
    context = {
        "machine": machine,
        "asked": asked,
        "drawn": shown,
        "is_subscribed": _is_subscribed(request.user, machine),
        "alerts": OPEN.get((key, found.newest_revision), lambda: _open_here(shown.alerts)),
        "variants": variants_on(machine) if found.variants else [],
        "events": events,
        "canaries": canary_lines(list(Canary.objects.filter(hardware=machine).named()))
        if found.canaries
        else [],
        **_facts(found),
    }
    return render(request, "pages/hardware/machine.html", context)


def _is_subscribed(user: User | AnonymousUser, machine: Hardware) -> bool:
    if not isinstance(user, User):
        return False
    return Subscription.objects.filter(user=user, enabled=True).to_all_of(machine).exists()


@require_POST
@signed_in_required
def subscribe(request: HttpRequest, name: str) -> HttpResponse:
    """Mail the person at once of every change on a machine, or no longer."""
    machine = get_object_or_404(Hardware, name=name)
    user = signed_in_user(request)
    if request.POST.get("act") == "off":
        switch(Subscription.objects.filter(user=user).to_all_of(machine), on=False)
        messages.success(request, f"No more mails about this machine{_besides(user, machine)}.")
    else:
        _subscribe(user, machine)
        messages.success(request, f"You are mailed of every change on this machine{_where(user)}")
    return redirect(machine)


def _subscribe(user: User, machine: Hardware) -> None:
    """One subscription is enough: what was switched off is switched on again."""
    known = Subscription.objects.filter(user=user).to_all_of(machine)
    if known.exists():
        switch(known, on=True)
        return
    # The person may have given the first name to something narrower.
    for title in ("Everything on {}", "Any change on {}"):
        name = title.format(machine)[:NAME_MAX]
        wanted = Subscription(user=user, name=name, hardware=machine)
        with suppress(NameTaken):
            save_subscription(subscription=wanted)
            return


def _besides(user: User, machine: Hardware) -> str:
    others = Subscription.objects.filter(user=user, enabled=True)
    asking = others.filter(Q(hardware=None) | Q(hardware=machine)).exists()
    return ", unless another of your subscriptions asks for them" if asking else ""


def _where(user: User) -> str:
    return f", at {user.email}." if user.email else ", once your account has an e-mail address."


def _by_series(
    findings: Iterable[queries.FindingOnMachine],
) -> dict[int, list[queries.FindingOnMachine]]:
    found: dict[int, list[queries.FindingOnMachine]] = defaultdict(list)
    for one in findings:
        found[one.series].append(one)
    return found


def _drawn(
    machine: Hardware, rows: Sequence[queries.FindingOnMachine], marks: Marks, asked: str
) -> Drawn:
    """The lanes, sweeps and rows, and the sentence above them: of changes of level and slow ones.
    Open alerts are of every kind.
    """
    series = queries.series_on(machine.pk, window=REVISIONS_SHOWN)
    findings = _by_series(one for one in rows if one.kind != Finding.Kind.EXCURSION)
    wanted = [one for one in series if _contains(one.mode, asked)]
    drawn, rest = lanes_of(wanted, findings)
    newest = [(one.tree_id, one.positions[-1]) for one in rest]
    names = queries.names_at([*label_positions(drawn), *dict.fromkeys(newest)])
    sweeps, ones = sweeps_of(rest, names, machine.name)
    lanes = panels(drawn, findings, names, marks, machine.name)
    below = {
        "sweeps": sweeps,
        "rows": rows_of(ones, names, machine.name, folded=not asked),
        "few": not any(one.has_history for one in ones),
    }
    return Drawn(
        has_series=bool(series),
        has_found=bool(lanes or sweeps or ones),
        lead=render_to_string("pages/hardware/_lead.html", {"lead": lead(series, findings)}),
        lanes=render_to_string(
            "pages/hardware/_lanes.html", {"panels": lanes, "shown": REVISIONS_SHOWN}
        ),
        rows=render_to_string("pages/hardware/_rows.html", below),
        together=lanes[0].together if lanes else "",
        alerts=alerts_on(series, _by_series(rows)),
        knobs=knobs_of(machine.name, [one.parts for one in series]),
    )


def _contains(mode: str, asked: str) -> bool:
    return all(word in mode.lower() for word in asked.lower().split())


def _marks(events: Iterable[LabEvent]) -> Marks:
    """What is drawn along trees (by name): events that name the revision at which they show."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for one in events:
        if one.first is not None:
            found[one.first.tree.name].append((one.first.position - 1, f"lab: {one.label}"))
    return {tree: tuple(its) for tree, its in found.items()}


def _facts(found: queries.MachineFound) -> dict[str, object]:
    if not found.facts:
        return {}
    facts = HardwareFact.objects.filter(hardware=found.hardware)
    return {
        "facts": facts.newest(),
        "former_facts": facts.former(FORMER_SHOWN),
        "former_shown": FORMER_SHOWN,
        "facts_csv": reverse("api:hardware_facts_csv", args=[found.hardware.name]),
    }


def alerts_on(
    series: Sequence[queries.SeriesOnMachine],
    findings: Mapping[int, Sequence[queries.FindingOnMachine]],
) -> list[AlertOnMachine]:
    """Open alerts of the machine, largest loss first, then gains; at most `ALERTS_SHOWN`."""
    members: dict[int, list[tuple[queries.FindingOnMachine, queries.SeriesOnMachine]]] = (
        defaultdict(list)
    )
    for one in series:
        for row in findings.get(one.pk, ()):
            if row.alert is not None and row.is_open and row.state in Finding.ALERTED:
                members[row.alert].append((row, one))
    ranked = {pk: sorted(its, key=lambda pair: _weight(pair[0])) for pk, its in members.items()}
    wanted = sorted(ranked, key=lambda pk: (*_weight(ranked[pk][0][0]), -pk))[:ALERTS_SHOWN]
    return [
        AlertOnMachine(pk, series=its[0][1], worst=its[0][0], others=len(its) - 1)
        for pk, its in ((pk, ranked[pk]) for pk in wanted)
    ]


def _open_here(listed: Sequence[AlertOnMachine]) -> SafeString:
    """The alerts that are ``listed``, with their suspects. Three queries where there is any."""
    if not listed:
        return SafeString()
    found = Alert.objects.filter(pk__in=[one.alert for one in listed]).select_related(*NAMED)
    alerts = {row.pk: row for row in found}
    suspicions = queries.suspicions_of(alerts.values())
    for pk, alert in alerts.items():
        if (commit := suspicions[pk].commit) is not None:
            commit.tree = alert.tree  # its address names it
    lines = [
        AlertHere(alerts[one.alert], suspicions[one.alert], one)
        for one in listed
        if one.alert in alerts
    ]
    return render_to_string("pages/hardware/_alerts.html", {"alerts": lines})


def _weight(row: queries.FindingOnMachine) -> tuple[bool, bool, float]:
    """Losses first, what recovered after the rest; beyond the double range is the largest."""
    size = float("inf") if row.change_pct is None else abs(row.change_pct)
    is_quiet = row.state == Finding.State.RECOVERED
    return row.verdict != Verdict.WORSE, is_quiet, -size


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
def canaries(request: HttpRequest) -> HttpResponse:
    """All canaries by hardware, and where each stands."""
    lines = canary_lines(list(Canary.objects.named()))
    return render(request, "pages/hardware/canaries.html", {"lines": lines, "least": LEAST_BOOTS})


@require_safe
def one_canary(request: HttpRequest, number: int) -> HttpResponse:
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
def act_on_canary(request: HttpRequest, number: int) -> HttpResponse:
    """Begin or end the schedule of a canary."""
    canary = _canary(number)
    try:
        set_canary_active(canary=canary, is_active=request.POST.get("act") == "start")
        messages.success(request, "Started." if canary.is_active else "Stopped.")
    except Unprocessable as refusal:
        messages.error(request, str(refusal))
    return redirect(canary)


def _control(watched: WatchedCanary) -> small.Control:
    metric, limits = watched.canary.metric, watched.chart.limits
    shown = watched.boots[-BOOTS_SHOWN:]
    return small.Control(
        values=[boot.value for boot in shown],
        days=[f"{boot.at:%Y-%m-%d}" for boot in shown],
        sides=watched.chart.sides[-BOOTS_SHOWN:],
        lines=(limits.low, limits.centre, limits.high) if limits else None,
        title=f"{metric.name}, {metric.unit} ({better_text(metric.better)})",
    )


def _canary(number: int) -> Canary:
    return get_object_or_404(Canary.objects.named(), pk=min(number, NUMBER_MAX))
