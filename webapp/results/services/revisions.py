"""Acts upon revisions: move them along their tree, with their points; decide where they belong;
find one that a person names; let one answer to further names; give the commits of people who were
removed a pseudonym as their author, now and when imported again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Min, Q
from django.db.models.functions import Lower
from django.dispatch import receiver

from webapp.accounts import services
from webapp.results import models
from webapp.results.commit_documents import CommitDocument
from webapp.results.documents import Problem, Unprocessable
from webapp.results.services.aliases import file_by_names
from webapp.results.services.database import begin_reshaping, begin_writing, chunks
from webapp.results.services.points import mark_dirty, refresh_points
from webapp.results.services.subjects import begin_merge, hand_over, move_runs
from webapp.results.spellings import position_of

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
GOES = models.PlaceProposal._meta.get_field("revision")  # noqa: SLF001 (documented)


@dataclass(frozen=True, slots=True)
class Move:
    """A revision that changes its position."""

    revision: int
    old: int
    new: int


def lock_series_of(tree: models.Tree) -> None:
    """Lock the series of ``tree``, in the order of ids like everybody, and before revisions."""
    list(
        models.Series.objects.filter(tree=tree)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )


def mark_changed(revisions: Iterable[int]) -> None:
    """Make series dirty that show these revisions: their names and subjects are part of them."""
    lowest: dict[int, int] = {}
    for chunk in chunks(revisions):
        measured = models.Point.objects.filter(revision__in=chunk).order_by()
        places = measured.values("series").annotate(lowest=Min("position"))
        _keep_lowest(lowest, places.values_list("series", "lowest"))
    if lowest:
        mark_dirty(lowest)


def move_revisions(*, tree: models.Tree, moves: Sequence[Move]) -> None:
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
        cursor.execute(
            DELETE_POINTS, [[one.revision for one in moves if one.new >= models.WAITING_FROM]]
        )
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
    _pool({one.revision: one.new for one in moves if one.old >= models.WAITING_FROM})


@transaction.atomic
def place_revision(*, revision: models.Revision, position: int | None = None) -> int:
    """Decide the place of ``revision``: ``position``, else the one it has or that was first
    proposed. Its runs are pooled there and analysed. Raises Unprocessable: it is another's, no
    place at all, or none was proposed.
    """
    begin_reshaping()
    revision.refresh_from_db()
    place = _proposed(revision) if position is None else position
    _refuse_no_place(revision, place)
    if place != revision.position:
        lock_series_of(revision.tree)
        move_revisions(tree=revision.tree, moves=[Move(revision.pk, revision.position, place)])
        file_by_names(revision.runs.values_list("pk", flat=True))
    models.Revision.objects.filter(pk=revision.pk).update(decided=True, is_estimated=False)
    return place


@transaction.atomic
def displace_revision(*, revision: models.Revision) -> None:
    """Take ``revision`` off a place that it has on the word of an upload: it waits for another, and
    its runs leave the points. Raises Unprocessable: its place comes from its id, from history or an
    operator, or estimated.
    """
    begin_reshaping()
    revision.refresh_from_db()
    if revision.is_waiting:
        return
    if revision.is_settled or revision.is_estimated:
        message = (
            f"{revision} is where its id, history, an operator or an estimate put it; give it "
            "another place"
        )
        raise Unprocessable([Problem("position", message)])
    lock_series_of(revision.tree)
    away = models.WAITING_FROM + revision.pk
    if revision.proposed_by is not None:
        models.PlaceProposal.objects.get_or_create(
            revision=revision, agent=revision.proposed_by, position=revision.position
        )
    move_revisions(tree=revision.tree, moves=[Move(revision.pk, revision.position, away)])
    file_by_names(revision.runs.values_list("pk", flat=True))


@transaction.atomic
def ensure_revision(*, tree: models.Tree, name: str, field: str = "revision") -> models.Revision:
    """The revision that ``name`` means in ``tree``; it is made where it is new and its id has its
    place (r123, n123). Raises Unprocessable: it is not known and has no place, waits for its place,
    or that place is another's; the problem is that of ``field``.
    """
    begin_writing()
    found = models.Revision.objects.named(tree=tree, name=name) or _made(tree, name)
    if found is None:
        raise Unprocessable([Problem(field, _unknown(tree, name))])
    if found.is_waiting:
        message = f"{name!r} waits for its place on {tree}; an operator decides where it belongs"
        raise Unprocessable([Problem(field, message)])
    found.tree = tree
    return found


@transaction.atomic
def answer_to(*, revision: models.Revision, names: Sequence[str]) -> None:
    """Let ``revision`` answer to ``names`` as well. Runs that were sent as one of them before, and
    wait with it for its place, are runs of ``revision``. A name that another placed revision bears
    stays that one's.
    """
    waiting = models.Revision.objects.waiting().filter(tree=revision.tree_id, name__in=names)
    for row in waiting.exclude(pk=revision.pk):
        begin_merge(row, revision)
        move_runs(row, revision)
        hand_over(row, revision, goes=[GOES])
        row.delete()
    models.RevisionAlias.objects.bulk_create(
        [
            models.RevisionAlias(tree_id=revision.tree_id, revision=revision, name=name)
            for name in names
        ],
        ignore_conflicts=True,
    )
    file_by_names(revision.runs.values_list("pk", flat=True))


def _pool(arrived: dict[int, int]) -> None:
    """Make the points of revisions (id → position) that waited until now."""
    for chunk in chunks(sorted(arrived)):
        measured = models.Measurement.objects.counted().filter(run__revision__in=chunk)
        refresh_points(measured.values_list("series", "run__revision"), arrived)


def _free_range(tree: models.Tree, moves: Sequence[Move]) -> int:
    """A number above which no position of the tree lies, before and after the moves."""
    stored = models.Revision.objects.filter(tree=tree).aggregate(top=Max("position"))["top"]
    return max(stored or 0, *(move.new for move in moves)) + 1


def _keep_lowest(lowest: dict[int, int], changed: Iterable[tuple[int, int]]) -> None:
    for series, position in changed:
        lowest[series] = min(lowest.get(series, position), position)


def _proposed(revision: models.Revision) -> int:
    if not revision.is_waiting:
        return revision.position
    first = revision.proposals.order_by("pk").first()
    if first is None:
        raise Unprocessable([Problem("position", f"nobody proposed a place for {revision}")])
    return first.position


def _refuse_no_place(revision: models.Revision, place: int) -> None:
    if not 0 <= place < models.WAITING_FROM:
        raise Unprocessable([Problem("position", f"{place} is no place; give a number from 0 on")])
    others = models.Revision.objects.filter(tree=revision.tree_id, position=place).exclude(
        pk=revision.pk
    )
    if (holder := others.first()) is not None:
        message = (
            f"{place} is the place of {holder}; merge the two if they are one commit, or give "
            f"{holder} another place first"
        )
        raise Unprocessable([Problem("position", message)])


def _made(tree: models.Tree, name: str) -> models.Revision | None:
    """None where the id names no place, or one that another revision has."""
    position = position_of(name)
    if position is None:
        return None
    row = models.Revision(tree=tree, name=name, position=position)
    models.Revision.objects.bulk_create([row], ignore_conflicts=True)
    made = models.Revision.objects.filter(tree=tree, name=name).first()
    if made is not None:
        alias = models.RevisionAlias(tree=tree, revision=made, name=name)
        models.RevisionAlias.objects.bulk_create([alias], ignore_conflicts=True)
    return made


def _unknown(tree: models.Tree, name: str) -> str:
    position = position_of(name)
    if position is not None:
        holder = models.Revision.objects.get(tree=tree, position=position)
        return f"position {position} of {tree} is that of {holder.name}; name that one"
    return (
        f"{name!r} is not known in {tree}, and its id does not give its place; import the history "
        f"(`manage.py import_revisions --tree {tree} …`)"
    )


def revision_given(
    tree: models.Tree | None, field: str, name: str, problems: list[Problem]
) -> models.Revision | None:
    """The revision ``name`` of a form's ``field``; what is wrong is added to ``problems``."""
    if not name:
        return None
    if tree is None:
        problems.append(Problem("tree", "name the tree of the revisions"))
        return None
    found = models.Revision.objects.placed().named(tree=tree, name=name)
    if found is None:
        problems.append(Problem(field, f"no revision {name!r} is known in {tree}"))
    return found


SHORTEST = 5
"""Characters of a name that is also looked for within messages."""

IN_MESSAGES = """
UPDATE results_revision
   SET subject = regexp_replace(subject, %(pattern)s, %(pseudonym)s, 'gi'),
       message = regexp_replace(message, %(pattern)s, %(pseudonym)s, 'gi')
 WHERE subject ~* %(pattern)s OR message ~* %(pattern)s
"""


def without_removed(commits: Sequence[CommitDocument]) -> Sequence[CommitDocument]:
    """The commits as they are stored: with pseudonyms in place of people who were removed."""
    known = services.pseudonyms()
    return [_without(commit, known) for commit in commits] if known else commits


def _without(commit: CommitDocument, known: services.Pseudonyms) -> CommitDocument:
    gone = services.pseudonym_of(commit.author_email, known) or services.pseudonym_of(
        commit.author_name, known
    )
    return replace(
        commit,
        author_name=gone or commit.author_name,
        author_email="" if gone else commit.author_email,
        subject=services.without_addresses(commit.subject, known),
        message=services.without_addresses(commit.message, known),
    )


@receiver(services.person_removed, dispatch_uid="results.erase_author")
def erase_author(names: set[str], pseudonym: str, counts: Counter[str], **_: Any) -> None:
    """Put the pseudonym in place of the author, and of the names within messages."""
    if not names:
        return
    own = Q(author_name_lower__in=names) | Q(author_email_lower__in=names)
    found = models.Revision.objects.alias(
        author_name_lower=Lower("author_name"), author_email_lower=Lower("author_email")
    ).filter(own)
    called = {name.lower() for name in found.values_list("author_name", flat=True).distinct()}
    counts["results.Revision"] += found.update(author_name=pseudonym, author_email="")
    terms = [
        name for name in sorted(names | called, key=len, reverse=True) if len(name) >= SHORTEST
    ]
    if terms:
        pattern = "|".join(re.sub(r"(\W)", r"\\\1", term) for term in terms)
        with connection.cursor() as cursor:
            cursor.execute(IN_MESSAGES, {"pattern": pattern, "pseudonym": pseudonym})
            counts["results.Revision"] += cursor.rowcount
