"""Revisions by their place: how a chart names the ends of its axis."""

from collections.abc import Collection

from django.db import connection

NAMED = """
SELECT revision.position, revision.name
  FROM results_revision AS revision
  JOIN results_tree AS tree ON tree.id = revision.tree_id
 WHERE tree.name = %(tree)s AND revision.position = ANY(%(positions)s::bigint[])
"""


def names_at(tree: str, positions: Collection[int]) -> dict[int, str]:
    """The names of the revisions at ``positions`` of ``tree``, in one statement."""
    if not positions:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(NAMED, {"tree": tree, "positions": list(positions)})
        return dict(cursor.fetchall())
