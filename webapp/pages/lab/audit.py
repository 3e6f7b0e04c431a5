"""`/audit/`: who changed what, from where, with what was before and after. For operators."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.models import AuditEntry
from webapp.accounts.services import lines_of, operator_required
from webapp.pages.parts.links import (
    NUMBER_MAX,
    newest,
    read_number,
    read_text,
    with_parts,
)

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
def page(request: HttpRequest) -> HttpResponse:
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
def export(request: HttpRequest, form: str) -> HttpResponse:
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
