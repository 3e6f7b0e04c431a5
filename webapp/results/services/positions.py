"""Positions along a tree: of revisions that are known by a day, where history is dated; and those
so far beyond what is known that a revision would pass for the newest.

A tree's span reaches from 0 to the number of its 20th newest revision (a few strays do not stretch
it): the number of a Subversion revision is N, and so is that of a first-parent count, which is kept
at 10⁹ + N. A position is far off when its number is more than ten times that. A tree of fewer than
20 revisions has no span.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from webapp.results.models import WAITING_FROM
from webapp.results.queries import rows_of
from webapp.results.spellings import GIT_COUNT_OFFSET, day_of

Key = TypeVar("Key")
# The last commit up to the end of the day and the first after it, along the tree and not by the
# clock: where the dates of history go back and forth around that day, the two are out of order.
NEIGHBOURS = """
SELECT wanted.number,
       (SELECT max(position) FROM results_revision
         WHERE tree_id = wanted.tree AND position < %s AND committed_at < wanted.ends),
       (SELECT min(position) FROM results_revision
         WHERE tree_id = wanted.tree AND position < %s AND committed_at >= wanted.ends)
  FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[]) AS wanted (number, tree, ends)
"""
# What lies between them has no date of its own: days among it, and revisions whose day is unknown.
BETWEEN = """
SELECT gap.number, revision.name, revision.position
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
       AS gap (number, tree, after, before)
  JOIN results_revision AS revision
    ON revision.tree_id = gap.tree
   AND revision.position > gap.after AND revision.position < gap.before
"""
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


def places_of_days(days: Mapping[Key, tuple[int, date]]) -> dict[Key, int]:
    """Places for days, each of a tree (id): right after the last commit of the day, or of one
    before it, and after earlier days.

    Left out is what the tree does not tell: its dated history does not reach past that day, its
    dates go back and forth there, no number is free between the two commits, or a revision whose
    day is not known lies there.
    """
    keys = sorted(days, key=lambda key: days[key])
    ends = [
        datetime.combine(days[key][1] + timedelta(days=1), datetime.min.time(), UTC) for key in keys
    ]
    trees = [days[key][0] for key in keys]
    rows = rows_of(NEIGHBOURS, [WAITING_FROM, WAITING_FROM, list(range(len(keys))), trees, ends])
    gaps = {
        number: (after, before)
        for number, after, before in rows
        if after is not None and before is not None and after < before
    }
    between = _between(gaps, trees) if gaps else {}
    found: dict[Key, int] = {}
    taken: set[tuple[int, int]] = set()
    for number, key in enumerate(keys):
        if number not in gaps:
            continue
        place = _place(days[key][1], gaps[number], between.get(number, ()), trees[number], taken)
        if place is not None:
            found[key] = place
            taken.add((trees[number], place))
    return found


def far_off(positions: Mapping[Key, tuple[int, int]], *, lab: int) -> set[Key]:
    """The ``positions``, each of a tree (id), that a lab (id) may not give alone."""
    spans = _spans({tree for tree, _ in positions.values()}, lab)
    return {
        key
        for key, (tree, position) in positions.items()
        if tree in spans and number_of(position) > FACTOR * spans[tree]
    }


def number_of(position: int) -> int:
    """The number that the id at ``position`` bears, counted in Subversion or along git."""
    return position - GIT_COUNT_OFFSET if position >= GIT_COUNT_OFFSET else position


def _between(
    gaps: Mapping[int, tuple[int, int]], trees: list[int]
) -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = {}
    columns = (
        list(gaps),
        [trees[number] for number in gaps],
        [after for after, _ in gaps.values()],
        [before for _, before in gaps.values()],
    )
    for number, name, position in rows_of(BETWEEN, [*columns]):
        found.setdefault(number, []).append((name, position))
    return found


def _place(
    day: date,
    gap: tuple[int, int],
    between: Iterable[tuple[str, int]],
    tree: int,
    taken: set[tuple[int, int]],
) -> int | None:
    """The first number of the gap after the days before this one, if it is free and precedes those
    after it."""
    after, before = gap
    for name, position in between:
        other = day_of(name)
        if other is None:
            return None
        if other < day:
            after = max(after, position)
        else:
            before = min(before, position)
    # Days of the same upload come in their order, so that these are earlier ones.
    while (tree, after + 1) in taken:
        after += 1
    return after + 1 if after + 1 < before else None


def _spans(trees: set[int], lab: int) -> dict[int, int]:
    """Of trees with enough revisions."""
    ids, last = sorted(trees), LEAST_REVISIONS - 1
    rows = rows_of(NEWEST + REFERENCES, [lab, ids, WAITING_FROM, LOOKED_AT, last, last, ids])
    return {tree: max(number_of(found), 1) for tree, found in rows if found is not None}
