"""`/labs/`: what each lab has stored, and how much it may. For operators."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import operator_required
from webapp.labs.models import Lab, LabQuota
from webapp.labs.services import UNITS, default_quota, set_quota

MOST = 1_000_000_000
WARN_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Use:
    """What a lab has of one thing; ``own``: as an operator set it, None: as every lab."""

    what: str
    unit: str
    used: int
    default: int
    own: int | None

    @property
    def most(self) -> int:
        """What is in force."""
        return self.default if self.own is None else self.own

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more is stored."""
        return self.used >= self.most

    @property
    def is_nearly_used_up(self) -> bool:
        """Whether an operator should know."""
        return self.used >= WARN_SHARE * self.most


@operator_required
@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The quotas of all labs, in one query."""
    labs = Lab.objects.select_related("quota")
    return render(
        request,
        "pages/jobs/labs.html",
        {"labs": [(lab, uses_of(lab)) for lab in labs], "default": default_quota(), "most": MOST},
    )


@operator_required
@never_cache
@require_POST
def quota(request: HttpRequest, number: int) -> HttpResponse:
    """Set the quota of a lab; an empty field is the default."""
    lab = get_object_or_404(Lab, pk=number)
    typed = {what: request.POST.get(what, "").strip()[:20] for what in UNITS}
    wrong = [UNITS[what] for what, text in typed.items() if not _is_usable(text)]
    if wrong:
        messages.error(
            request,
            f"{lab}: {' and '.join(wrong)}: a whole number up to {MOST} is needed, or nothing for "
            "the default. Nothing was changed.",
        )
        return redirect("labs")
    given = {what: int(text) if text else None for what, text in typed.items()}
    set_quota(lab=lab, **given)
    texts = [f"{'default' if most is None else most} {UNITS[what]}" for what, most in given.items()]
    done = f"Quota of {lab}: {', '.join(texts)}."
    messages.success(request, done)
    return redirect("labs")


def uses_of(lab: Lab) -> list[Use]:
    """Of each thing that has a quota."""
    found: LabQuota | None = getattr(lab, "quota", None)
    used = dict.fromkeys(UNITS, 0)
    own: dict[str, int | None] = dict.fromkeys(UNITS)
    if found is not None:
        today = found.runs if found.day == timezone.now().date() else 0
        used = {what: getattr(found, what) for what in UNITS} | {"runs": today}
        own = {what: getattr(found, f"most_{what}") for what in UNITS}
    most = default_quota()
    return [Use(what, unit, used[what], most[what], own[what]) for what, unit in UNITS.items()]


def _is_usable(text: str) -> bool:
    return not text or (text.isascii() and text.isdecimal() and int(text) <= MOST)
