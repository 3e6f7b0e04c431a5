"""Whether a place lies far beyond what is known of its tree, so that it would pass for the newest.

A tree's span reaches from 0 to the number of its 20th newest revision (a few strays do not stretch
it): the number of a Subversion revision is N, and so is that of a first-parent count, which is kept
at 10⁹ + N. A place is far off when its number is more than ten times that. A tree of fewer than 20
revisions has no span.
"""

from collections.abc import Mapping
from typing import TypeVar

from webapp.results.models.history import WAITING_FROM
from webapp.results.revision_ids import GIT_COUNT_OFFSET
from webapp.results.services.bulk import fetch_rows

Key = TypeVar("Key")

FACTOR = 10
LEAST_REVISIONS = 20
LOOKED_AT = 1000
"""Newest revisions: what a lab proposed itself is passed by, within these."""

# A lab's own proposals do not widen the span for the next one; where there is little else, as on a
# tree that one lab measures, they are all there is.
REFERENCES = """
SELECT tree.id, COALESCE(
       (SELECT position FROM newest WHERE tree_id = tree.id AND NOT own
         ORDER BY position DESC OFFSET %s LIMIT 1),
       (SELECT position FROM newest WHERE tree_id = tree.id
         ORDER BY position DESC OFFSET %s LIMIT 1))
  FROM unnest(%s::bigint[]) AS tree (id)
"""
NEWEST = """
WITH newest AS (
SELECT one.tree_id, one.position,
       NOT one.decided AND agent.lab_id IS NOT DISTINCT FROM %s AS own
  FROM unnest(%s::bigint[]) AS wanted (tree_id)
 CROSS JOIN LATERAL (
       SELECT tree_id, position, decided, proposed_by_id FROM results_revision
        WHERE tree_id = wanted.tree_id AND position < %s
        ORDER BY position DESC LIMIT %s) AS one
  LEFT JOIN labs_agent AS agent ON agent.id = one.proposed_by_id)
"""


def far_off(positions: Mapping[Key, tuple[int, int]], *, lab: int) -> set[Key]:
    """Those of ``positions``, each of a tree (id), that a lab (id) may not give alone."""
    spans = _spans({tree for tree, _ in positions.values()}, lab)
    return {
        key
        for key, (tree, position) in positions.items()
        if tree in spans and number_of(position) > FACTOR * spans[tree]
    }


def number_of(position: int) -> int:
    """The number that the id at ``position`` bears, counted in Subversion or along git."""
    return position - GIT_COUNT_OFFSET if position >= GIT_COUNT_OFFSET else position


def _spans(trees: set[int], lab: int) -> dict[int, int]:
    """Of trees with enough revisions."""
    ids, last = sorted(trees), LEAST_REVISIONS - 1
    rows = fetch_rows(NEWEST + REFERENCES, lab, ids, WAITING_FROM, LOOKED_AT, last, last, ids)
    return {tree: max(number_of(found), 1) for tree, found in rows if found is not None}
