"""Import the history of a tree: commits become revisions, known ones learn what they lacked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from webapp.results.commit_documents import CommitDocument
from webapp.results.errors import Problem, Unprocessable
from webapp.results.git_history import Ids
from webapp.results.models import Revision, RevisionAlias, Tree
from webapp.results.revision_ids import HASH_PATTERN, position_of
from webapp.results.services.bulk import CHUNK, chunks
from webapp.results.services.locks import begin_reshaping
from webapp.results.services.matching import Matches, match
from webapp.results.services.renumbering import Move, lock_series_of, mark_changed, move_revisions

TEXTS = ["author_name", "author_email", "committed_at", "subject", "message"]
DETAILS = [*TEXTS, "paths", "path_count", "parent_known"]


@dataclass(frozen=True, slots=True)
class Imported:
    """How many revisions are new, learnt something, moved along the tree, or stayed as they were.

    One that moved and learnt counts as moved.
    """

    new: int
    changed: int
    moved: int
    same: int


@dataclass
class _Plan:
    """What an import would write."""

    new: list[Revision] = field(default_factory=list)
    changed: list[Revision] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    aliases: list[RevisionAlias] = field(default_factory=list)
    decided: list[int] = field(default_factory=list)


def native_ids(*, tree: str) -> Ids:
    """How revisions of ``tree`` are called: as its first known one is, else by its name."""
    names = Revision.objects.filter(tree__name=tree).order_by("position")
    first = names.values_list("name", flat=True).first()
    if first is None:
        return Ids.COUNT if tree.startswith("freebsd-") else Ids.HASH
    is_hash = position_of(first) is None and HASH_PATTERN.fullmatch(first)
    return Ids.HASH if is_hash else Ids.COUNT


def has_svn_numbers(*, tree: str) -> bool:
    """Whether ``tree`` holds a revision that is called by its Subversion number."""
    return Revision.objects.filter(tree__name=tree, name__regex=r"^r\d+$").exists()


@transaction.atomic
def import_revisions(*, tree_name: str, commits: Sequence[CommitDocument]) -> Imported:
    """Make ``commits`` known in the tree, which is made when it is new. Idempotent.

    A commit is the stored revision that answers to one of its names (or to the start of its
    hash). That one takes its id, its position and every field that is not empty; former names
    stay as aliases. Statements grow with chunks of thousands, not with commits.

    Raises:
        Unprocessable: with every contradiction found; nothing is stored then.
    """
    _refuse_repeats(commits)
    begin_reshaping()
    tree, _ = Tree.objects.get_or_create(name=tree_name)
    matches = match(tree=tree, commits=commits)
    plan = _plan(tree, commits, matches)
    _refuse_taken_places(tree, commits, plan)
    _write(tree, plan)
    written = {row.pk for row in plan.changed} | {row.revision_id for row in plan.aliases}
    moved = {move.revision for move in plan.moves}
    changed = written - moved - {row.pk for row in plan.new}
    same = len(commits) - len(plan.new) - len(moved) - len(changed)
    return Imported(new=len(plan.new), changed=len(changed), moved=len(moved), same=same)


def _refuse_repeats(commits: Sequence[CommitDocument]) -> None:
    names: dict[str, CommitDocument] = {}
    places: dict[int, CommitDocument] = {}
    problems = []
    for one in commits:
        problems += [
            one.problem(
                "revision" if name == one.revision else "aliases",
                f"{name} is on {names[name].where} too; a name means one commit",
            )
            for name in one.names
            if names.setdefault(name, one) is not one
        ]
        if one.position is not None and places.setdefault(one.position, one) is not one:
            problems.append(one.problem("position", _same_place(places[one.position])))
    if problems:
        raise Unprocessable(problems)


def _same_place(first: CommitDocument) -> str:
    return (
        f"{first.position} is the place of {first.revision} ({first.where}); give each commit its "
        "own"
    )


def _plan(tree: Tree, commits: Sequence[CommitDocument], matches: Matches) -> _Plan:
    plan = _Plan()
    problems: list[Problem] = []
    for chunk in chunks(enumerate(commits)):
        wanted = [matches.revision[i] for i, _ in chunk if i in matches.revision]
        stored = Revision.objects.in_bulk(wanted)
        for i, commit in chunk:
            revision = stored.get(matches.revision.get(i, 0))
            has_place = revision is not None and not revision.is_waiting
            if commit.position is None and not has_place:
                problems.append(commit.problem("position", _placeless(commit)))
                continue
            if revision is not None:
                _plan_change(plan, revision, commit)
            else:
                revision = _new(tree, commit, commit.position or 0)
                plan.new.append(revision)
            plan.aliases += [
                RevisionAlias(tree=tree, revision=revision, name=name)
                for name in commit.names
                if name not in matches.known_names
            ]
    if problems:
        raise Unprocessable(problems)
    return plan


def _new(tree: Tree, commit: CommitDocument, position: int) -> Revision:
    texts = {name: getattr(commit, name) for name in TEXTS}
    return Revision(
        tree=tree,
        name=commit.revision,
        position=position,
        decided=True,
        parent_known=commit.parent_known,
        **texts,
        **_paths_of(commit),
    )


def _plan_change(plan: _Plan, revision: Revision, commit: CommitDocument) -> None:
    if commit.position is not None and not revision.decided:
        plan.decided.append(revision.pk)
    if commit.position is not None and commit.position != revision.position:
        plan.moves.append(Move(revision.pk, revision.position, commit.position))
        revision.position = commit.position
    brought = {name: value for name in TEXTS if (value := getattr(commit, name))}
    brought |= {"name": commit.revision} | _paths_of(commit)
    if commit.parent_known:
        brought["parent_known"] = True
    if any(getattr(revision, name) != value for name, value in brought.items()):
        for name, value in brought.items():
            setattr(revision, name, value)
        plan.changed.append(revision)


def _paths_of(commit: CommitDocument) -> dict[str, Any]:
    """Nothing where they are not known: an import without paths leaves those that are stored."""
    if commit.paths is None:
        return {}
    return {"paths": list(commit.paths.kept), "path_count": commit.paths.count}


def _placeless(commit: CommitDocument) -> str:
    return (
        f"is empty, and {commit.revision} does not tell its place; give a number that grows along "
        "the tree, or an alias such as n302145"
    )


def _refuse_taken_places(tree: Tree, commits: Sequence[CommitDocument], plan: _Plan) -> None:
    """A place may be held by a revision that moves away, not by one that stays."""
    by_place = {one.position: one for one in commits}
    arriving = {move.new for move in plan.moves} | {row.position for row in plan.new}
    leaving = {move.revision for move in plan.moves}
    problems = []
    for chunk in chunks(sorted(arriving)):
        there = Revision.objects.filter(tree=tree, position__in=chunk).order_by("position")
        problems += [
            by_place[position].problem(
                "position",
                f"{position} is the place of {name} here, which the import does not move; give "
                f"{name} a line, add it as an alias of the commit it is, or take it off its place "
                "in the admin",
            )
            for pk, name, position in there.values_list("pk", "name", "position")
            if pk not in leaving
        ]
    if problems:
        raise Unprocessable(problems)


def _write(tree: Tree, plan: _Plan) -> None:
    if plan.changed or plan.moves:
        lock_series_of(tree)
    move_revisions(tree=tree, moves=plan.moves)
    for chunk in chunks(plan.decided):
        Revision.objects.filter(pk__in=chunk).update(decided=True, is_estimated=False)
    mark_changed(row.pk for row in plan.changed)
    Revision.objects.bulk_create(
        plan.changed,
        batch_size=CHUNK,
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=["name", *DETAILS],
    )
    Revision.objects.bulk_create(plan.new, batch_size=CHUNK)
    # Their revisions have ids only now.
    for alias in plan.aliases:
        alias.revision_id = alias.revision.pk
    RevisionAlias.objects.bulk_create(plan.aliases, batch_size=CHUNK)
