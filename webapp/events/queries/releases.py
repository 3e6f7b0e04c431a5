"""What people call points of trees: releases, branch points, and the trees themselves."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from webapp.results.queries import rows_of

TREE, RELEASE, BRANCH_POINT = "tree", "release", "branch point"
FIRST = -(2**62)
"""Before every position."""

VERSIONED = re.compile(r"(.*\D)(\d+(?:\.\d+)*)", re.DOTALL)
NAMES = """
SELECT tree.name, release.name, release.kind, revision.name, revision.position,
       EXISTS (SELECT FROM results_series AS series WHERE series.tree_id = tree.id)
  FROM events_release AS release
  JOIN results_revision AS revision ON revision.id = release.revision_id
  JOIN results_tree AS tree ON tree.id = release.tree_id
UNION ALL
SELECT tree.name, tree.name, 'tree', '', NULL,
       EXISTS (SELECT FROM results_series AS series WHERE series.tree_id = tree.id)
  FROM results_tree AS tree
 ORDER BY 1, 5 NULLS LAST, 2
"""
APART = str.maketrans("/_ ", "---")


class ReleaseName(NamedTuple):
    """A release or a branch point of ``tree`` at ``revision``, or (``kind`` *tree*) the tree
    itself, which stands for its newest revision: it has no revision and no position.
    ``is_measured``: the tree has a series.
    """

    tree: str
    name: str
    kind: str
    revision: str
    position: int | None
    is_measured: bool

    @property
    def is_tree(self) -> bool:
        """Whether it is a tree."""
        return self.kind == TREE

    @property
    def written(self) -> str:
        """The name that no other tree shares: ``freebsd-head:11.0``."""
        return self.name if self.is_tree else f"{self.tree}:{self.name}"


def release_names() -> list[ReleaseName]:
    """Names of the releases of every tree, in its order, the tree last; one statement."""
    return [ReleaseName._make(row) for row in rows_of(NAMES)]


def neighbouring(known: Sequence[ReleaseName]) -> list[tuple[ReleaseName, ReleaseName]]:
    """Pairs that people ask for, of measured trees: a release and the one before it on its tree
    (before the first of a branch the last that its tree had where the branch left), a tree and the
    version before it (``freebsd-releng-11.0`` and ``-11.1``); the newest first.
    """
    branched = _branched(known)
    families: dict[tuple[str, str], list[tuple[list[int], ReleaseName]]] = defaultdict(list)
    for one in known:
        version = VERSIONED.fullmatch(one.name) if one.is_tree else None
        if version and one.is_measured:
            numbers = [int(part) for part in version[2].split(".")]
            families[one.kind, version[1]].append((numbers, one))
        elif one.kind == RELEASE and one.is_measured and one.position is not None:
            families[one.kind, one.tree].append(([one.position], one))
    pairs: list[tuple[ReleaseName, ReleaseName]] = []
    for (kind, tree), its in sorted(families.items()):
        line = [one for _, one in sorted(its)]
        if kind == RELEASE and tree in branched:
            line = [
                *_last_before(*branched[tree], families.get((RELEASE, branched[tree][0]), [])),
                *line,
            ]
        pairs += reversed(list(pairwise(line)))
    return pairs


def _last_before(
    tree: str, position: int, releases: Iterable[tuple[list[int], ReleaseName]]
) -> list[ReleaseName]:
    """The last of the releases of ``tree`` up to a position; none where there is none."""
    return [one for at, one in sorted(releases) if at <= [position]][-1:]


class Stretch(NamedTuple):
    """Commits of a ``tree``: later than one position up to another."""

    tree: str
    after: int
    upto: int


def stretches(
    a: tuple[str, int], b: tuple[str, int], known: Sequence[ReleaseName]
) -> list[Stretch] | None:
    """The commits that two ends, each a tree and a position, do not share: up to where their
    branches left each other, and on either side behind it. None where no branch point joins them.
    """
    branched = _branched(known)
    lines = [_line_of(end, branched) for end in (a, b)]
    common = next((tree for tree in lines[0] if tree in lines[1]), None)
    if common is None:
        return None
    ends = sorted(line[common] for line in lines)
    own = [
        Stretch(tree, FIRST, position)
        for line in lines
        for tree, position in line.items()
        if tree not in lines[0] or tree not in lines[1]
    ]
    return [Stretch(common, *ends), *own]


def _branched(known: Sequence[ReleaseName]) -> dict[str, tuple[str, int]]:
    """By tree the tree that it left, and where."""
    trees = [one for one in known if one.is_tree]
    return {
        child.tree: (one.tree, one.position)
        for one in known
        if one.kind == BRANCH_POINT and one.position is not None
        for child in names_called(one.name, trees)
        if child.tree != one.tree
    }


def _line_of(end: tuple[str, int], branched: Mapping[str, tuple[str, int]]) -> dict[str, int]:
    """The trees that lead to a position, its own first, each with how far it is followed."""
    found: dict[str, int] = {}
    following: tuple[str, int] | None = end
    while following and following[0] not in found:
        tree, position = following
        found[tree] = position
        following = branched.get(tree)
    return found


def plain_name(name: str) -> str:
    """For comparing: ``stable/11`` and ``stable-11`` are one."""
    return name.casefold().translate(APART)


def names_called(name: str, known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Releases in ``known`` of that name; else those that end in it, as ``freebsd-releng-11.0``
    ends in 11.0.
    """
    wanted = plain_name(name)
    plain = [(plain_name(one.name), one) for one in known]
    whole = [one for its, one in plain if its == wanted]
    return whole or [one for its, one in plain if its.endswith(f"-{wanted}")]


def names_with(parts: Iterable[str], known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Releases in ``known`` with every one of ``parts`` in their name."""
    wanted = [plain_name(part) for part in parts]
    return [one for one in known if all(part in plain_name(one.name) for part in wanted)]
