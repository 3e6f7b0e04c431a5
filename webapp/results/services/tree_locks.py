"""One writer of a tree's findings and alerts at a time.

The detection itself, which is the long part, runs beside others; what it found is written down
under this lock, and what people do to an alert as well. It is taken before any finding or alert of
the tree is, and several are taken in the order of their ids, so it adds no deadlock.
"""

from collections.abc import Iterable

from django.db import connection

LOCKS = int.from_bytes(b"tree")
"""PostgreSQL keeps locks of two numbers apart from those of one: this never meets another."""


def lock_trees(trees: Iterable[int]) -> list[int]:
    """Hold the trees until this transaction ends; their ids in order."""
    ordered = sorted(set(trees))
    with connection.cursor() as cursor:
        for tree in ordered:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCKS, tree])
    return ordered
