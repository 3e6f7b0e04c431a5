"""`/thresholds/`: the smallest effect in force everywhere, who set it, and setting it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import operator_required, signed_in_user
from webapp.alerts import queries
from webapp.alerts.models import MinEffect, MinEffectChange
from webapp.alerts.services import MinEffectError, ensure_percent, set_min_effect, undo_min_effect
from webapp.pages.parts.links import days_before, days_of, read_number, read_text
from webapp.results.models import Hardware, Mode, Series, Tree


@dataclass(frozen=True, slots=True)
class Wanted:
    """A threshold as a form or an address names it; None lets the wider one hold."""

    scope: queries.Scope
    percent: float | None

    @classmethod
    def of(cls, form: QueryDict) -> "Wanted":
        """Raises ScopeError and MinEffectError, with words for people."""
        return cls(
            queries.Scope.named(form.get("scope", "")), read_percent(form.get("percent", ""))
        )


SERIES_SHOWN = 200
CHANGES_SHOWN = 20
PARTS = ("tree", "hardware", "mode")


@dataclass(frozen=True, slots=True)
class InForce:
    """The threshold of one series, and those that it hides."""

    series: Series
    in_force: queries.EffectInForce
    hidden: Sequence[queries.EffectInForce]

    @property
    def scope(self) -> queries.Scope:
        """What a threshold of this series alone is set for."""
        return queries.Scope.around(self.series)


class LogLine(NamedTuple):
    """A change, and whether it is the last one of its scope: only that can be undone."""

    change: MinEffectChange
    scope: queries.Scope
    is_last: bool


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The thresholds that are set, those in force by series, and the log of changes."""
    wanted = {part: read_text(request.GET, part) for part in PARTS}
    rows = list(_series(wanted)[: SERIES_SHOWN + 1])
    context = {
        "wanted": wanted,
        "default": queries.DEFAULT,
        "set": [(queries.Scope.around(row.of), row.percent) for row in _set()],
        "series": in_force(rows[:SERIES_SHOWN]),
        "more": len(rows) > SERIES_SHOWN,
        "changes": _log(),
        "trees": Tree.objects.all(),
        "hardware": Hardware.objects.all(),
        "modes": Mode.objects.all(),
        "days": days_of(request),
    }
    return render(request, "pages/lab/thresholds.html", context)


def _log() -> list[LogLine]:
    """The newest first."""
    lines: list[LogLine] = []
    seen: set[str] = set()
    for change in MinEffectChange.objects.named()[:CHANGES_SHOWN]:
        scope = queries.Scope.around(change.of)
        lines.append(LogLine(change, scope, str(scope) not in seen))
        seen.add(str(scope))
    return lines


def _set() -> QuerySet[MinEffect]:
    return MinEffect.objects.select_related(*PARTS).order_by("tree", "hardware", "mode")


def _series(wanted: dict[str, str]) -> QuerySet[Series]:
    asked = {f"{part}__name": name for part, name in wanted.items() if name}
    parts = ("tree__name", "hardware__name", "mode__name", "metric__name")
    return Series.objects.named().plain().filter(**asked).order_by(*parts)


def in_force(series: Sequence[Series]) -> list[InForce]:
    """In two queries."""
    thresholds = queries.MinEffects.of(row.pk for row in series)
    chains = [(row, thresholds.chain(row)) for row in series]
    return [InForce(row, chain[0], chain[1:]) for row, chain in chains]


@require_POST
@operator_required
def set_one(request: HttpRequest) -> HttpResponse:
    """Set a threshold, or take one away, with a reason."""
    actor, reason = signed_in_user(request), request.POST.get("reason", "").strip()[:2000]
    try:
        wanted = Wanted.of(request.POST)
        change = set_min_effect(
            scope=wanted.scope, percent=wanted.percent, actor=actor, reason=reason.replace("\0", "")
        )
    except (queries.ScopeError, MinEffectError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Set: {change}. It is in the log, with an undo.")
    return redirect(_back(request))


@require_POST
@operator_required
def undo_one(request: HttpRequest) -> HttpResponse:
    """Undo a change of a threshold."""
    number = read_number(request.POST.get("change", ""))
    try:
        change = undo_min_effect(change=number, actor=signed_in_user(request))
    except MinEffectError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Undone: {change}.")
    return redirect(_back(request))


def _back(request: HttpRequest) -> str:
    """The page that the form names, if it is one of ours."""
    page = request.POST.get("next", "")
    ours = page.startswith("/") and url_has_allowed_host_and_scheme(page, None)
    return page if ours else reverse("thresholds")


def read_percent(text: str) -> float | None:
    """A percentage as people write it; None for nothing. Raises MinEffectError."""
    text = text.strip().removesuffix("%").strip().replace(",", ".")
    if not text:
        return None
    try:
        percent = float(text)
    except ValueError:
        percent = float("nan")
    if not isfinite(percent):
        raise MinEffectError(f"percent: “{text[:50]}” is no number; write one like 2.5.")
    return ensure_percent(percent)


@require_safe
def dry_run_page(request: HttpRequest) -> HttpResponse:
    """Which alerts another threshold would have opened or not; 400 for one that cannot be read."""
    days = days_of(request)
    form = {name: request.GET.get(name, "") for name in ("scope", "percent")}
    context: dict[str, object] = {"days": days, "form": form}
    try:
        wanted = Wanted.of(request.GET)
    except (queries.ScopeError, MinEffectError) as error:
        context["error"] = str(error)
        return render(request, "pages/lab/threshold_dry_run.html", context, status=400)
    found = queries.dry_run(wanted.scope, wanted.percent, since=days_before(timezone.now(), days))
    context |= {"wanted": wanted, "found": found, "parts": _parts(found)}
    context["in_force"] = wanted.scope.percent()
    return render(request, "pages/lab/threshold_dry_run.html", context)


def _parts(found: queries.DryRun) -> list[tuple[str, object]]:
    return [
        ("Would not be raised", found.gone),
        ("Would be raised besides", found.raised),
        ("Would stay, because of other machines or modes alone", found.because_of_others),
    ]
