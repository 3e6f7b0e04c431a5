"""Tables as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpResponse

from webapp.charts.text import as_cell


def csv_response(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A file ``name`` with a head and ``rows``; a text that were a formula has `'` before it, and
    times are as RFC 3339 has them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else as_cell(value)
