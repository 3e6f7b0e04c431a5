"""Lists of the API: numbered rows, newest first, page by page; tables as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import models
from django.http import HttpResponse
from ninja import Schema
from pydantic import Field

from webapp.charts.text import as_cell

Row = TypeVar("Row", bound=models.Model)
ID_MAX = 2**63 - 1


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


def csv_of(name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> HttpResponse:
    """`csv_response` of ``rows`` as JSON has them, of which ``columns`` are taken."""
    return csv_response(name, columns, ([row[column] for column in columns] for row in rows))


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else as_cell(value)


class Page(Schema):
    """Which page of a list; ``next`` of an answer is the ``before`` of the page that follows."""

    before: int = Field(ID_MAX, ge=0, le=ID_MAX, description="Only numbers smaller than this.")
    limit: int = Field(100, ge=1, le=1000)


def newest(found: models.QuerySet[Row], page: Page) -> tuple[list[Row], int | None]:
    """The rows of a page, and the number that the next one goes on from; None: it is the last."""
    rows = list(found.filter(pk__lt=page.before).order_by("-pk")[: page.limit + 1])
    shown = rows[: page.limit]
    return shown, shown[-1].pk if len(rows) > page.limit else None


def bounded(number: int) -> int:
    """A number that the database can look for; one too large for it is nobody's."""
    return max(-1, min(number, ID_MAX))
