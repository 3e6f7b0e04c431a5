"""What writers of results ask of PostgreSQL: many rows in one statement, and locks.

``bulk_create`` makes a model instance and adapts each value in Python; an upload of 20 runs pays
more for that than for everything else together. PostgreSQL unpacks JSON, one parameter, into typed
columns itself (``json_to_recordset``), arrays included.

Each lock is taken before the rows that it guards:

* Reshaping, before all others: an upload looks up a revision's position or a hardware's id and
  writes it down a little later; meanwhile an import may renumber the tree, or an operator merge the
  hardware. The lock between the two sides is shared by uploads and analyses, exclusive for the rare
  reshaping.
* Replacing, before any row: a UUID names one current run. Who replaces runs does so one at a time:
  each sees the run that the one before left, so that of many at once every one supersedes another,
  and none is refused.
* Trees, before any finding or alert: one writer of a tree's findings and alerts at a time. The
  detection itself, which is the long part, runs beside others; what it found is written down under
  this lock, and what people do to an alert as well. Several trees are taken in the order of ids.
* Series, in the order of their ids.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, models

from webapp.results.models import Series

CHUNK = 5000
T = TypeVar("T")


def insert_rows(
    model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, unique: tuple[str, ...] = ()
) -> None:
    """Insert ``rows``, each a mapping of column to value with the same columns.

    Args:
        model: whose table. Columns that are not given take the database's default.
        unique: columns of a unique constraint; a row that meets it replaces the values there. A
            stored row that has these values already is not written again.
    """
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(_statement(model, tuple(rows[0]), unique), [as_json(rows)])


def update_rows(
    model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, key: Sequence[str] = ("id",)
) -> None:
    """Let the stored rows with these values of the columns ``key`` have the other columns of
    ``rows``, each a mapping with the same columns.

    ``bulk_update`` composes a condition for each value: 48 findings cost a third of a second.
    """
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(_update_statement(model, tuple(rows[0]), tuple(key)), [as_json(rows)])


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """``items`` in lists of at most ``size``."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """The parameter of `json_to_recordset`."""
    return json.dumps(rows, default=_as_text, allow_nan=False)


def _as_text(value: Any) -> str:
    """Of what JSON has no form for: as PostgreSQL reads it."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


@lru_cache(maxsize=64)
def _statement(model: type[models.Model], columns: tuple[str, ...], unique: tuple[str, ...]) -> str:
    # Table and column names are the models' own; no value of a request is in this text.
    table = model._meta.db_table  # noqa: SLF001 (Django's documented way to a table's name)
    names = ", ".join(columns)
    types = column_types(model, columns)
    text = (
        f"INSERT INTO {table} ({names}) "  # noqa: S608
        f"SELECT {names} FROM json_to_recordset(%s::json) AS row ({types})"
    )
    if unique:
        changed = sorted(set(columns) - set(unique))
        stored, new = (
            ", ".join(f"{place}.{name}" for name in changed) for place in (table, "EXCLUDED")
        )
        text += (
            f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {_assignments(changed)}"
            f" WHERE ROW({stored}) IS DISTINCT FROM ROW({new})"
        )
    return text


@lru_cache(maxsize=64)
def _update_statement(
    model: type[models.Model], columns: tuple[str, ...], key: tuple[str, ...]
) -> str:
    table = model._meta.db_table  # noqa: SLF001
    changed = ", ".join(f"{name} = row.{name}" for name in columns if name not in key)
    return (
        f"UPDATE {table} AS stored SET {changed} "  # noqa: S608
        f"FROM json_to_recordset(%s::json) AS row ({column_types(model, columns)}) "
        f"WHERE {' AND '.join(f'stored.{name} = row.{name}' for name in key)}"
    )


def column_types(model: type[models.Model], columns: Iterable[str]) -> str:
    """Columns of a model's table with their types, as `json_to_recordset` reads them."""
    return ", ".join(f"{name} {_type(model, name)}" for name in columns)


def _assignments(columns: Iterable[str]) -> str:
    return ", ".join(f"{name} = EXCLUDED.{name}" for name in columns)


def _type(model: type[models.Model], column: str) -> str:
    for field in model._meta.concrete_fields:  # noqa: SLF001
        if field.column == column:
            found = field.db_type(connection) if field.remote_field is None else "bigint"
            return str(found)
    raise KeyError(f"{model.__name__} has no column {column}")


RESHAPE = int.from_bytes(b"reshape")
REPLACE = int.from_bytes(b"replace")
TREE = int.from_bytes(b"tree")
"""PostgreSQL keeps locks of two numbers apart from those of one: this never meets another."""


def begin_writing() -> None:
    """Revisions, hardware, modes and series keep their place until this transaction ends.

    Waits for a reshaping that is under way.
    """
    _lock("SELECT pg_advisory_xact_lock_shared(%s)", RESHAPE)


def begin_reshaping() -> None:
    """Nobody else writes until this transaction ends. Waits for those who do."""
    _lock("SELECT pg_advisory_xact_lock(%s)", RESHAPE)


def begin_replacing() -> None:
    """Nobody else replaces a run until this transaction ends."""
    _lock("SELECT pg_advisory_xact_lock(%s)", REPLACE)


def lock_trees(trees: Iterable[int]) -> list[int]:
    """Hold the trees until this transaction ends; their ids in order."""
    ordered = sorted(set(trees))
    for tree in ordered:
        _lock("SELECT pg_advisory_xact_lock(%s, %s)", TREE, tree)
    return ordered


def lock_series_ids(**subject: Any) -> list[int]:
    """The ids of the series about ``subject`` (as filters), locked in their order."""
    found = (
        Series.objects.filter(**subject).order_by("pk").select_for_update(of=["self"], no_key=True)
    )
    return list(found.values_list("pk", flat=True))


def _lock(statement: str, *numbers: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, numbers)
