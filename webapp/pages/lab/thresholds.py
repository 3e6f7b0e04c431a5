"""`/thresholds/`: the smallest effect in force everywhere, who set it, and setting it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import operator_required, signed_in_user
from webapp.alerts.models import MinEffect, MinEffectChange
from webapp.alerts.queries import DEFAULT, EffectInForce, MinEffects, Scope, ScopeError
from webapp.alerts.services import MinEffectError, set_min_effect, undo_min_effect
from webapp.pages.lab.threshold_dry_run import Wanted
from webapp.pages.parts.days import days_of
from webapp.pages.parts.numbers import read_number
from webapp.results.models import Hardware, Mode, Series, Tree

SERIES_SHOWN = 200
CHANGES_SHOWN = 20
PARTS = ("tree", "hardware", "mode")


@dataclass(frozen=True, slots=True)
class InForce:
    """The threshold of one series, and those that it hides."""

    series: Series
    in_force: EffectInForce
    hidden: Sequence[EffectInForce]

    @property
    def scope(self) -> Scope:
        """What a threshold of this series alone is set for."""
        return Scope.around(self.series)


class LogLine(NamedTuple):
    """A change, and whether it is the last one of its scope: only that can be undone."""

    change: MinEffectChange
    scope: Scope
    is_last: bool


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The thresholds that are set, those in force by series, and the log of changes."""
    wanted = {part: request.GET.get(part, "")[:300].replace("\0", "") for part in PARTS}
    rows = list(_series(wanted)[: SERIES_SHOWN + 1])
    context = {
        "wanted": wanted,
        "default": DEFAULT,
        "set": [(Scope.around(row.of), row.percent) for row in _set()],
        "series": in_force(rows[:SERIES_SHOWN]),
        "more": len(rows) > SERIES_SHOWN,
        "changes": _log(),
        "trees": Tree.objects.all(),
        "hardware": Hardware.objects.all(),
        "modes": Mode.objects.all(),
        "days": days_of(request),
    }
    return render(request, "pages/thresholds.html", context)


def _log() -> list[LogLine]:
    """The newest first."""
    lines: list[LogLine] = []
    seen: set[str] = set()
    for change in MinEffectChange.objects.named()[:CHANGES_SHOWN]:
        scope = Scope.around(change.of)
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
    thresholds = MinEffects.of(row.pk for row in series)
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
            scope=wanted.scope,
            percent=wanted.percent,
            actor=actor,
            reason=reason.replace("\0", ""),
        )
    except (ScopeError, MinEffectError) as error:
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
