"""From the revisions that run documents name to rows: known ones, and new ones with a place."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webapp.results.documents import RunDocument
from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Revision, Tree
from webapp.results.revision_ids import position_of
from webapp.results.services.bulk import fetch_rows

Key = tuple[str, str]  # (tree, a name of the revision)

BY_ALIAS = """
SELECT alias.tree_id, alias.name, revision.id, revision.position
  FROM unnest(%s::bigint[], %s::text[]) AS wanted (tree_id, name)
  JOIN results_revisionalias AS alias
    ON alias.tree_id = wanted.tree_id AND alias.name = wanted.name
  JOIN results_revision AS revision ON revision.id = alias.revision_id
"""
# Each new revision answers to its own name. What another upload makes at the same moment is left
# to it: the statement waits for that upload and passes the row by.
MAKE = """
WITH made AS (
    INSERT INTO results_revision
           (tree_id, name, position, author_name, author_email, subject, message)
    SELECT tree_id, name, position, '', '', '', ''
      FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS new (tree_id, name, position)
        ON CONFLICT DO NOTHING
    RETURNING id, tree_id, name)
INSERT INTO results_revisionalias (tree_id, revision_id, name)
SELECT tree_id, id, name FROM made
RETURNING tree_id, name, revision_id
"""


class Placed(NamedTuple):
    """A revision's row, and its place along its tree."""

    pk: int
    position: int


def place_revisions(
    runs: Sequence[RunDocument], trees: Mapping[str, Tree], problems: list[Problem]
) -> dict[Key, Placed]:
    """The revisions of ``runs`` by the names given; numbered ones are made when they are new.

    What is wrong with them is appended to ``problems``; nothing is made then.
    """
    wanted = {(run.tree, run.revision) for run in runs}
    found = _known(wanted, trees)
    new: dict[Key, int] = {}
    for i, run in enumerate(runs):
        key = (run.tree, run.revision)
        position = position_of(run.revision)
        place = run.position if position is None else position
        if key in found:
            known = found[key].position
            if run.position is not None and run.position != known:
                problems.append(Problem(f"runs[{i}].position", _moved(run, known)))
        elif place is None:
            problems.append(Problem(f"runs[{i}].revision", _placeless(run)))
        elif new.setdefault(key, place) != place:
            problems.append(Problem(f"runs[{i}].position", _moved(run, new[key])))
    if new and not problems:
        found |= _make(new, trees, runs)
    return found


def _known(wanted: set[Key], trees: Mapping[str, Tree]) -> dict[Key, Placed]:
    """By alias, else by the start of a hash."""
    found = _by_alias(wanted, trees)
    for tree, name in sorted(wanted - found.keys()):
        if revision := Revision.objects.with_hash(tree=trees[tree], start=name):
            found[tree, name] = Placed(revision.pk, revision.position)
    return found


def _by_alias(wanted: set[Key], trees: Mapping[str, Tree]) -> dict[Key, Placed]:
    names = {row.pk: name for name, row in trees.items()}
    keys = sorted(wanted)
    rows = fetch_rows(BY_ALIAS, [trees[tree].pk for tree, _ in keys], [name for _, name in keys])
    return {(names[tree], name): Placed(pk, position) for tree, name, pk, position in rows}


def _make(
    new: Mapping[Key, int], trees: Mapping[str, Tree], runs: Sequence[RunDocument]
) -> dict[Key, Placed]:
    """Insert revisions, in one order for all, so that uploads at once do not deadlock.

    A place on the tree that another revision holds is an error of the sender.
    """
    keys = sorted(new)
    rows = fetch_rows(
        MAKE,
        [trees[tree].pk for tree, _ in keys],
        [name for _, name in keys],
        [new[key] for key in keys],
    )
    names = {row.pk: name for name, row in trees.items()}
    made = {(key := (names[tree], name)): Placed(pk, new[key]) for tree, name, pk in rows}
    if len(made) < len(keys):
        made |= _by_alias(new.keys() - made.keys(), trees)
    if len(made) < len(keys):
        raise Unprocessable(
            _taken({key: new[key] for key in new.keys() - made.keys()}, trees, runs)
        )
    return made


def _taken(
    refused: Mapping[Key, int], trees: Mapping[str, Tree], runs: Sequence[RunDocument]
) -> list[Problem]:
    held = Revision.objects.filter(tree__in=trees.values(), position__in=set(refused.values()))
    names = {(row.tree_id, row.position): row.name for row in held}
    return [
        Problem(
            f"runs[{i}].position",
            f"position {refused[key]} of {run.tree} is "
            f"{names[trees[run.tree].pk, refused[key]]}; give {run.revision!r} its own, "
            "or import the tree's history",
        )
        for i, run in enumerate(runs)
        if (key := (run.tree, run.revision)) in refused
    ]


def _placeless(run: RunDocument) -> str:
    return (
        f"{run.revision!r} is not known in {run.tree}, and its id does not tell its place. Import "
        f"the history (`manage.py import_revisions --tree {run.tree} …`), or send `position`"
    )


def _moved(run: RunDocument, known: int) -> str:
    return (
        f"{run.revision!r} of {run.tree} is at position {known}, not {run.position}; leave "
        "`position` out, or renumber the tree with `manage.py import_revisions`"
    )
