"""What a migration needs to fill a column from another one, however many rows there are."""

from collections.abc import Callable
from typing import Any

ROWS = 5000
READ = (
    "SELECT id, {source}::text FROM {table} WHERE id > %s AND {target} IS NULL ORDER BY id LIMIT %s"
)
WRITE = """
UPDATE {table} AS stored SET {target} = new.value, {source} = NULL
  FROM unnest(%s::bigint[], %s::bytea[]) AS new (id, value)
 WHERE stored.id = new.id
"""

NEXT = "SELECT max(id) FROM (SELECT id FROM {table} WHERE id > %s ORDER BY id LIMIT %s) AS part"


def in_batches(connection: Any, table: str, *statements: str) -> None:
    """Execute statements for each 5,000 rows, of which ``%(after)s`` < id <= ``%(last)s``; each is
    a transaction, and has to leave rows alone that it changed before it was interrupted.

    To be called by a migration that is not atomic, as `pack_column`.
    """
    after = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(NEXT.format(table=table), [after, ROWS])
            (last,) = cursor.fetchone()
            if last is None:
                break
            for statement in statements:
                cursor.execute(statement, {"after": after, "last": last})
            after = last
        cursor.execute(f"VACUUM (ANALYZE) {table}")


def pack_column(
    connection: Any, table: str, source: str, target: str, pack: Callable[[str], bytes]
) -> None:
    """Store in the empty ``target`` what ``pack`` makes of the text of ``source``, which becomes
    null: a transaction for each 5,000 rows, and once more it goes on where it was interrupted.

    To be called by a migration that is not atomic. What rows took is free for other rows then;
    only ``VACUUM FULL`` gives it back to the disk.
    """
    names = {"table": table, "source": source, "target": target}
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(READ.format(**names), [last, ROWS])
            rows = cursor.fetchall()
            if not rows:
                break
            ids = [pk for pk, _ in rows]
            cursor.execute(WRITE.format(**names), [ids, [pack(text) for _, text in rows]])
            last = ids[-1]
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {table}")
