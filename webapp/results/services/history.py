"""Import the history of a tree: commits become revisions, known ones learn what they lacked. Which
stored revision a commit is follows from its names, then from the starts of hashes.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from webapp.results.bounds import wrong_with_name, wrong_with_revision
from webapp.results.commit_documents import CommitDocument
from webapp.results.documents import Problem, Unprocessable
from webapp.results.git_history import Ids
from webapp.results.models import Revision, RevisionAlias, Tree
from webapp.results.models.history import MIN_HASH_PREFIX
from webapp.results.queries import rows_of
from webapp.results.services.database import CHUNK, begin_reshaping, chunks
from webapp.results.services.revisions import (
    Move,
    lock_series_of,
    mark_changed,
    move_revisions,
    without_removed,
)
from webapp.results.spellings import HASH_PATTERN, position_of

TEXTS = ["author_name", "author_email", "committed_at", "subject", "message"]
DETAILS = [*TEXTS, "paths", "path_count", "parent_known"]
FULL_HASH = 40
# Hashes that uploads brought shortened, of revisions whose whole hash is not known. The lengths
# that occur are few, so each imported hash is cut to these and looked up by equality.
SHORT_LENGTHS = """
SELECT DISTINCT length(name) FROM results_revisionalias
 WHERE tree_id = %s AND name ~ %s AND length(name) < 40
"""
STORED_STARTS = """
SELECT wanted.hash, alias.revision_id
  FROM unnest(%s::text[], %s::text[]) AS wanted (hash, start)
  JOIN results_revisionalias AS alias ON alias.tree_id = %s AND alias.name = wanted.start
 WHERE NOT EXISTS (
       SELECT 1 FROM results_revisionalias AS whole
        WHERE whole.revision_id = alias.revision_id
          AND length(whole.name) = 40 AND whole.name ~ '^[0-9a-f]+$')
"""
# Names of hexadecimal digits that begin so: 'g' is the letter after 'f'. The operators are those of
# the index on prefixes.
STORED_REST = """
SELECT wanted.start, alias.revision_id
  FROM unnest(%s::text[]) AS wanted (start)
  JOIN results_revisionalias AS alias
    ON alias.tree_id = %s AND alias.name ~ '^[0-9a-f]+$'
   AND alias.name ~>=~ wanted.start AND alias.name ~<~ (wanted.start || 'g')
"""


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


class Matches:
    """Imported commits (by index) and the stored revisions they are."""

    def __init__(self) -> None:
        self.revision: dict[int, int] = {}
        self.known_names: set[str] = set()


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

    A commit is the stored revision that answers to one of its names (or to the start of its hash).
    That one takes its id, its position and every field that is not empty; former names stay as
    aliases. Statements grow with chunks of thousands, not with commits. Raises Unprocessable: with
    every contradiction found; nothing is stored then.
    """
    if fault := wrong_with_name(tree_name):
        raise Unprocessable([Problem("tree", fault)])
    _refuse_repeats(commits)
    begin_reshaping()
    commits = without_removed(commits)
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


def match(*, tree: Tree, commits: Sequence[CommitDocument]) -> Matches:
    """The stored revision of each commit that has one.

    A whole name decides before the start of a hash; a revision whose whole hash is known is not
    taken for another one that begins alike. Raises Unprocessable: a commit's names mean two
    revisions, or two commits mean one.
    """
    matches = Matches()
    problems: list[Problem] = []
    holders = _holders(tree, (name for commit in commits for name in commit.names))
    matches.known_names = set(holders)
    found = {i: {holders[n] for n in one.names if n in holders} for i, one in enumerate(commits)}
    rest = [i for i, revisions in found.items() if not revisions]
    taken = {revision for revisions in found.values() for revision in revisions}
    for i, revisions in _by_hash(tree, commits, rest).items():
        found[i] = revisions - taken
    owner: dict[int, int] = {}
    for i, revisions in found.items():
        if len(revisions) > 1:
            problems.append(_two_revisions(commits[i], revisions))
        for revision in revisions:
            if (first := owner.setdefault(revision, i)) != i:
                problems.append(_two_commits(commits[first], commits[i], revision))
            matches.revision[i] = revision
    if problems:
        raise Unprocessable(problems)
    return matches


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
            if revision is None and commit.position is not None:
                revision = _new(tree, commit, commit.position)
                plan.new.append(revision)
            elif revision is not None and (commit.position is not None or not revision.is_waiting):
                _plan_change(plan, revision, commit)
            else:
                problems.append(commit.problem("position", _placeless(commit)))
                continue
            new = [name for name in commit.names if name not in matches.known_names]
            problems += [
                commit.problem("revision", fault)
                for name in new
                if (fault := wrong_with_revision(name))
            ]
            plan.aliases += [RevisionAlias(tree=tree, revision=revision, name=name) for name in new]
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
        f"is empty, and {commit.revision} does not give its place; give a number that grows along "
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


def _holders(tree: Tree, names: Iterable[str]) -> dict[str, int]:
    """Name → id of the revision that answers to it."""
    found: dict[str, int] = {}
    for chunk in chunks(names):
        aliases = RevisionAlias.objects.filter(tree=tree, name__in=chunk).order_by()
        found.update(aliases.values_list("name", "revision_id"))
    return found


def _by_hash(
    tree: Tree, commits: Sequence[CommitDocument], indices: Sequence[int]
) -> dict[int, set[int]]:
    """Commit → revisions that share the start of a hash with it."""
    hashes = {i: _hashes(commits[i]) for i in indices}
    holders = _by_stored_start(tree, {max(h, key=len) for h in hashes.values() if h})
    # A commit that has its whole hash names which one it means by the shorter ones.
    shortened = {h for hs in hashes.values() if all(len(x) < FULL_HASH for x in hs) for h in hs}
    for start, revisions in _by_stored_rest(tree, shortened).items():
        holders[start] |= revisions
    found = {i: set().union(*(holders.get(h, set()) for h in hs)) for i, hs in hashes.items()}
    return {i: revisions for i, revisions in found.items() if revisions}


def _hashes(commit: CommitDocument) -> list[str]:
    return [
        name
        for name in commit.names
        if len(name) >= MIN_HASH_PREFIX and HASH_PATTERN.fullmatch(name)
    ]


def _by_stored_start(tree: Tree, hashes: set[str]) -> defaultdict[str, set[int]]:
    if not hashes:
        return defaultdict(set)
    shortest = f"^[0-9a-f]{{{MIN_HASH_PREFIX},}}$"
    lengths = [length for (length,) in rows_of(SHORT_LENGTHS, [tree.pk, shortest])]
    pairs = ((h, h[:length]) for h in sorted(hashes) for length in lengths if length < len(h))
    found: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks(pairs):
        wanted, starts = (list(column) for column in zip(*chunk, strict=True))
        for digest, revision in rows_of(STORED_STARTS, [wanted, starts, tree.pk]):
            found[digest].add(revision)
    return found


def _by_stored_rest(tree: Tree, starts: set[str]) -> dict[str, set[int]]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks(sorted(starts)):
        for start, revision in rows_of(STORED_REST, [chunk, tree.pk]):
            found[start].add(revision)
    return found


def _two_revisions(commit: CommitDocument, revisions: set[int]) -> Problem:
    names = Revision.objects.filter(pk__in=revisions).values_list("name", flat=True)
    return commit.problem(
        "aliases",
        f"{' '.join(commit.names)} is one commit in the import and {len(revisions)} revisions "
        f"here ({', '.join(names)}); merge these in the admin, or take the wrong name out of the "
        "import",
    )


def _two_commits(first: CommitDocument, second: CommitDocument, revision: int) -> Problem:
    name = Revision.objects.get(pk=revision).name
    return second.problem(
        "revision",
        f"{first.revision} ({first.where}) and {second.revision} both are {name} here; take the "
        f"wrong name out of the import, or give {name} its whole hash as an alias in the admin",
    )
