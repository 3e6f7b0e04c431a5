"""Who writes samples, points and conclusions, and who changes what these hang on.

An upload looks up a revision's position or a hardware's id and writes it down a little later;
meanwhile an import may renumber the tree, or an operator merge the hardware. The lock between the
two sides is PostgreSQL's own for applications: shared by uploads and analyses, exclusive for the
rare reshaping. Each side takes it before any row, so it adds no deadlock.
"""

from django.db import connection

LOCK = int.from_bytes(b"reshape")


def begin_writing() -> None:
    """Revisions, hardware, modes and series keep their place until this transaction ends.

    Waits for a reshaping that is under way.
    """
    _lock("pg_advisory_xact_lock_shared")


def begin_reshaping() -> None:
    """Nobody else writes until this transaction ends. Waits for those who do."""
    _lock("pg_advisory_xact_lock")


def _lock(function: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [LOCK])
