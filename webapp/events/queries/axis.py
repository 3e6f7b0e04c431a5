"""What stands along an axis of revisions: the names of its ends, and the releases on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

NAMED = """
SELECT revision.position, revision.name, ''
  FROM results_revision AS revision
  JOIN results_tree AS tree ON tree.id = revision.tree_id
 WHERE tree.name = %(tree)s AND revision.position = ANY(%(ends)s::bigint[])
 UNION ALL
SELECT revision.position, revision.name, release.name
  FROM events_release AS release
  JOIN results_tree AS tree ON tree.id = release.tree_id
  JOIN results_revision AS revision ON revision.id = release.revision_id
 WHERE tree.name = %(tree)s AND revision.position BETWEEN %(first)s AND %(last)s
 ORDER BY 1, 3
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """``names`` of the revisions that were asked for, by position; ``releases`` by the position of
    their revision, with its name, in the order of the tree."""

    names: dict[int, str]
    releases: list[tuple[int, str, str]]


def axis_of(tree: str, ends: Sequence[int]) -> Axis:
    """The names of the revisions at ``ends`` (positions, at least one) and what was released from
    the first to the last, in one statement."""
    asked: dict[str, str | int | list[int]] = {"tree": tree, "ends": list(ends)}
    with connection.cursor() as cursor:
        cursor.execute(NAMED, asked | {"first": min(ends), "last": max(ends)})
        rows = cursor.fetchall()
    return Axis(
        names={position: name for position, name, release in rows if not release},
        releases=[(position, name, release) for position, name, release in rows if release],
    )
