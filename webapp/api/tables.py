"""Tables as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes instead of showing it (OWASP, CSV injection)."""


def csv_response(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A file ``name`` with a head and ``rows``; a text that were a formula has `'` before it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response


def _cell(value: Any) -> Any:
    """Text that would be a formula is marked as text; a number stays one, with its sign."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
