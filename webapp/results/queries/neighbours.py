"""The commits around one: the tested ones near it, and how many untested ones lie between."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from webapp.results.models import WAITING_FROM, Revision

# From each series its nearest points by its own index: however rarely a tree is tested, nothing
# is read but those. `side` is -1 before the commit and 1 after it.
TESTED = """
WITH near AS (
    SELECT -1 AS side, position FROM (
        SELECT DISTINCT point.position
          FROM results_series AS series
          JOIN LATERAL (SELECT own.position FROM results_point AS own
                         WHERE own.series_id = series.id AND own.position < %(at)s
                         ORDER BY own.position DESC LIMIT %(most)s) AS point ON true
         WHERE series.tree_id = %(tree)s AND series.variant_id IS NULL
         ORDER BY point.position DESC LIMIT %(most)s) AS earlier
    UNION ALL
    SELECT 1 AS side, position FROM (
        SELECT DISTINCT point.position
          FROM results_series AS series
          JOIN LATERAL (SELECT own.position FROM results_point AS own
                         WHERE own.series_id = series.id AND own.position > %(at)s
                         ORDER BY own.position LIMIT %(most)s) AS point ON true
         WHERE series.tree_id = %(tree)s AND series.variant_id IS NULL
         ORDER BY point.position LIMIT %(most)s) AS later
)
SELECT near.side, true, revision.id, revision.name, revision.position, revision.subject
  FROM near
  JOIN results_revision AS revision
    ON revision.tree_id = %(tree)s AND revision.position = near.position
UNION ALL
(SELECT -1, false, id, name, position, subject FROM results_revision
  WHERE tree_id = %(tree)s AND position < %(at)s ORDER BY position DESC LIMIT 1)
UNION ALL
(SELECT 1, false, id, name, position, subject FROM results_revision
  WHERE tree_id = %(tree)s AND position > %(at)s AND position < %(waiting)s
  ORDER BY position LIMIT 1)
ORDER BY 5
"""


class Neighbour(NamedTuple):
    """A revision near a commit."""

    pk: int
    name: str
    position: int
    subject: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What lies around a commit: the next commit on either side (None at the ends of what is
    known), and the tested ones along the tree, nearest last before it and nearest first after it.
    """

    before: Neighbour | None
    after: Neighbour | None
    tested_before: Sequence[Neighbour]
    tested_after: Sequence[Neighbour]


def neighbours_of(commit: Revision, *, most: int) -> Neighbours:
    """The commits around ``commit``, at most so many tested ones on either side. One query."""
    asked = {
        "tree": commit.tree_id,
        "at": commit.position,
        "most": most,
        "waiting": WAITING_FROM,
    }
    with connection.cursor() as cursor:
        cursor.execute(TESTED, asked)
        rows = [(row[0], row[1], Neighbour._make(row[2:])) for row in cursor.fetchall()]
    return Neighbours(
        before=next((one for side, tested, one in rows if side < 0 and not tested), None),
        after=next((one for side, tested, one in rows if side > 0 and not tested), None),
        tested_before=[one for side, tested, one in rows if side < 0 and tested],
        tested_after=[one for side, tested, one in rows if side > 0 and tested],
    )
