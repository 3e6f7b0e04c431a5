"""`/bisects/`: every search for one commit, the running ones first to be chosen; `/bisects/new/`:
what a new one would search, what it may cost, and its start.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_safe

from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of
from webapp.bisects import services
from webapp.bisects.models import Bisect, BisectDecision, BisectSettings
from webapp.bisects.queries import NOT_YET, Draft, agents_for, forecast_of, with_what_is_left
from webapp.pages.compare.pickers import suggestions
from webapp.pages.parts import links
from webapp.results.models import Revision, Series, Tree

ROWS = 50
STATES = [("all", "all"), ("running", "running"), *Bisect.State.choices]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Bisects by state and tree, newest first."""
    state, tree = request.GET.get("state", ""), links.read_text(request.GET, "tree")
    state = state if state in dict(STATES) else "all"
    found = Bisect.objects.in_state(state).about(tree=tree).with_subjects()
    rows, before = links.newest(found, request, ROWS)
    parts = {"state": state, "tree": tree, "before": before}
    context = {
        "state": state,
        "tree": tree,
        "states": STATES,
        "trees": Tree.objects.all(),
        "lines": lines_of(rows),
        "older": links.with_parts(reverse("bisects"), parts) if before else "",
        "any": bool(rows) or Bisect.objects.exists(),
    }
    return render(request, "pages/bisects/bisects.html", context)


def lines_of(bisects: Sequence[Bisect]) -> list[tuple[Bisect, str]]:
    """Each of ``bisects`` in their order with its last sentence, in one query."""
    if not bisects:
        return []
    rows = BisectDecision.objects.filter(bisect__in=bisects)
    latest = rows.order_by("bisect_id", "-number").distinct("bisect_id")
    sentences = {row.bisect_id: with_what_is_left(row.figures) for row in latest}
    return [(one, sentences.get(one.pk, NOT_YET)) for one in bisects]


OFFERED = 12
"""Series that the form offers, the weightiest findings first."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A series of the alert beside the one that is bisected, with the step that it shows.

    ``adds``: it is the weightiest of another machine, which works while the first one does. A
    further mode of the same machine takes its turns.
    """

    series: Series
    effect_pct: float
    adds: bool

    @property
    def name(self) -> str:
        """``forwarding on Atom/T540``."""
        return f"{self.series.mode} on {self.series.hardware}"


PICKED = ("tree", "hardware", "mode", "measured", "revision")
"""Parts whose names the form offers; of metrics those that a job can measure."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form as text, whatever it was filled from; ``beside`` holds ids, joined by commas."""

    tree: str = ""
    hardware: str = ""
    mode: str = ""
    metric: str = ""
    good: str = ""
    bad: str = ""
    effect: str = ""
    boots: str = ""
    hours: str = ""
    deadline: str = ""
    manual: str = ""
    alert: str = ""
    beside: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether everything that a draft needs is named."""
        return all((self.tree, self.hardware, self.mode, self.metric, self.good, self.bad))

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Each field with its text, as the form that starts the bisect posts them."""
        return [*asdict(self).items(), ("picked", "1")]


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponseBase:
    """Draft a bisect with its forecast; POST starts it."""
    return _start(request) if request.method == "POST" else _ask(request)


def _ask(request: HttpRequest) -> HttpResponse:
    wanted = _wanted(request.GET)
    context: dict[str, Any] = {"wanted": wanted, "can_act": is_triager(request.user)}
    if wanted.is_complete:
        try:
            context |= _forecast(wanted)
        except services.BisectError as error:
            context["problem"] = str(error)
    return render(request, "pages/bisects/new.html", context | _form(wanted))


def _forecast(wanted: Wanted) -> dict[str, Any]:
    """Raises BisectError."""
    draft = _draft(wanted)
    hands = agents_for(draft.bisect, timezone.now())
    forecast = forecast_of(draft)
    found: dict[str, Any] = {"draft": draft, "hands": hands, "forecast": forecast}
    if forecast.contradiction and forecast.contradiction.effect is not None:
        better = replace(wanted, effect=f"{forecast.contradiction.effect:.3g}")
        found["instead"] = better.effect.replace("-", "\N{MINUS SIGN}")
        found["instead_url"] = links.with_query(reverse("bisect_new"), better.fields)
    return found


def _form(wanted: Wanted) -> dict[str, Any]:
    return {
        "picks": _picks(wanted),
        "picked": wanted.beside.split(","),
        "defaults": BisectSettings,
        "suggestions": {part: suggestions(part, "") for part in PICKED},
    }


@triager_required
def _start(request: HttpRequest) -> HttpResponse:
    wanted = _wanted(request.POST)
    try:
        bisect = services.start_bisect(draft=_draft(wanted), created_by=signed_in_user(request))
    except services.BisectRunning as error:
        messages.info(request, str(error))
        return redirect(error.bisect)
    except services.BisectError as error:
        messages.error(request, str(error))
        context = {"wanted": wanted, "can_act": True, **_form(wanted)}
        return render(request, "pages/bisects/new.html", context)
    return redirect(bisect)


def _wanted(given: QueryDict) -> Wanted:
    """What was asked; parts that are left out come from the alert's weightiest finding."""
    asked = [one.name for one in fields(Wanted) if one.name != "beside"]
    text = {name: links.read_text(given, name).strip() for name in asked}
    alert = Alert.objects.with_revisions().numbered(links.read_number(text["alert"])).first()
    if alert is None:
        text["alert"] = ""
    found = _of_alert(alert) | {name: value for name, value in text.items() if value}
    return Wanted(**found, beside=_beside(given, alert, found))


def _beside(given: QueryDict, alert: Alert | None, found: dict[str, str]) -> str:
    """What was ticked; before anything was asked, what adds to the first machine."""
    if "picked" in given:
        return ",".join(given.getlist("beside"))[: links.TEXT_MAX].replace("\0", "")
    picks = picks_of(alert, found.get("hardware", ""), found.get("mode", ""))
    return ",".join([str(one.series.pk) for one in picks if one.adds][: services.MOST_BESIDE])


def _picks(wanted: Wanted) -> list[Pick]:
    return picks_of(_alert(wanted), wanted.hardware, wanted.mode)


def _alert(wanted: Wanted) -> Alert | None:
    return Alert.objects.with_revisions().numbered(links.read_number(wanted.alert)).first()


def _of_alert(alert: Alert | None) -> dict[str, str]:
    if alert is None:
        return {}
    ends = {"tree": alert.tree.name, "good": alert.after.name, "bad": alert.revision.name}
    worst = findings_of([alert]).with_subjects().first()
    if worst is None:
        return ends
    measured = worst.series.metric.of or worst.series.metric
    return ends | {
        "hardware": worst.series.hardware.name,
        "mode": worst.series.mode.name,
        "metric": measured.name,
        "effect": f"{worst.change_pct:.3g}" if worst.change_pct else "",
    }


def _draft(wanted: Wanted) -> Draft:
    series = _series(wanted)
    return services.draft_bisect(
        series=series,
        good=_revision(series, "Good", wanted.good),
        bad=_revision(series, "Bad", wanted.bad),
        effect_pct=_number("Effect", wanted.effect),
        alert=Alert.objects.numbered(links.read_number(wanted.alert))
        .filter(tree=series.tree)
        .first(),
        beside=chosen_of(_picks(wanted), wanted.beside),
        manual=bool(wanted.manual),
        most_boots=_whole("Boots", wanted.boots) if wanted.boots else None,
        most_hours=_number("Machine-hours", wanted.hours) if wanted.hours else None,
        deadline=_moment(wanted.deadline),
    )


def _series(wanted: Wanted) -> Series:
    found = (
        Series.objects.named()
        .plain()
        .filter(
            tree__name=wanted.tree,
            hardware__name=wanted.hardware,
            mode__name=wanted.mode,
            metric__name=wanted.metric,
        )
    )
    series = found.first()
    if series is None:
        raise services.BisectError(
            "Nothing was measured for this tree, hardware, mode and metric: choose a series that "
            "has points."
        )
    return series


def _revision(series: Series, field: str, name: str) -> Revision:
    revision = Revision.objects.placed().named(tree=series.tree, name=name)
    if revision is None:
        raise services.BisectError(f"{field}: no revision “{name}” is known in {series.tree}.")
    return revision


def _number(field: str, text: str) -> float:
    if not text:
        raise services.BisectError(f"{field}: give the step in percent, for example -2.")
    try:
        value = float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        raise services.BisectError(f"{field}: “{text}” is not a number.") from None
    if not -1e9 < value < 1e9:
        raise services.BisectError(f"{field}: “{text}” is out of bounds.")
    return value


def _whole(field: str, text: str) -> int:
    value = _number(field, text)
    if not value.is_integer():
        raise services.BisectError(f"{field}: “{text}” is not a whole number.")
    return int(value)


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise services.BisectError("Deadline: give a day and a time, as 2026-12-31T18:00.")
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def picks_of(alert: Alert | None, hardware: str, mode: str) -> list[Pick]:
    """What the alert offers beside the series of ``hardware`` and ``mode``, each once."""
    if alert is None or not hardware or not mode:
        return []
    seen, machines = {(hardware, mode)}, {hardware}
    found: list[Pick] = []
    for finding in findings_of([alert]).with_subjects():
        series = finding.series
        measured = (series.hardware.name, series.mode.name)
        if measured in seen or not finding.change_pct or len(found) >= OFFERED:
            continue
        found.append(Pick(series, finding.change_pct, series.hardware.name not in machines))
        seen.add(measured)
        machines.add(series.hardware.name)
    return found


def chosen_of(picks: Sequence[Pick], asked: str) -> list[tuple[Series, float | None]]:
    """Series whose numbers ``asked`` lists, separated by commas. Raises BisectError."""
    of_number = {str(one.series.pk): one for one in picks}
    chosen: list[tuple[Series, float | None]] = []
    for number in dict.fromkeys(filter(None, asked.split(","))):
        if number not in of_number:
            raise services.BisectError(
                "Machines and modes: one of the chosen is none of this alert's; choose again."
            )
        chosen.append((of_number[number].series, of_number[number].effect_pct))
    return chosen
