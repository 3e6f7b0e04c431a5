"""What people call points of trees: releases, branch points, and the trees themselves."""

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from django.db import connection

TREE, RELEASE = "tree", "release"
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
    """Those of every tree, in its order, the tree last; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(NAMES)
        return [ReleaseName._make(row) for row in cursor.fetchall()]


def neighbouring(known: Iterable[ReleaseName]) -> list[tuple[ReleaseName, ReleaseName]]:
    """Pairs that people ask for, of measured trees: a release and the one before it on its tree, a
    tree and the version before it (``freebsd-releng-11.0`` and ``-11.1``); the newest first.
    """
    families: dict[tuple[str, str], list[tuple[list[int], ReleaseName]]] = defaultdict(list)
    for one in known:
        version = VERSIONED.fullmatch(one.name) if one.is_tree else None
        if version and one.is_measured:
            numbers = [int(part) for part in version[2].split(".")]
            families[one.kind, version[1]].append((numbers, one))
        elif one.kind == RELEASE and one.is_measured and one.position is not None:
            families[one.kind, one.tree].append(([one.position], one))
    pairs = [pairwise(sorted(its)) for _, its in sorted(families.items())]
    return [(a, b) for its in pairs for (_, a), (_, b) in reversed(list(its))]


def plain_name(name: str) -> str:
    """For comparing: ``stable/11`` and ``stable-11`` are one."""
    return name.casefold().translate(APART)


def names_called(name: str, known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Those of ``known`` of that name; else those that end in it, as ``freebsd-releng-11.0`` ends
    in 11.0.
    """
    wanted = plain_name(name)
    plain = [(plain_name(one.name), one) for one in known]
    whole = [one for its, one in plain if its == wanted]
    return whole or [one for its, one in plain if its.endswith(f"-{wanted}")]


def names_with(parts: Iterable[str], known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Those of ``known`` with every one of ``parts`` in their name."""
    wanted = [plain_name(part) for part in parts]
    return [one for one in known if all(part in plain_name(one.name) for part in wanted)]
