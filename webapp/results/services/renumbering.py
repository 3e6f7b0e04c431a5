"""Move revisions to other places on their tree; their points follow, their series are dirty."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Max, Min

from webapp.results.models import Measurement, Point, Revision, Series, Tree
from webapp.results.models.history import WAITING_FROM
from webapp.results.services.bulk import chunks
from webapp.results.services.points import mark_dirty, refresh_points

# UNIQUE (tree, position) is checked row by row, for bulk inserts rely on it (ON CONFLICT takes no
# deferrable constraint). So two revisions change places by way of a range that is free.
MOVE_AWAY = """
UPDATE results_revision SET position = %s + id WHERE id = ANY(%s)
"""
MOVE_IN = """
UPDATE results_revision AS revision SET position = moved.position
  FROM unnest(%s::bigint[], %s::bigint[]) AS moved (id, position)
 WHERE revision.id = moved.id
"""
MOVE_POINTS = """
UPDATE results_point AS point SET position = moved.new
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS moved (id, old, new)
 WHERE point.revision_id = moved.id
RETURNING point.series_id, LEAST(moved.old, moved.new)
"""
DELETE_POINTS = """
DELETE FROM results_point WHERE revision_id = ANY(%s) RETURNING series_id, position
"""


@dataclass(frozen=True, slots=True)
class Move:
    """A revision that changes its position."""

    revision: int
    old: int
    new: int


def lock_series_of(tree: Tree) -> None:
    """Lock the series of ``tree``, in the order of ids like everybody, and before revisions."""
    list(
        Series.objects.filter(tree=tree)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )


def mark_changed(revisions: Iterable[int]) -> None:
    """Make series dirty that show these revisions: their names and subjects are part of them."""
    lowest: dict[int, int] = {}
    for chunk in chunks(revisions):
        measured = Point.objects.filter(revision__in=chunk).order_by()
        places = measured.values("series").annotate(lowest=Min("position"))
        _keep_lowest(lowest, places.values_list("series", "lowest"))
    if lowest:
        mark_dirty(lowest)


def move_revisions(*, tree: Tree, moves: Sequence[Move]) -> None:
    """Put revisions of ``tree`` in their new places, which are free or given up by another move.

    The caller has begun a reshaping and locked the series of the tree. What was concluded from the
    lowest place that changed on is concluded anew, for each series that was measured there. Points
    go with a place and come with one: see ``WAITING_FROM``.
    """
    if not moves:
        return
    free = _free_range(tree, moves)
    lowest: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(DELETE_POINTS, [[one.revision for one in moves if one.new >= WAITING_FROM]])
        _keep_lowest(lowest, cursor.fetchall())
        for chunk in chunks(moves):
            cursor.execute(MOVE_AWAY, [free, [move.revision for move in chunk]])
        for chunk in chunks(moves):
            ids, new = [move.revision for move in chunk], [move.new for move in chunk]
            cursor.execute(MOVE_IN, [ids, new])
            cursor.execute(MOVE_POINTS, [ids, [move.old for move in chunk], new])
            _keep_lowest(lowest, cursor.fetchall())
    if lowest:
        mark_dirty(lowest)
    _pool({one.revision: one.new for one in moves if one.old >= WAITING_FROM})


def _pool(arrived: dict[int, int]) -> None:
    """Make the points of revisions (id → position) that waited until now."""
    for chunk in chunks(sorted(arrived)):
        measured = Measurement.objects.counted().filter(run__revision__in=chunk)
        refresh_points(measured.values_list("series", "run__revision"), arrived)


def _free_range(tree: Tree, moves: Sequence[Move]) -> int:
    """A number above which no position of the tree lies, before and after the moves."""
    stored = Revision.objects.filter(tree=tree).aggregate(top=Max("position"))["top"]
    return max(stored or 0, *(move.new for move in moves)) + 1


def _keep_lowest(lowest: dict[int, int], changed: Iterable[tuple[int, int]]) -> None:
    for series, position in changed:
        lowest[series] = min(lowest.get(series, position), position)
