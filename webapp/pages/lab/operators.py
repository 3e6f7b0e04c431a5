"""What operators alone read. `/audit/`: who changed what, from where, with what was before and
after; `/status/`: what the instance does now, and what to do where it does not; `/labs/`: what each
lab has stored, and how much it may.
"""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import AuditEntry
from webapp.accounts.services import lines_of, operator_required
from webapp.labs.models import Lab, LabQuota
from webapp.labs.services import UNITS, default_quota, set_quota
from webapp.notifications.models import Problem
from webapp.notifications.services import checks
from webapp.pages.parts.links import NUMBER_MAX, newest, read_number, read_text, with_parts

ROWS = 50
EXPORTED = 20_000
DAYS = {"since": "From", "until": "To"}
"""Filters that are days, by what the page calls them."""
PARTS = ("who", "action", "table", "row", *DAYS)
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which entries are shown; an empty part means all."""

    who: str = ""
    action: str = ""
    table: str = ""
    row: str = ""
    since: str = ""
    until: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        """The filters of the address; a number that no person can have means all.

        Raises ValueError, with a text for the reader, for what is no day.
        """
        given = {name: read_text(request.GET, name, 100).strip() for name in PARTS}
        for name, label in DAYS.items():
            if given[name] and not _is_day(given[name]):
                raise ValueError(f"{label}: “{given[name]}” is no day; one is 2026-11-26.")
        if given.get("who", "").isdecimal() and not read_number(given["who"]) < NUMBER_MAX:
            given["who"] = ""
        return cls(**given)

    def address(self, name: str = "audit", **more: str) -> str:
        """The page ``name`` with these filters, and ``more``."""
        return with_parts(reverse(name), asdict(self) | more)


@dataclass(frozen=True, slots=True)
class Line:
    """An entry as the page shows it: ``values`` are (column, before, after)."""

    entry: AuditEntry
    values: list[tuple[str, Any, Any]]
    of_row: str

    @classmethod
    def of(cls, entry: AuditEntry) -> "Line":
        """The columns in the order of their names."""
        before, after = entry.before or {}, entry.after or {}
        names = sorted(before.keys() | after.keys())
        here = Filters(table=entry.subject, row=entry.row_key).address() if entry.row_key else ""
        return cls(entry, [(name, before.get(name), after.get(name)) for name in names], here)


@operator_required
@never_cache
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """Entries by person, action, table and day, newest first, in one query."""
    try:
        filters = Filters.of(request)
    except ValueError as error:
        given = {name: request.GET.get(name, "") for name in PARTS}
        refused = {"filters": given, "problem": str(error)}
        return render(request, "pages/lab/audit.html", refused, status=400)
    found = AuditEntry.objects.matching(**asdict(filters)).with_people()
    rows, before = newest(found, request, ROWS)
    context = {
        "filters": filters,
        "lines": [Line.of(entry) for entry in rows],
        "older": filters.address(before=before) if before else "",
        "csv": filters.address("audit_csv"),
        "jsonl": filters.address("audit_jsonl"),
    }
    return render(request, "pages/lab/audit.html", context)


@operator_required
@never_cache
@require_safe
def audit_file(request: HttpRequest, form: str) -> HttpResponse:
    """The newest ``EXPORTED`` entries that fit the filters, as ``csv`` or ``jsonl``."""
    try:
        filters = Filters.of(request)
    except ValueError as error:
        return HttpResponseBadRequest(f"{error}\n", content_type="text/plain; charset=utf-8")
    found = AuditEntry.objects.matching(**asdict(filters)).with_people()[:EXPORTED]
    response = HttpResponse("".join(lines_of(found, form)), content_type=TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="audit.{form}"'
    return response


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@operator_required
@never_cache
@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """All checks, those that are wrong first."""
    found = checks()
    since = dict(Problem.objects.values_list("name", "since"))
    context = {
        "checks": [(each, each.since or since.get(each.name)) for each in found],
        "wrong": sum(each.is_wrong for each in found),
    }
    return render(request, "pages/lab/status.html", context)


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
def labs(request: HttpRequest) -> HttpResponse:
    """The quotas of all labs, in one query."""
    found = Lab.objects.select_related("quota")
    return render(
        request,
        "pages/lab/labs.html",
        {"labs": [(lab, uses_of(lab)) for lab in found], "default": default_quota(), "most": MOST},
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
