"""The commits of runs by their evidence and what their trees know, and runs that wait until
somebody decides which commit they measured.

An upload whose documents carry no evidence costs no statement here. A run that waits is stored
whole and withdrawn, so that nothing pools it. Deciding files it at a revision of its tree and has
it count; nobody has to upload anything again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.documents import Problem, RunDocument, Unprocessable
from webapp.results.identity import Bound, Evidence, Identity, Known, Trust, identify
from webapp.results.models import Choice, IdentityRule, Run, WaitingRun
from webapp.results.models.decisions import WaitingRunQuerySet
from webapp.results.queries import rows_of
from webapp.results.services import refiling
from webapp.results.services.aliases import file_by_names
from webapp.results.services.database import begin_writing, insert_rows
from webapp.results.services.placing import Placed, place_names
from webapp.results.services.points import renew
from webapp.results.spellings import COUNT_PATTERN, position_of

TrustedSides: Mapping[str, Trust] = {Choice.KERNEL: "kernel", Choice.LABEL: "label"}

# One step along revision_by_hash_prefix for each hash: ~>=~ and ~<~ compare as that index does, and
# "g" follows every hexadecimal digit.
BOUND = """
SELECT wanted.tree, wanted.hash, revision.name, array_agg(DISTINCT other.name)
  FROM unnest(%s::text[], %s::text[]) AS wanted (tree, hash)
  JOIN results_tree AS tree ON tree.name = wanted.tree
  JOIN results_revisionalias AS alias
    ON alias.tree_id = tree.id
   AND alias.name ~>=~ wanted.hash AND alias.name ~<~ (wanted.hash || 'g')
  JOIN results_revision AS revision ON revision.id = alias.revision_id
  JOIN results_revisionalias AS other ON other.revision_id = revision.id
 GROUP BY wanted.tree, wanted.hash, revision.id, revision.name
"""
# Revisions that answer to two counts.
PAIRS = """
SELECT tree.name, tree.counts_all, pair.own, pair.other
  FROM results_tree AS tree
  LEFT JOIN LATERAL (
       SELECT substr(revision.name, 2)::bigint AS own, substr(alias.name, 2)::bigint AS other
         FROM results_revisionalias AS alias
         JOIN results_revision AS revision ON revision.id = alias.revision_id
        WHERE alias.tree_id = tree.id AND length(alias.name) <= 10
          AND (alias.name ~>=~ 'c' AND alias.name ~<~ 'd'
               OR alias.name ~>=~ 'n' AND alias.name ~<~ 'o')
          AND substr(alias.name, 2) <> substr(revision.name, 2)
          AND alias.name ~ '^(c[0-9]{6}|n[0-9]{1,9})$' AND revision.name ~ '^n[0-9]{1,9}$'
       ) AS pair ON true
 WHERE tree.name = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Identities:
    """``runs`` as they are to be filed, in the order sent, and by their UUIDs the identities of
    those that carry evidence. ``left_out`` wait for nothing: a rule (its text) keeps them out.
    """

    runs: Sequence[RunDocument]
    of: Mapping[UUID, Identity]
    left_out: Mapping[UUID, str]

    @property
    def waiting(self) -> frozenset[UUID]:
        """Identities that somebody has to decide."""
        waits = {uuid for uuid, identity in self.of.items() if identity.waits}
        return frozenset(waits - self.left_out.keys())


def identify_runs(runs: Sequence[RunDocument], lab: Lab) -> Identities:
    """Apply evidence to ``runs`` of ``lab``. The caller has begun writing: history stays."""
    carrying = [run for run in runs if run.evidence is not None]
    if not carrying:
        return Identities(runs, {}, {})
    known = _known_of([(one.tree, one.revision, one.evidence or Evidence()) for one in carrying])
    identities = {run.uuid: _identify(run, known) for run in carrying}
    waiting = [run for run in carrying if identities[run.uuid].waits]
    left_out = _apply_rules(waiting, identities, known, lab) if waiting else {}
    filed = [_filed(run, identities.get(run.uuid)) for run in runs]
    return Identities(filed, identities, left_out)


def identify_stored(tree: str, runs: Mapping[int, tuple[str, Evidence]]) -> dict[int, Identity]:
    """The same for stored runs of one tree (id → revision and evidence); no rule is asked."""
    known = _known_of([(tree, revision, evidence) for revision, evidence in runs.values()])
    return {
        pk: identify(revision, evidence, known[tree, evidence.kernel_hash])
        for pk, (revision, evidence) in runs.items()
    }


def rule_for(label: str, rules: Sequence[IdentityRule]) -> IdentityRule | None:
    """The rule whose pattern fits ``label``: of several the longest, the narrowest."""
    fitting = [rule for rule in rules if fnmatchcase(label, rule.pattern)]
    return max(fitting, key=lambda rule: (len(rule.pattern), rule.pattern), default=None)


def _identify(run: RunDocument, known: Mapping[tuple[str, str], Known]) -> Identity:
    evidence = run.evidence or Evidence()
    return identify(run.revision, evidence, known.get((run.tree, evidence.kernel_hash)))


def _apply_rules(
    waiting: Sequence[RunDocument],
    identities: dict[UUID, Identity],
    known: Mapping[tuple[str, str], Known],
    lab: Lab,
) -> dict[UUID, str]:
    """What rules decide; the runs that a rule leaves out, with its text."""
    rules = list(IdentityRule.objects.filter(lab=lab))
    left_out = {}
    for run in waiting:
        evidence = run.evidence or Evidence()
        rule = rule_for(evidence.label, rules)
        if rule is None:
            continue
        if rule.believe == Choice.NONE:
            left_out[run.uuid] = str(rule)
        else:
            trusting = replace(evidence, trust=TrustedSides[rule.believe])
            identities[run.uuid] = _identify(replace(run, evidence=trusting), known)
    return left_out


def _filed(run: RunDocument, identity: Identity | None) -> RunDocument:
    """``run`` at its commit. One that waits stands at what its kernel names, where that is a place:
    a kernel is there, and a name may be a typing error.
    """
    if identity is None:
        return run
    filed = identity.revision
    if identity.waits and position_of(identity.candidates[0].revision) is not None:
        filed = identity.candidates[0].revision
    if filed == run.revision:
        return run
    return replace(run, revision=filed, position=None, as_sent=run.as_sent or run)


def _known_of(needed: Sequence[tuple[str, str, Evidence]]) -> dict[tuple[str, str], Known]:
    """By tree and hash: what trees know that these need, in no more than two statements."""
    hashes = {(tree, found.kernel_hash) for tree, _, found in needed}
    bound = _bound({key for key in hashes if key[1]})
    pairs, counting_all = pairs_of({tree for tree, _, found in needed if _are_counts(found)})
    return {
        (tree, found): Known(bound.get((tree, found)), pairs.get(tree, []), tree in counting_all)
        for tree, found in hashes
    }


def pairs_of(trees: Collection[str]) -> tuple[dict[str, list[tuple[int, int]]], set[str]]:
    """By tree (name) the counts, of first parents and of all commits, of each commit of which both
    are known; and the trees whose own numbers count all commits."""
    pairs: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    counting_all = set()
    for tree, counts_all, own, other in rows_of(PAIRS, [sorted(trees)]) if trees else ():
        if counts_all:
            counting_all.add(tree)
        if own is not None:
            pairs[tree].append((min(own, other), max(own, other)))
    return pairs, counting_all


def _are_counts(evidence: Evidence) -> bool:
    """Whether it depends on counts that the tree knows where the run belongs."""
    named, kernel = evidence.named, evidence.kernel_revision
    return (
        named != kernel
        and COUNT_PATTERN.fullmatch(named) is not None
        and (not kernel or COUNT_PATTERN.fullmatch(kernel) is not None)
    )


def _bound(wanted: set[tuple[str, str]]) -> dict[tuple[str, str], Bound]:
    """The commit of each hash. One that begins two hashes of a tree binds nothing."""
    if not wanted:
        return {}
    ordered = sorted(wanted)
    rows = rows_of(BOUND, [[tree for tree, _ in ordered], [found for _, found in ordered]])
    found: defaultdict[tuple[str, str], list[Bound]] = defaultdict(list)
    for tree, text, name, names in rows:
        found[tree, text].append(Bound(name, names))
    return {key: rows[0] for key, rows in found.items() if len(rows) == 1}


WAITS = "Its kernel and its names mean two commits; it waits until somebody decides."
LEFT_OUT = "Its kernel and its names mean two commits, and it was decided to leave it out."


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
    somebody else decided meanwhile are left alone. Raises Unprocessable: ``choice`` is none of a
    run's candidates, or the tree cannot place it.
    """
    begin_writing()
    rows = _locked(WaitingRun.objects.open(), runs, "run__revision__tree", "run__agent__lab")
    if not rows:
        return 0
    chosen = {row.pk: _chosen(row, choice) for row in rows}
    now = timezone.now()
    if choice == Choice.NONE:
        Run.objects.filter(pk__in=chosen, withdrawn_reason=WAITS).update(withdrawn_reason=LEFT_OUT)
        _note_decision(rows, {}, now, by, rule)
        return len(rows)
    places = _places(rows, chosen)
    refiling.lock_series_of_runs(chosen)
    refiling.refile(places)
    refiling.count_again(chosen, reason=WAITS)
    renew(refiling.points_at(chosen))
    file_by_names(chosen)
    _note_decision(rows, places, now, by, rule)
    return len(rows)


@transaction.atomic
def reopen_waiting(*, runs: Collection[UUID], by: User) -> int:
    """Take decisions back: the ``runs`` wait again and take no part. How many were decided."""
    begin_writing()
    rows = _locked(WaitingRun.objects.decided(), runs, "decided_by", "chosen")
    ids = [row.pk for row in rows]
    refiling.lock_series_of_runs(ids)
    now = timezone.now()
    refiling.leave_out(ids, reason=WAITS, now=now)
    Run.objects.filter(pk__in=ids, withdrawn_reason=LEFT_OUT).update(withdrawn_reason=WAITS)
    renew(refiling.points_at(ids))
    for row in rows:
        row.former = [*row.former, _former(row, by, now)]
        row.decided_at = row.decided_by = row.chosen = None
        row.rule = ""
    WaitingRun.objects.bulk_update(rows, ["former", "decided_at", "decided_by", "rule", "chosen"])
    return len(rows)


def _locked(those: WaitingRunQuerySet, runs: Collection[UUID], *related: str) -> list[WaitingRun]:
    """The rows of the current ``runs`` among ``those``, locked in the order of their numbers."""
    return list(
        those.filter(run__uuid__in=list(runs), run__superseded_by__isnull=True)
        .order_by("pk")
        .select_for_update(of=["self"])
        .select_related(*related)
    )


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
