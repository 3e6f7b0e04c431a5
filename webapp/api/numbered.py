"""Things with numbers: asked for one by one, or as a list, newest first, page by page."""

from typing import TypeVar

from django.db import models
from ninja import Schema
from pydantic import Field

Row = TypeVar("Row", bound=models.Model)
ID_MAX = 2**63 - 1


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
