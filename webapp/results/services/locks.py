"""The locks that writers of results take, each before the rows that it guards.

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

from collections.abc import Iterable
from typing import Any

from django.db import connection

from webapp.results.models import Series

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
