"""File stored runs anew by their evidence, when a tree's history tells more than it did."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from webapp.results.identity import Evidence, Identity
from webapp.results.models import NameAlias, Revision, Run, Tree, WaitingRun
from webapp.results.services import refiling
from webapp.results.services.aliases import file_by_names
from webapp.results.services.database import begin_reshaping, chunks
from webapp.results.services.identities import (
    WAITS,
    Doubt,
    decide_waiting,
    identify_stored,
    note_doubts,
)
from webapp.results.services.placing import Placed, place_names
from webapp.results.services.positions import places_of_days
from webapp.results.services.revisions import Move, lock_series_of, move_revisions
from webapp.results.spellings import day_of

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
    """Give days that wait for their place the one that history tells now."""
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
            # History may know the commit by a name that neither side said.
            if row.of(name) is None:
                row.candidates += [
                    {"revision": name, "source": "history", "text": f"history says {name}"}
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
    refiling.renew(before | refiling.points_at(moving))
    return len(moving)


def _let_wait(doubted: list[tuple[Run, Identity]]) -> int:
    if not doubted:
        return 0
    now, ids = timezone.now(), [run.pk for run, _ in doubted]
    refiling.lock_series_of_runs(ids)
    refiling.leave_out(ids, reason=WAITS, now=now)
    note_doubts([Doubt(run.pk, identity, run.evidence["label"]) for run, identity in doubted], now)
    refiling.renew(refiling.points_at(ids))
    return len(ids)


def _add(one: Reidentified, other: Reidentified) -> Reidentified:
    return replace(
        one,
        moved=one.moved + other.moved,
        waiting=one.waiting + other.waiting,
        settled=one.settled + other.settled,
    )
