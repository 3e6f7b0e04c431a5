"""The commits around one: the tested ones near it, and how many untested ones lie between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from webapp.results.models import WAITING_FROM, Revision

# From each series its nearest points by its own index: however rarely a tree is tested, nothing
# is read but those.
TESTED = """
WITH near AS (
    SELECT position FROM (
        SELECT DISTINCT point.position
          FROM results_series AS series
          JOIN LATERAL (SELECT own.position FROM results_point AS own
                         WHERE own.series_id = series.id AND own.position < %(at)s
                         ORDER BY own.position DESC LIMIT %(most)s) AS point ON true
         WHERE series.tree_id = %(tree)s AND series.variant_id IS NULL
         ORDER BY point.position DESC LIMIT %(most)s) AS earlier
    UNION ALL
    SELECT position FROM (
        SELECT DISTINCT point.position
          FROM results_series AS series
          JOIN LATERAL (SELECT own.position FROM results_point AS own
                         WHERE own.series_id = series.id AND own.position > %(at)s
                         ORDER BY own.position LIMIT %(most)s) AS point ON true
         WHERE series.tree_id = %(tree)s AND series.variant_id IS NULL
         ORDER BY point.position LIMIT %(most)s) AS later
)
SELECT position FROM near ORDER BY position
"""

# The steps along the places that are given, and the next commit on either side.
STEPS = """
SELECT true, revision.id, revision.name, revision.position, revision.subject,
       (SELECT count(*) FROM results_revision AS inside
         WHERE inside.tree_id = %(tree)s
           AND inside.position > step.low AND inside.position <= step.high)
  FROM unnest(%(lows)s::bigint[], %(highs)s::bigint[]) AS step (low, high)
  JOIN results_revision AS revision
    ON revision.tree_id = %(tree)s AND revision.position = step.high
UNION ALL
(SELECT false, id, name, position, subject, 0 FROM results_revision
  WHERE tree_id = %(tree)s AND position < %(at)s ORDER BY position DESC LIMIT 1)
UNION ALL
(SELECT false, id, name, position, subject, 0 FROM results_revision
  WHERE tree_id = %(tree)s AND position > %(at)s AND position < %(waiting)s
  ORDER BY position LIMIT 1)
ORDER BY 4
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
    ``steps`` says how many commits lie after the step before and up to the one at a position, which
    is counted with them; the commit is a step itself.
    """

    before: Neighbour | None
    after: Neighbour | None
    tested_before: Sequence[Neighbour]
    tested_after: Sequence[Neighbour]
    steps: Mapping[int, int]


def tested_near(commit: Revision, *, most: int) -> Sequence[int]:
    """The positions of at most so many tested commits on either side of ``commit``, in their order.
    One query.
    """
    asked = {"tree": commit.tree_id, "at": commit.position, "most": most}
    with connection.cursor() as cursor:
        cursor.execute(TESTED, asked)
        return [position for (position,) in cursor.fetchall()]


def neighbours_of(commit: Revision, tested: Sequence[int]) -> Neighbours:
    """The commits around ``commit``; ``tested`` is what `tested_near` gave. One query."""
    along = sorted([*tested, commit.position])
    asked: dict[str, Any] = {
        "tree": commit.tree_id,
        "at": commit.position,
        "lows": [None, *along[:-1]],
        "highs": along,
        "waiting": WAITING_FROM,
    }
    with connection.cursor() as cursor:
        cursor.execute(STEPS, asked)
        rows = [(is_step, Neighbour._make(row), count) for is_step, *row, count in cursor]
    steps = [(one, count) for is_step, one, count in rows if is_step]
    nearest = [one for is_step, one, _ in rows if not is_step]
    at = commit.position
    return Neighbours(
        before=next((one for one in nearest if one.position < at), None),
        after=next((one for one in nearest if one.position > at), None),
        tested_before=[one for one, _ in steps if one.position < at],
        tested_after=[one for one, _ in steps if one.position > at],
        steps={one.position: count for one, count in steps[1:]},
    )
