"""`/audit/`: who changed what, from where, with what was before and after. For operators."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.models import AuditEntry
from webapp.accounts.services import lines_of, operator_required
from webapp.pages.parts.links import NUMBER_MAX, read_number, with_query

ROWS = 50
EXPORTED = 20_000
DAYS = ("since", "until")
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
        """The filters of the address; what is no day, or no number that a row has, means all."""
        given = {
            name: request.GET.get(name, "").strip()[:100].replace("\0", "")
            for name in PARTS
            if name not in DAYS or _is_day(request.GET.get(name, ""))
        }
        if given.get("who", "").isdecimal() and not read_number(given["who"]) < NUMBER_MAX:
            given["who"] = ""
        return cls(**given)

    def address(self, name: str = "audit", **more: str) -> str:
        """The page ``name`` with these filters, and ``more``."""
        kept = [(key, value) for key, value in (asdict(self) | more).items() if value]
        return with_query(reverse(name), kept)


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
def page(request: HttpRequest) -> HttpResponse:
    """Entries by person, action, table and day, newest first, in one query."""
    filters = Filters.of(request)
    found = AuditEntry.objects.matching(**asdict(filters)).with_people()
    if before := read_number(request.GET.get("before", "")):
        found = found.filter(pk__lt=before)
    rows = list(found[: ROWS + 1])
    context = {
        "filters": filters,
        "lines": [Line.of(entry) for entry in rows[:ROWS]],
        "older": filters.address(before=str(rows[ROWS - 1].pk)) if len(rows) > ROWS else "",
        "csv": filters.address("audit_csv"),
        "jsonl": filters.address("audit_jsonl"),
    }
    return render(request, "pages/lab/audit.html", context)


@operator_required
@never_cache
@require_safe
def export(request: HttpRequest, form: str) -> HttpResponse:
    """The newest ``EXPORTED`` entries that fit the filters, as ``csv`` or ``jsonl``."""
    found = AuditEntry.objects.matching(**asdict(Filters.of(request))).with_people()[:EXPORTED]
    response = HttpResponse("".join(lines_of(found, form)), content_type=TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="audit.{form}"'
    return response


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
