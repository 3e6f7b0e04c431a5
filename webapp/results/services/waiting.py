"""Runs that wait until somebody says which commit they measured, and that decision.

A run that waits is stored whole and withdrawn, so that nothing pools it. Deciding files it at a
revision of its tree and has it count; nobody has to upload anything again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.results.documents import Problem, Unprocessable
from webapp.results.identity import Identity
from webapp.results.models import Choice, IdentityRule, Run, WaitingRun
from webapp.results.services.aliases import file_by_names
from webapp.results.services.bulk import insert_rows
from webapp.results.services.identities import rule_for
from webapp.results.services.locks import begin_writing
from webapp.results.services.placing import Placed, place_names
from webapp.results.services.refiling import (
    count_again,
    leave_out,
    lock_series_of_runs,
    points_at,
    refile,
    renew,
)

WAITS = "Its kernel and its names say two commits; it waits until somebody decides."
LEFT_OUT = "Its kernel and its names say two commits, and it was decided to leave it out."


class Doubt(NamedTuple):
    """A stored run (id) whose identity waits; ``rule`` is the text of one that leaves it out."""

    run: int
    identity: Identity
    label: str
    rule: str = ""


def note_doubts(doubts: Iterable[Doubt], now: datetime) -> None:
    """Keep of stored runs that wait what supports which commit."""
    rows = [
        {
            "run_id": one.run,
            "candidates": [candidate.to_data() for candidate in one.identity.candidates],
            "label": one.label,
            "since": now,
            "decided_at": now if one.rule else None,
            "rule": one.rule,
        }
        for one in doubts
    ]
    insert_rows(WaitingRun, rows)


@transaction.atomic
def decide_waiting(*, runs: Collection[UUID], choice: str, by: User | None, rule: str = "") -> int:
    """File the waiting ``runs`` at what ``choice`` means: ``kernel``, ``label``, one of their
    candidates, or ``none``, which leaves them out for good. How many were decided; those that
    somebody else decided meanwhile are left alone.

    Raises:
        Unprocessable: ``choice`` is none of a run's candidates, or the tree cannot place it.
    """
    begin_writing()
    rows = list(
        WaitingRun.objects.open()
        .filter(run__uuid__in=list(runs), run__superseded_by__isnull=True)
        .order_by("pk")
        .select_for_update(of=["self"])
        .select_related("run__revision__tree", "run__agent__lab")
    )
    if not rows:
        return 0
    chosen = {row.pk: _chosen(row, choice) for row in rows}
    now = timezone.now()
    if choice == Choice.NONE:
        Run.objects.filter(pk__in=chosen, withdrawn_reason=WAITS).update(withdrawn_reason=LEFT_OUT)
        _note_decision(rows, {}, now, by, rule)
        return len(rows)
    places = _places(rows, chosen)
    lock_series_of_runs(chosen)
    refile(places)
    count_again(chosen, reason=WAITS)
    renew(points_at(chosen))
    file_by_names(chosen)
    _note_decision(rows, places, now, by, rule)
    return len(rows)


@transaction.atomic
def reopen_waiting(*, runs: Collection[UUID], by: User) -> int:
    """Take decisions back: the ``runs`` wait again and take no part. How many were decided."""
    begin_writing()
    rows = list(
        WaitingRun.objects.decided()
        .filter(run__uuid__in=list(runs), run__superseded_by__isnull=True)
        .order_by("pk")
        .select_for_update(of=["self"])
        .select_related("decided_by", "chosen")
    )
    ids = [row.pk for row in rows]
    lock_series_of_runs(ids)
    now = timezone.now()
    leave_out(ids, reason=WAITS, now=now)
    Run.objects.filter(pk__in=ids, withdrawn_reason=LEFT_OUT).update(withdrawn_reason=WAITS)
    renew(points_at(ids))
    for row in rows:
        row.former = [*row.former, _former(row, by, now)]
        row.decided_at = row.decided_by = row.chosen = None
        row.rule = ""
    WaitingRun.objects.bulk_update(rows, ["former", "decided_at", "decided_by", "rule", "chosen"])
    return len(rows)


def _former(row: WaitingRun, by: User, now: datetime) -> dict[str, str]:
    return {
        "chosen": row.chosen.name if row.chosen else "",
        "decided_by": str(row.decided_by or row.rule),
        "decided_at": row.decided_at.isoformat() if row.decided_at else "",
        "taken_back_by": str(by),
        "taken_back_at": now.isoformat(),
    }


def apply_rule(rule: IdentityRule, *, by: User | None) -> int:
    """Decide every waiting run of the rule's lab that this rule, of all rules, fits."""
    rules = list(IdentityRule.objects.filter(lab=rule.lab_id))
    waiting = WaitingRun.objects.open().filter(run__hardware__lab=rule.lab_id)
    fitting = [
        uuid
        for uuid, label in waiting.values_list("run__uuid", "label")
        if rule_for(label, rules) == rule
    ]
    return decide_waiting(runs=fitting, choice=rule.believe, by=by, rule=str(rule))


def _chosen(row: WaitingRun, choice: str) -> str:
    if choice == Choice.NONE:
        return ""
    found = row.of(choice)
    if found is None:
        names = ", ".join(one["revision"] for one in row.candidates)
        message = f"{choice!r} is no candidate of run {row.run.uuid}; choose one of {names}"
        raise Unprocessable([Problem("choice", message)])
    return found


def _places(rows: Sequence[WaitingRun], chosen: Mapping[int, str]) -> dict[int, Placed]:
    """The revision of each run, by the run's id; new ones are made as by an upload."""
    by_tree: dict[tuple[int, int], list[WaitingRun]] = {}
    for row in rows:
        by_tree.setdefault((row.run.revision.tree_id, row.run.agent_id), []).append(row)
    places: dict[int, Placed] = {}
    for group in by_tree.values():
        tree, agent = group[0].run.revision.tree, group[0].run.agent
        found = place_names(tree, {chosen[row.pk] for row in group}, agent)
        places |= {row.pk: found[chosen[row.pk]] for row in group}
    return places


def _note_decision(
    rows: Sequence[WaitingRun],
    places: Mapping[int, Placed],
    now: datetime,
    by: User | None,
    rule: str,
) -> None:
    for row in rows:
        place = places.get(row.pk)
        row.decided_at, row.decided_by, row.rule = now, by, rule[:300]
        row.chosen_id = place.pk if place else None
    WaitingRun.objects.bulk_update(rows, ["decided_at", "decided_by", "rule", "chosen"])
