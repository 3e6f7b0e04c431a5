"""What a tree's history decides when more of it is known: stored runs filed anew by their
evidence, and places for counts of all commits (``c255412``), estimated from commits that answer to
two counts.

Places on a tree count first parents (``n257521``), and merged commits only add up along it: where a
tree knows that ``n257521`` is ``c277567``, another count of all commits lies before or after it as
its number does. What is estimated is marked, gives way to whatever has its place by right, and is
estimated anew when the tree learns more. It follows from what the tree holds, in whatever order
that came.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from webapp.results.identity import Evidence, Identity
from webapp.results.models import WAITING_FROM, NameAlias, Revision, Run, Tree, WaitingRun
from webapp.results.queries import rows_of
from webapp.results.services import refiling
from webapp.results.services.aliases import file_by_names
from webapp.results.services.database import begin_reshaping, chunks
from webapp.results.services.identities import (
    WAITS,
    Doubt,
    decide_waiting,
    identify_stored,
    note_doubts,
    pairs_of,
)
from webapp.results.services.placing import Placed, place_names
from webapp.results.services.points import renew
from webapp.results.services.positions import places_of_days
from webapp.results.services.revisions import Move, lock_series_of, move_revisions
from webapp.results.spellings import GIT_COUNT_OFFSET, TOTAL_PATTERN, day_of, position_of

HISTORY = "imported history"


@dataclass(frozen=True, slots=True)
class Reidentified:
    """How many runs moved to another commit, wait now, or wait no longer; and how many revisions
    that are days got their place.
    """

    moved: int = 0
    waiting: int = 0
    settled: int = 0
    days: int = 0


@transaction.atomic
def reidentify(*, tree_name: str) -> Reidentified:
    """Bind runs of the tree by the hashes of their kernels. What a person or a rule decided stays;
    runs without evidence are not asked.
    """
    begin_reshaping()
    tree = Tree.objects.filter(name=tree_name).first()
    found = Reidentified()
    if tree is not None:
        found = Reidentified(days=_place_days(tree))
        for runs in _asked(tree):
            found = _add(found, _judge(tree, runs))
        if NameAlias.objects.in_force().filter(tree=tree).with_range().exists():
            # A revision may have another place now.
            runs_of_it = Run.objects.filter(revision__tree=tree)
            file_by_names(runs_of_it.values_list("pk", flat=True))
    return found


def _place_days(tree: Tree) -> int:
    """Give days that wait for their place the one that history has now."""
    waiting = Revision.objects.waiting().filter(tree=tree).values_list("pk", "name", "position")
    rows = {pk: (day, position) for pk, name, position in waiting if (day := day_of(name))}
    places = places_of_days({pk: (tree.pk, day) for pk, (day, _) in rows.items()}) if rows else {}
    if places:
        lock_series_of(tree)
        moves = [Move(pk, rows[pk][1], place) for pk, place in places.items()]
        move_revisions(tree=tree, moves=moves)
    return len(places)


def _asked(tree: Tree) -> Iterator[list[Run]]:
    """Current runs with a kernel's hash that nobody decided about, in chunks."""
    rows = Run.objects.current().filter(revision__tree=tree, evidence__kernel_hash__gt="")
    undecided = rows.exclude(waiting__decided_at__isnull=False).order_by("pk")
    for chunk in chunks(list(undecided.values_list("pk", flat=True))):
        yield list(Run.objects.filter(pk__in=chunk).select_related("revision", "agent__lab"))


def _judge(tree: Tree, runs: list[Run]) -> Reidentified:
    waiting = set(WaitingRun.objects.open().filter(run__in=runs).values_list("run_id", flat=True))
    identities = identify_stored(
        tree.name, {run.pk: (run.revision.name, Evidence(**run.evidence)) for run in runs}
    )
    by_pk = {run.pk: run for run in runs}
    settled: dict[str, list[Run]] = {}
    moved, doubted = {}, []
    for pk, identity in identities.items():
        run = by_pk[pk]
        if identity.waits and pk not in waiting and not run.is_withdrawn:
            doubted.append((run, identity))
        elif not identity.waits and pk in waiting:
            settled.setdefault(identity.revision, []).append(run)
        elif not identity.waits and identity.revision != run.revision.name:
            moved[pk] = identity.revision
    _settle(settled, identities)
    return Reidentified(
        _move(tree, moved, by_pk), _let_wait(doubted), sum(map(len, settled.values()))
    )


def _settle(settled: dict[str, list[Run]], identities: dict[int, Identity]) -> None:
    for name, runs in settled.items():
        rows = list(WaitingRun.objects.filter(run__in=runs))
        for row in rows:
            # History may know the commit by a name that neither side gave.
            if row.of(name) is None:
                row.candidates += [
                    {"revision": name, "source": "history", "text": f"history names {name}"}
                ]
        WaitingRun.objects.bulk_update(rows, ["candidates"])
        decide_waiting(runs=[run.uuid for run in runs], choice=name, by=None, rule=HISTORY)


def _move(tree: Tree, moved: dict[int, str], by_pk: dict[int, Run]) -> int:
    if not moved:
        return 0
    refiling.lock_series_of_runs(moved)
    before = refiling.points_at(moved)
    places: dict[int, Placed] = {}
    for agent in {by_pk[pk].agent for pk in moved}:
        its = {pk: name for pk, name in moved.items() if by_pk[pk].agent_id == agent.pk}
        found = place_names(tree, its.values(), agent)
        places |= {pk: found[name] for pk, name in its.items()}
    moving = {pk: place for pk, place in places.items() if place.pk != by_pk[pk].revision_id}
    refiling.refile(moving)
    renew(before | refiling.points_at(moving))
    return len(moving)


def _let_wait(doubted: list[tuple[Run, Identity]]) -> int:
    if not doubted:
        return 0
    now, ids = timezone.now(), [run.pk for run, _ in doubted]
    refiling.lock_series_of_runs(ids)
    refiling.leave_out(ids, reason=WAITS, now=now)
    note_doubts([Doubt(run.pk, identity, run.evidence["label"]) for run, identity in doubted], now)
    renew(refiling.points_at(ids))
    return len(ids)


def _add(one: Reidentified, other: Reidentified) -> Reidentified:
    return replace(
        one,
        moved=one.moved + other.moved,
        waiting=one.waiting + other.waiting,
        settled=one.settled + other.settled,
    )


Pair = tuple[int, int]
"""The two counts of one commit: first parents, all commits."""

FURTHEST = 1_000
"""How far after its estimate a revision is placed, where the places up to there are taken: nearer
the start of a tree whose whole history is imported, none is free."""

# Counts of all commits without a place of their own, and revisions that wait although their id
# has their place. The index on positions finds those that wait, tree by tree.
UNSETTLED = """
SELECT revision.id, revision.tree_id, revision.name, revision.position, revision.is_estimated,
       alias.revision_id
  FROM results_tree AS tree
 CROSS JOIN LATERAL (
       SELECT * FROM results_revision WHERE tree_id = tree.id AND position >= %s
        UNION ALL
       SELECT * FROM results_revision WHERE tree_id = tree.id AND is_estimated) AS revision
  LEFT JOIN results_revisionalias AS alias
    ON alias.tree_id = revision.tree_id AND alias.name = revision.name
 WHERE NOT revision.decided AND revision.name ~ '^(c[0-9]{6}|[rn][0-9]{1,9})$'
 ORDER BY revision.id
"""
TAKEN = """
SELECT revision.position
  FROM unnest(%s::bigint[]) AS wanted (position)
  JOIN results_revision AS revision
    ON revision.tree_id = %s AND NOT revision.is_estimated
   AND revision.position BETWEEN wanted.position AND wanted.position + %s
"""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A revision whose place may be estimated, or be held by an estimate. ``holder``: the revision
    (id) that answers to its name, another one where evidence gave that the name."""

    pk: int
    tree: int
    name: str
    position: int
    is_estimated: bool
    holder: int | None

    @property
    def is_merged(self) -> bool:
        """Whether it turned out to be another name of ``holder``."""
        return self.total is not None and self.holder not in (None, self.pk)

    @property
    def total(self) -> int | None:
        """The count of all commits that its name is."""
        found = TOTAL_PATTERN.fullmatch(self.name)
        return int(found[1]) if found else None


def unsettled_counts() -> list[Unsettled]:
    """Of all trees, in the order of ids."""
    return [Unsettled(*row) for row in rows_of(UNSETTLED, [WAITING_FROM])]


def count_moves(found: Sequence[Unsettled]) -> dict[int, list[Move]]:
    """By tree (id): counts of all commits go where pairs of counts say, and what waited only for a
    place that an estimate held goes there."""
    trees = Tree.objects.in_bulk({one.tree for one in found})
    pairs, _ = pairs_of({tree.name for tree in trees.values() if not tree.counts_all})
    moves = {
        pk: list(_moves(tree, [one for one in found if one.tree == pk], pairs.get(tree.name, [])))
        for pk, tree in trees.items()
    }
    return {pk: its for pk, its in moves.items() if its}


def place_counts(found: Sequence[Unsettled]) -> int:
    """Make the moves of ``count_moves``; how many revisions moved. Within a reshaping."""
    trees = Tree.objects.in_bulk({one.tree for one in found})
    counts = {one.pk for one in found if one.total is not None}
    moved: dict[int, int] = {}
    for pk, moves in sorted(count_moves(found).items()):
        lock_series_of(trees[pk])
        move_revisions(tree=trees[pk], moves=moves)
        moved |= {move.revision: move.new for move in moves}
    placed = {pk for pk in counts & moved.keys() if moved[pk] < WAITING_FROM}
    Revision.objects.filter(pk__in=placed).update(is_estimated=True)
    Revision.objects.filter(pk__in=counts & moved.keys() - placed).update(is_estimated=False)
    if moved:
        runs = Run.objects.filter(revision__in=moved).order_by("pk")
        file_by_names(runs.values_list("pk", flat=True))
    return len(moved)


def estimate(total: int, pairs: Sequence[Pair]) -> int | None:
    """The count of first parents that a count of all commits is likely to be, by pairs in order:
    between two in proportion, after the last one as if nothing had been merged since. The beginning
    of the tree is a pair as well: none and none. None without a pair."""
    if not pairs:
        return None
    known = [(0, 0), *pairs]
    at = bisect_right([one for _, one in known], total) - 1
    first, all_commits = known[at]
    if at == len(known) - 1:
        return first + total - all_commits
    next_first, next_all = known[at + 1]
    return first + (total - all_commits) * (next_first - first) // (next_all - all_commits)


def _moves(tree: Tree, found: Sequence[Unsettled], pairs: Sequence[Pair]) -> Iterator[Move]:
    """Of one tree, the same in whatever order its revisions and pairs came."""
    counts = sorted((one.total, one.pk, one.position) for one in found if one.total is not None)
    known = _in_order(pairs)
    wanted = {
        pk: GIT_COUNT_OFFSET + place
        for total, pk, _ in counts
        if (place := estimate(total, known)) is not None
    }
    held = {one.position for one in found if one.is_estimated}
    rightful = {
        one.pk: (one.position, place)
        for one in found
        if one.position >= WAITING_FROM and (place := position_of(one.name)) in held
    }
    taken = _taken(tree, wanted.values()) | {place for _, place in rightful.values()}
    last = -1
    for _, pk, position in counts:
        place = _free(max(wanted[pk], last + 1), wanted[pk], taken) if pk in wanted else None
        last = last if place is None else place
        new = WAITING_FROM + pk if place is None else place
        if new != position:
            yield Move(pk, position, new)
    yield from (Move(pk, old, place) for pk, (old, place) in rightful.items())


def _free(start: int, wanted: int, taken: Collection[int]) -> int | None:
    places = range(start, wanted + FURTHEST + 1)
    return next((place for place in places if place not in taken), None)


def _in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Of two that contradict each other, the one that comes later along the tree goes."""
    found: list[Pair] = []
    for first, total in sorted(pairs):
        if not found or (first > found[-1][0] and total > found[-1][1]):
            found.append((first, total))
    return found


def _taken(tree: Tree, wanted: Iterable[int]) -> set[int]:
    rows = rows_of(TAKEN, [sorted(set(wanted)), tree.pk, FURTHEST])
    return {position for (position,) in rows}
