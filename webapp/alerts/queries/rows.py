"""Rows of hand-written statements, and models made of them.

The pages of alerts are read every morning by everybody. Django composing their queries took more
processor time than PostgreSQL answering them, so the reads of these pages are written out, a
statement for each thing that a page shows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model
from django.db.models.base import ModelState

from webapp.results.models import Revision

Row = TypeVar("Row", bound=Model)

REVISION = ("id", "tree_id", "name", "position", "author_name", "author_email", "committed_at")
REVISION_NAMES = (*REVISION, "subject")
"""The columns of a revision that a page names; its message and its paths stay where they are."""

REVISIONS = f"SELECT {', '.join(REVISION_NAMES)} FROM results_revision WHERE id = ANY(%s)"  # noqa: S608


BETWEEN = f"""
SELECT {", ".join(REVISION_NAMES)} FROM results_revision
 WHERE tree_id = %s AND position > %s AND position < %s
 ORDER BY position LIMIT %s
"""  # noqa: S608 (names of columns; no value of a request is in this text)


def rows_of(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[tuple[Any, ...]]:
    """The rows that a statement gives."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def revisions_of(ids: Iterable[int | None]) -> dict[int, Revision]:
    """Revisions by id, in one statement; ids that are None are passed over."""
    wanted = list({pk for pk in ids if pk is not None})
    if not wanted:
        return {}
    return {row[0]: revision_from(row) for row in rows_of(REVISIONS, [wanted])}


def commits_between(earlier: Revision, later: Revision, *, most: int) -> list[Revision]:
    """The first ``most`` revisions strictly between two of one tree; one statement."""
    ends = [earlier.tree_id, earlier.position, later.position]
    return [revision_from(row) for row in rows_of(BETWEEN, [*ends, most])]


def revision_from(row: Sequence[Any]) -> Revision:
    """A revision of the columns `REVISION_NAMES`."""
    return made_of(Revision, REVISION_NAMES, row)


def made_of(model: type[Row], names: Sequence[str], values: Sequence[Any]) -> Row:
    """``values`` of the attributes ``names`` as a model, as `Model.from_db` makes it; the others
    are read when they are asked for.

    Without ``__init__``, which for hundreds of findings takes longer than all that a page shows of
    them: it looks at each field for a default and sends two signals that nobody here receives.
    """
    row = model.__new__(model)
    row.__dict__.update(zip(names, values, strict=True))
    state = ModelState()
    state.db, state.adding = "default", False
    row._state = state  # noqa: SLF001 (what Model.from_db fills)
    return row
