"""The revisions that sides of a comparison name."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from webapp.analysis.queries.sides import Side, SideError
from webapp.events.models import Release
from webapp.results.models import WAITING_FROM, Revision, Tree

NUMBERED = re.compile(r"[A-Za-z]?([0-9]{1,18})")
# By id or alias, which nearly every address is written with, all sides in one statement.
NAMED = """
SELECT tree.id, tree.name, revision.id, revision.name, revision.position, revision.author_name,
       revision.committed_at, revision.subject
  FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS side (tree, name, number)
  LEFT JOIN results_tree AS tree ON tree.name = side.tree
  LEFT JOIN results_revisionalias AS alias ON alias.tree_id = tree.id AND alias.name = side.name
  LEFT JOIN results_revision AS revision
    ON revision.id = alias.revision_id AND revision.position < %s
 ORDER BY side.number
"""


class _Row(NamedTuple):
    tree_id: int | None
    tree: str
    revision_id: int | None
    name: str
    position: int
    author_name: str
    committed_at: datetime | None
    subject: str


def revisions_of(sides: Sequence[Side]) -> tuple[Revision, ...]:
    """The revision that each side names, with its tree: by id, alias or the start of a hash, or the
    one that a release of that name is of. Without message and paths. One statement where all are
    ids or aliases.

    Raises:
        SideError: a tree or a revision is not known.
    """
    with connection.cursor() as cursor:
        names = [side.tree for side in sides], [side.revision for side in sides]
        cursor.execute(NAMED, [*names, WAITING_FROM])
        rows = [_Row._make(row) for row in cursor.fetchall()]
    return tuple(_revision(side, row) for side, row in zip(sides, rows, strict=True))


def _revision(side: Side, row: _Row) -> Revision:
    if row.tree_id is None:
        raise SideError(f"no tree {side.tree!r} (in {side})")
    tree = Tree(pk=row.tree_id, name=row.tree)
    if row.revision_id is None:
        return _by_hash_or_release(side, tree)
    return Revision(
        pk=row.revision_id,
        tree=tree,
        name=row.name,
        position=row.position,
        author_name=row.author_name,
        committed_at=row.committed_at,
        subject=row.subject,
    )


def _by_hash_or_release(side: Side, tree: Tree) -> Revision:
    found = Revision.objects.placed().named(tree=tree, name=side.revision)
    if found is None:
        release = Release.objects.of_tree(tree).filter(name=side.revision).first()
        found = release.revision if release else None
    if found is None:
        raise SideError(
            f"no revision {side.revision!r} in {side.tree} (in {side}){_nearest(side, tree)}"
        )
    found.tree = tree
    return found


def _nearest(side: Side, tree: Tree) -> str:
    """The revisions beside the place that a name with a number speaks of, as a remedy."""
    numbered = NUMBERED.fullmatch(side.revision)
    if numbered is None:
        return ""
    at = int(numbered[1])
    known = Revision.objects.placed().filter(tree=tree).only("name", "tree_id")
    before = known.filter(position__lt=at).order_by("-position")[:1]
    after = known.filter(position__gt=at).order_by("position")[:1]
    names = [one.name for one in (*before, *after)]
    return f"; the nearest known are {' and '.join(names)}" if len(names) == 2 else ""
