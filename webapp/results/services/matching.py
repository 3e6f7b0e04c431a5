"""Which stored revision each imported commit is: by its names, then by the starts of hashes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from webapp.results.commit_documents import CommitDocument
from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Revision, RevisionAlias, Tree
from webapp.results.models.history import MIN_HASH_PREFIX
from webapp.results.revision_ids import HASH_PATTERN
from webapp.results.services.bulk import chunks

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


class Matches:
    """Imported commits (by index) and the stored revisions they are."""

    def __init__(self) -> None:
        self.revision: dict[int, int] = {}
        self.known_names: set[str] = set()


def match(*, tree: Tree, commits: Sequence[CommitDocument]) -> Matches:
    """The stored revision of each commit that has one.

    A whole name decides before the start of a hash; a revision whose whole hash is known is not
    taken for another one that begins alike.

    Raises:
        Unprocessable: a commit's names mean two revisions, or two commits mean one.
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
    # A commit that tells its whole hash has said which one it means by the shorter ones.
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
    lengths = [length for (length,) in _rows(SHORT_LENGTHS, [tree.pk, shortest])]
    pairs = ((h, h[:length]) for h in sorted(hashes) for length in lengths if length < len(h))
    found: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks(pairs):
        wanted, starts = (list(column) for column in zip(*chunk, strict=True))
        for digest, revision in _rows(STORED_STARTS, [wanted, starts, tree.pk]):
            found[digest].add(revision)
    return found


def _by_stored_rest(tree: Tree, starts: set[str]) -> dict[str, set[int]]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks(sorted(starts)):
        for start, revision in _rows(STORED_REST, [chunk, tree.pk]):
            found[start].add(revision)
    return found


def _rows(statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


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
