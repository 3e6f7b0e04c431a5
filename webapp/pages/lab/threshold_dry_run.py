"""`/thresholds/dry-run/?scope=…&percent=…&days=…`: what a threshold would have raised."""

from dataclasses import dataclass
from math import isfinite

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts.queries import DryRun, Scope, ScopeError, dry_run
from webapp.alerts.services import MinEffectError, ensure_percent
from webapp.pages.parts.days import days_before, days_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """A threshold as a form or an address names it; None lets the wider one hold."""

    scope: Scope
    percent: float | None

    @classmethod
    def of(cls, form: QueryDict) -> "Wanted":
        """Raises ScopeError and MinEffectError, with words for people."""
        return cls(Scope.named(form.get("scope", "")), read_percent(form.get("percent", "")))


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
def page(request: HttpRequest) -> HttpResponse:
    """Which alerts another threshold would have opened or not; 400 for one that cannot be read."""
    days = days_of(request)
    form = {name: request.GET.get(name, "") for name in ("scope", "percent")}
    context: dict[str, object] = {"days": days, "form": form}
    try:
        wanted = Wanted.of(request.GET)
    except (ScopeError, MinEffectError) as error:
        context["error"] = str(error)
        return render(request, "pages/threshold_dry_run.html", context, status=400)
    found = dry_run(wanted.scope, wanted.percent, since=days_before(timezone.now(), days))
    context |= {"wanted": wanted, "found": found, "parts": _parts(found)}
    context["in_force"] = wanted.scope.percent()
    return render(request, "pages/threshold_dry_run.html", context)


def _parts(found: DryRun) -> list[tuple[str, object]]:
    return [
        ("Would not be raised", found.gone),
        ("Would be raised besides", found.raised),
        ("Would stay, because of other machines or modes alone", found.because_of_others),
    ]
