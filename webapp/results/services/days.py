"""Where revisions that are known by a day belong along a tree whose history is dated."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from webapp.results.models.history import WAITING_FROM
from webapp.results.revision_ids import day_of
from webapp.results.services.bulk import fetch_rows

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
    rows = fetch_rows(NEIGHBOURS, WAITING_FROM, WAITING_FROM, list(range(len(keys))), trees, ends)
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
    for number, name, position in fetch_rows(BETWEEN, *columns):
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
