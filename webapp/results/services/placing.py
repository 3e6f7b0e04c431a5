"""From the revisions that run documents name to rows: known ones, and new ones with a place.

Trees are shared by labs: the first upload of a revision proposes its place, and nobody is locked
out by that. What contradicts another lab's proposal is stored with a warning; an operator or
imported history decides (``revisions``). A place far off waits for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID, uuid4

from webapp.labs.models import Agent
from webapp.queueing import Task, queue_on_commit
from webapp.results.bounds import wrong_with_revision
from webapp.results.documents import Problem, Unprocessable
from webapp.results.models import WAITING_FROM, PlaceProposal, Revision, Tree
from webapp.results.queries import rows_of
from webapp.results.services.positions import far_off, places_of_days
from webapp.results.spellings import day_of, is_total, position_of

Key = tuple[str, str]  # (tree, a name of the revision)

BY_ALIAS = """
SELECT alias.tree_id, alias.name, revision.id, revision.position, revision.is_estimated
  FROM unnest(%s::bigint[], %s::text[]) AS wanted (tree_id, name)
  JOIN results_revisionalias AS alias
    ON alias.tree_id = wanted.tree_id AND alias.name = wanted.name
  JOIN results_revision AS revision ON revision.id = alias.revision_id
"""
# Each new revision answers to its own name; without a position it waits. What another upload makes
# at the same moment is left to it: the statement waits for that upload and passes the row by.
MAKE = """
WITH new AS (
    SELECT nextval(pg_get_serial_sequence('results_revision', 'id')) AS id, tree_id, name, position
      FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS given (tree_id, name, position)
), made AS (
    INSERT INTO results_revision
           (id, tree_id, name, position, proposed_by_id, decided,
            author_name, author_email, subject, message)
    SELECT id, tree_id, name, COALESCE(position, %s + id), %s, false, '', '', '', '' FROM new
        ON CONFLICT DO NOTHING
    RETURNING id, tree_id, name, position
), named AS (
    INSERT INTO results_revisionalias (tree_id, revision_id, name)
    SELECT tree_id, id, name FROM made)
SELECT tree_id, name, id, position FROM made
"""
WAITS = (
    "It is stored, and neither placed nor analysed until an operator or imported history decides"
)


class Placed(NamedTuple):
    """A revision's row, and its place along its tree."""

    pk: int
    position: int
    is_estimated: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether it has no place on its tree yet."""
        return self.position >= WAITING_FROM


@dataclass
class Remarks:
    """What is wrong with documents, and what is only to be remarked."""

    problems: list[Problem] = field(default_factory=list)
    warnings: defaultdict[UUID, list[str]] = field(default_factory=lambda: defaultdict(list))


class Naming(Protocol):
    """What a run document states of its revision."""

    @property
    def uuid(self) -> UUID:
        """Of the run, to warn about it."""

    @property
    def tree(self) -> str:
        """The tree's name."""

    @property
    def revision(self) -> str:
        """The revision's name."""

    @property
    def position(self) -> int | None:
        """The revision's place, where it was sent."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name by itself."""

    tree: str
    revision: str
    uuid: UUID = field(default_factory=uuid4)
    position: int | None = None


@dataclass(frozen=True)
class _Upload:
    """What all steps need."""

    runs: Sequence[Naming]
    trees: Mapping[str, Tree]
    agent: Agent
    remarks: Remarks

    def naming(self, keys: Iterable[Key]) -> list[tuple[int, Naming, Key]]:
        wanted = set(keys)
        keyed = ((i, run, (run.tree, run.revision)) for i, run in enumerate(self.runs))
        return [one for one in keyed if one[2] in wanted]


def place_revisions(
    runs: Sequence[Naming], trees: Mapping[str, Tree], agent: Agent, remarks: Remarks
) -> dict[Key, Placed]:
    """The revisions of ``runs`` by the names given, made where they are new. Those whose name has
    no place wait for one.

    What is wrong with them is appended to the problems of ``remarks``; nothing is made then. Raises
    Unprocessable: a new revision's place is another's, by more than another lab's word.
    """
    upload = _Upload(runs, trees, agent, remarks)
    found = _known(upload)
    new = _new(upload, found)
    _compare_places(upload, found)
    if new and not remarks.problems:
        found |= _make_all(upload, new)
    return found


def place_names(tree: Tree, names: Iterable[str], agent: Agent) -> dict[str, Placed]:
    """The revisions of ``tree`` that ``names`` mean, made where they are new. Raises Unprocessable:
    the place that a name has is another's.
    """
    remarks = Remarks()
    wanted = [_Name(tree.name, name) for name in sorted(set(names))]
    found = place_revisions(wanted, {tree.name: tree}, agent, remarks)
    if remarks.problems:
        raise Unprocessable([Problem("choice", one.message) for one in remarks.problems])
    return {one.revision: found[tree.name, one.revision] for one in wanted}


def waiting_text(name: str, tree: str) -> str:
    """The remark on a run whose revision waits for its place."""
    text = f"{name} waits for its place on {tree}. {WAITS} where it belongs"
    return text if position_of(name) is not None else f"{text}. {_orderless(name, tree)}"


def _new(upload: _Upload, found: Mapping[Key, Placed]) -> dict[Key, int | None]:
    """The places that the names of unknown revisions have; None: a name has none."""
    new: dict[Key, int | None] = {}
    days = _places_of_days(upload, found)
    for i, run in enumerate(upload.runs):
        key = (run.tree, run.revision)
        by_id = position_of(run.revision)
        place = run.position if by_id is None else by_id
        if key in found:
            continue
        if fault := wrong_with_revision(run.revision):
            upload.remarks.problems.append(Problem(f"runs[{i}].revision", fault))
        if place is None:
            place = days.get(key)
        if (known := new.get(key)) is None:
            new[key] = place
        elif place not in (None, known):
            problem = Problem(f"runs[{i}].position", _moved(run, known))
            upload.remarks.problems.append(problem)
    return new


def _places_of_days(upload: _Upload, found: Mapping[Key, Placed]) -> dict[Key, int]:
    """Of days that are new, where dated history has their places."""
    days = {
        (run.tree, run.revision): (upload.trees[run.tree].pk, day)
        for run in upload.runs
        if (run.tree, run.revision) not in found
        and run.position is None
        and (day := day_of(run.revision))
    }
    return places_of_days(days) if days else {}


def _known(upload: _Upload) -> dict[Key, Placed]:
    """By alias, else by the start of a hash, which a day is not."""
    wanted = {(run.tree, run.revision) for run in upload.runs}
    found = _by_alias(wanted, upload.trees)
    for tree, name in sorted(wanted - found.keys()):
        if day_of(name):
            continue
        if revision := Revision.objects.with_hash(tree=upload.trees[tree], start=name):
            found[tree, name] = Placed(revision.pk, revision.position)
    return found


def _by_alias(wanted: Iterable[Key], trees: Mapping[str, Tree]) -> dict[Key, Placed]:
    names = {row.pk: name for name, row in trees.items()}
    keys = sorted(wanted)
    rows = rows_of(BY_ALIAS, [[trees[tree].pk for tree, _ in keys], [name for _, name in keys]])
    return {(names[tree], name): Placed(*placed) for tree, name, *placed in rows}


def _compare_places(upload: _Upload, found: Mapping[Key, Placed]) -> None:
    """Of known revisions: say that they wait, and what becomes of another place that was sent."""
    named = upload.naming(found)
    for _, run, key in named:
        if found[key].is_waiting:
            upload.remarks.warnings[run.uuid].append(waiting_text(run.revision, run.tree))
        elif found[key].is_estimated:
            upload.remarks.warnings[run.uuid].append(_estimated(run, found[key].position))
    differing = [
        (i, run, found[key])
        for i, run, key in named
        if run.position is not None and run.position != found[key].position
    ]
    if not differing:
        return
    rows = Revision.objects.select_related("proposed_by__lab").in_bulk(
        {place.pk for _, _, place in differing}
    )
    proposed = []
    for i, run, place in differing:
        if place.is_waiting or _is_open(rows[place.pk], upload.agent):
            proposed.append((place.pk, run.position or 0))
            if not place.is_waiting:
                sentence = _disputed(run, rows[place.pk])
                upload.remarks.warnings[run.uuid].append(sentence)
        else:
            problem = Problem(f"runs[{i}].position", _moved(run, place.position))
            upload.remarks.problems.append(problem)
    _propose(proposed, upload.agent)


def _is_open(revision: Revision, agent: Agent) -> bool:
    """Whether its place is only another lab's word, or an estimate."""
    by = revision.proposed_by
    is_own = by is not None and by.lab_id == agent.lab_id and not revision.is_estimated
    return not revision.is_settled and not is_own


def _make_all(upload: _Upload, wanted: Mapping[Key, int | None]) -> dict[Key, Placed]:
    """Make what is new, at its place or waiting: far off, another lab's, or none is known."""
    new = {key: position for key, position in wanted.items() if position is not None}
    numbers = {key: (upload.trees[key[0]].pk, position) for key, position in new.items()}
    far = far_off(numbers, lab=upload.agent.lab_id) if numbers else set()
    made = _make({key: None if key in far else wanted[key] for key in wanted}, upload)
    for _, run, key in upload.naming(wanted.keys() - new.keys()):
        upload.remarks.warnings[run.uuid].append(waiting_text(*reversed(key)))
    if any(is_total(name) for _, name in wanted):
        queue_on_commit(Task.ESTIMATE_POSITIONS)
    taken = {key: new[key] for key in new.keys() - made.keys()}
    holders = _holders(taken, upload) if taken else {}
    made |= _make(dict.fromkeys(taken), upload) if taken else {}
    if any(holder.is_estimated for holder in holders.values()):
        queue_on_commit(Task.ESTIMATE_POSITIONS)
    for _, run, key in upload.naming([*far, *taken]):
        why = _far(run, new[key]) if key in far else _occupied(run, new[key], holders[key])
        upload.remarks.warnings[run.uuid].append(f"{why}. {WAITS}")
    _propose([(made[key].pk, new[key]) for key in (*far, *taken)], upload.agent)
    return made


def _make(new: Mapping[Key, int | None], upload: _Upload) -> dict[Key, Placed]:
    """Insert revisions, in one order for all, so that uploads at once do not deadlock.

    Those whose place another revision holds are left out.
    """
    keys = sorted(new)
    rows = rows_of(
        MAKE,
        [
            [upload.trees[tree].pk for tree, _ in keys],
            [name for _, name in keys],
            [new[key] for key in keys],
            WAITING_FROM,
            upload.agent.pk,
        ],
    )
    names = {row.pk: name for name, row in upload.trees.items()}
    made = {(names[tree], name): Placed(pk, position) for tree, name, pk, position in rows}
    if len(made) < len(keys):
        made |= _by_alias(new.keys() - made.keys(), upload.trees)
    return made


def _holders(taken: Mapping[Key, int], upload: _Upload) -> dict[Key, Revision]:
    """Who holds the places. Raises Unprocessable where that is more than another lab's word."""
    trees = upload.trees
    rows = Revision.objects.filter(tree__in=trees.values(), position__in=set(taken.values()))
    by_place = {(row.tree_id, row.position): row for row in rows.select_related("proposed_by__lab")}
    found = {key: by_place[trees[key[0]].pk, position] for key, position in taken.items()}
    problems = [
        Problem(f"runs[{i}].position", _taken(run, taken[key], found[key]))
        for i, run, key in upload.naming(taken)
        if not _is_open(found[key], upload.agent)
    ]
    if problems:
        raise Unprocessable(problems)
    return found


def _propose(proposed: Sequence[tuple[int, int]], agent: Agent) -> None:
    """Keep the places (of a revision's id) that were not taken, for who decides."""
    if proposed:
        PlaceProposal.objects.bulk_create(
            [
                PlaceProposal(revision_id=revision, agent=agent, position=position)
                for revision, position in sorted(set(proposed))
            ],
            ignore_conflicts=True,
        )


def _taken(run: Naming, position: int, holder: Revision) -> str:
    return (
        f"position {position} of {run.tree} is {holder.name}; give {run.revision!r} its own, "
        "or import the tree's history"
    )


def _occupied(run: Naming, position: int, holder: Revision) -> str:
    if holder.is_estimated:
        return f"position {position} of {run.tree} is estimated for {holder.name}, which gives way"
    by = f"proposed by {holder.proposed_by}" if holder.proposed_by else "which nobody confirmed"
    return f"position {position} of {run.tree} is that of {holder.name}, {by}"


def _far(run: Naming, position: int) -> str:
    return f"{run.revision} at position {position} lies far beyond what is known of {run.tree}"


def _disputed(run: Naming, revision: Revision) -> str:
    by = revision.proposed_by or "another upload"
    return (
        f"{run.revision} stands at position {revision.position} of {run.tree}, proposed by {by}, "
        f"and not at {run.position}, until an operator or imported history decides"
    )


def _estimated(run: Naming, position: int) -> str:
    return (
        f"{run.revision} stands at {position} of {run.tree}, a place that is estimated from "
        "commits whose two counts are known, until an operator or imported history decides"
    )


def _orderless(name: str, tree: str) -> str:
    if is_total(name):
        scale = (
            "It counts all commits, and places count first parents: as soon as both counts of a "
            "commit are known (n257521 is c277567), its place is estimated. A file"
        )
    else:
        scale = "Its id has no order: a file"
    return (
        f"{scale} of two columns gives it one, with the head `revision,position` and a line "
        f"`{name},NUMBER`, by `manage.py import_revisions --tree {tree} FILE`, and history does "
        f"(`--git DIR`). NUMBER grows along the tree: r303643 is at 303643, n257521 at 1000257521"
    )


def _moved(run: Naming, known: int) -> str:
    return (
        f"{run.revision!r} of {run.tree} is at position {known}, not {run.position}; leave "
        "`position` out, or renumber the tree with `manage.py import_revisions`"
    )
