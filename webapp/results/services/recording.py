"""Store runs: a batch whole or not at all, each run once, in a number of statements that does not
grow with the batch."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent
from webapp.results.documents import MetricDocument, Recorded, RunDocument
from webapp.results.errors import Conflict, Problem, Unprocessable
from webapp.results.fact_names import ChangedFact
from webapp.results.identity import Identity
from webapp.results.models import Measurement, Run
from webapp.results.models.history import WAITING_FROM
from webapp.results.services.aliased_runs import note_names
from webapp.results.services.bulk import fetch_rows, insert_rows
from webapp.results.services.differences import conflicts, differing_fields
from webapp.results.services.facts import note_facts, renew_facts, reports_of
from webapp.results.services.identifying import Identified, identify_runs
from webapp.results.services.label_rules import as_sent_data, tell_parts
from webapp.results.services.placing import waiting_text
from webapp.results.services.pooling import refresh_points
from webapp.results.services.refiling import points_at
from webapp.results.services.renaming import adopt_modes
from webapp.results.services.replacing import (
    begin_replacing,
    lock_current,
    refuse_foreign_runs,
    share_lists,
    supersede,
)
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.resolving import SeriesKey, Subjects, lock_series, resolve
from webapp.results.services.validity import adopt_marks, marked
from webapp.results.services.waiting import (
    LEFT_OUT,
    WAITS,
    Adopted,
    adopt_evidence,
    decide_as_sent,
    name_aliases,
    note_waiting,
    withdrawal_of,
)

STORED = """
SELECT run.uuid, run.digest, revision.position, run.evidence IS NULL,
       waiting.run_id IS NOT NULL AND waiting.decided_at IS NULL, mode.name,
       EXISTS (SELECT FROM results_measurement AS marked
                WHERE marked.run_id = run.id AND marked.validity IS NOT NULL)
  FROM results_run AS run JOIN results_revision AS revision ON revision.id = run.revision_id
  LEFT JOIN results_aliasedrun AS aliased ON aliased.run_id = run.id
  JOIN results_mode AS mode ON mode.id = COALESCE(aliased.mode_id, run.mode_id)
  LEFT JOIN results_waitingrun AS waiting ON waiting.run_id = run.id
 WHERE run.uuid = ANY(%s) AND run.superseded_by_id IS NULL
"""


@transaction.atomic(savepoint=False)
def record_runs(
    *,
    agent: Agent,
    runs: Sequence[RunDocument],
    register: bool = False,
    history: bool = False,
    replace: bool = False,
) -> Recorded:
    """Store the runs that are new, in one transaction, and mark their series dirty.

    Args:
        agent: who sends them; hardware and runs of another lab than the agent's are refused.
        runs: at least one. A run whose UUID is stored with the same content is left alone.
        register: add hardware that is not known to the agent's lab.
        history: note that nobody is to be mailed about these runs.
        replace: let other content take the place of the stored run, which stays, withdrawn.

    Raises:
        Unprocessable, Forbidden, Conflict: with every problem found; nothing is stored then.
        IntegrityError: another upload stored one of these UUIDs or revisions between our look and
            our insert. That one is committed now, so a second call sees it.
    """
    begin_writing()
    identified = identify_runs(tell_parts(runs, agent.lab_id), agent.lab)
    fresh = _without_repeats(identified.runs)
    sorted_out = _sort_out(fresh, replace=replace)
    new, changed, unproven = sorted_out.new, sorted_out.changed, sorted_out.unproven
    replaced: list[RunDocument] = []
    adopted, renamed = Adopted(), frozenset[UUID]()
    facts: tuple[ChangedFact, ...] = ()
    warnings = {run.uuid: [waiting_text(run.revision, run.tree)] for run in sorted_out.placeless}
    if new or changed or unproven or sorted_out.renamed:
        stored = lock_current(run.uuid for run in changed) if changed else {}
        refuse_foreign_runs(runs, stored, agent.lab, replace=replace)
        # Indices in problems are those of the batch as it was sent, so all runs are resolved.
        subjects = resolve(runs=identified.runs, agent=agent, register=register)
        differing = differing_fields(changed, stored, subjects) if changed else {}
        if differing and not replace:
            raise Conflict(conflicts(runs, differing))
        replaced = [run for run in changed if run.uuid in differing]
        former = [stored[run.uuid] for run in replaced]
        if renaming := [run for run in sorted_out.renamed if run.uuid not in differing]:
            keys = _series_of([*new, *replaced], subjects)
            renamed = adopt_modes(renaming, subjects, besides=keys)
        facts = _write(
            agent, new, replaced, former, subjects, identified=identified, history=history
        )
        warnings |= _warnings(subjects, former)
        name_aliases(_named_anew(identified, subjects))
        if unproven:
            places = {run.uuid: subjects.revision_of(run) for run in unproven}
            adopted = adopt_evidence(unproven, places, identified)
    written = {run.uuid for run in [*new, *replaced]}
    adopt_marks([run for run in sorted_out.marked if run.uuid not in written], agent.lab)
    decided = (
        decide_as_sent(sorted_out.undecided, identified, agent.lab)
        if sorted_out.undecided
        else frozenset()
    )
    for uuid, identity in identified.identities.items():
        if identity.remark:
            warnings.setdefault(uuid, []).append(identity.remark)
    return Recorded(
        stored=tuple(run.uuid for run in new),
        replaced=tuple(run.uuid for run in replaced),
        known=tuple(run.uuid for run in fresh if run.uuid not in written),
        waiting=adopted.waiting
        | (identified.waiting & written)
        | frozenset({run.uuid for run in sorted_out.undecided} - decided),
        refiled=adopted.refiled | decided | renamed,
        warnings=warnings,
        changed_facts=facts,
    )


@dataclass(frozen=True, slots=True)
class _SortedOut:
    """Runs that are new, and those whose UUID is stored with another digest. Of the others:
    ``placeless``, whose revision waits for its place, ``unproven``, which come with the first
    evidence of theirs, and ``undecided`` ones, which wait for a decision. Of all that are stored,
    ``renamed`` have the mode that their evidence calls the former one, and ``marked`` come with the
    first marks of their samples.
    """

    new: list[RunDocument]
    changed: list[RunDocument]
    placeless: list[RunDocument]
    unproven: list[RunDocument]
    undecided: list[RunDocument]
    renamed: list[RunDocument]
    marked: list[RunDocument]


class _Stored(NamedTuple):
    """What decides what becomes of another upload of a run. ``mode``: as it was sent."""

    uuid: UUID
    digest: str
    position: int
    without_evidence: bool
    waits: bool
    mode: str
    is_marked: bool


def _sort_out(runs: Sequence[RunDocument], *, replace: bool) -> _SortedOut:
    stored = _stored(runs)
    sent = {run.uuid: run.digest() for run in runs}
    if replace and any(row.digest != sent[uuid] for uuid, row in stored.items()):
        begin_replacing()
        stored = _stored(runs)
    new = [run for run in runs if run.uuid not in stored]
    old = [(run, stored[run.uuid]) for run in runs if run.uuid in stored]
    same = [(run, row) for run, row in old if row.digest == sent[run.uuid]]
    return _SortedOut(
        new,
        [run for run, row in old if row.digest != sent[run.uuid]],
        [run for run, row in old if row.position >= WAITING_FROM],
        [run for run, row in same if run.evidence is not None and row.without_evidence],
        [run for run, row in same if row.waits],
        [run for run, row in old if row.mode in run.former_names],
        [run for run, row in old if not row.is_marked and any(one.marks for one in run.metrics)],
    )


def _stored(runs: Sequence[RunDocument]) -> dict[UUID, _Stored]:
    """The current runs of these UUIDs."""
    rows = map(_Stored._make, fetch_rows(STORED, [run.uuid for run in runs]))
    return {row.uuid: row for row in rows}


def _named_anew(identified: Identified, subjects: Subjects) -> Iterator[tuple[Identity, int, int]]:
    """The commits that evidence gives another name, with tree and revision (ids)."""
    for run in identified.runs:
        identity = identified.identities.get(run.uuid)
        if identity is not None and identity.alias:
            yield identity, subjects.trees[run.tree].pk, subjects.revision_of(run).pk


def _warnings(subjects: Subjects, former: Sequence[Run]) -> dict[UUID, list[str]]:
    warnings = {uuid: list(texts) for uuid, texts in subjects.warnings.items()}
    for run in former:
        if run.is_withdrawn and not _waited(run):
            warnings.setdefault(run.uuid, []).append(
                f"the run that this one replaces was withdrawn ({run.withdrawn_reason}), and so is "
                "this one until an operator takes that back"
            )
    return warnings


def _without_repeats(runs: Sequence[RunDocument]) -> list[RunDocument]:
    """Each UUID once. The same UUID with other content in one batch has no right answer; of two
    names of its mode the later one counts.
    """
    first: dict[UUID, int] = {}
    problems = []
    for i, run in enumerate(runs):
        at = first.setdefault(run.uuid, i)
        if at != i and run.digest() != runs[at].digest():
            problems.append(
                Problem(f"runs[{i}].uuid", f"the same UUID as runs[{at}] with other content")
            )
        elif run.former_mode and not runs[at].former_mode:
            first[run.uuid] = i
    if problems:
        raise Unprocessable(problems)
    return [runs[i] for i in first.values()]


def _write(
    agent: Agent,
    new: Sequence[RunDocument],
    replaced: Sequence[RunDocument],
    former: Sequence[Run],
    subjects: Subjects,
    *,
    identified: Identified,
    history: bool,
) -> tuple[ChangedFact, ...]:
    """``former`` are the stored runs that ``replaced`` take the place of, in the same order."""
    documents = [*new, *replaced]
    if not documents:
        return ()
    positions = points_at(run.pk for run in former) if former else {}
    keys = _series_of(documents, subjects)
    series = lock_series(keys, besides={series for series, _ in positions})
    now = timezone.now()
    successors = supersede(former, now)
    rows = [
        _row(agent, run, subjects, now, history=history) | withdrawal_of(run, identified, now)
        for run in new
    ]
    ids = dict(insert_rows(Run, rows, returning=("uuid", "id"))) | successors
    rows = [
        _row(agent, run, subjects, now, history=history or old.history)
        | _withdrawal(old)
        | (withdrawal_of(run, identified, now) if _counts(old) else {})
        | {"id": successors[run.uuid]}
        for run, old in zip(replaced, former, strict=True)
    ]
    insert_rows(Run, rows)
    samples = [
        (run, series[subjects.series_key(run, metric)], metric)
        for run in documents
        for metric in run.metrics
    ]
    insert_rows(Measurement, [_measured(ids[run.uuid], pk, metric) for run, pk, metric in samples])
    note_waiting(documents, ids, identified, now)
    aliased = {ids[run.uuid]: run for run in documents if run.uuid in subjects.aliased}
    note_names({pk: subjects.sent_names_of(run) for pk, run in aliased.items()})
    share_lists(former, successors)
    for run, pk, _ in samples:
        revision = subjects.revision_of(run)
        positions[pk, revision.pk] = revision.position
    refresh_points(positions, {revision: position for (_, revision), position in positions.items()})
    renew_facts(former, reports_of(replaced, subjects, now))
    return note_facts(reports_of(new, subjects, now), history=history)


def _series_of(documents: Sequence[RunDocument], subjects: Subjects) -> set[SeriesKey]:
    return {subjects.series_key(run, metric) for run in documents for metric in run.metrics}


def _measured(run: int, series: int, metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement."""
    return {
        "run_id": run,
        "series_id": series,
        "samples": metric.samples,
        "boots": metric.boots,
        **marked(metric),
    }


def _waited(former: Run) -> bool:
    """Whether it was out of the statistics because nobody knew where it belongs."""
    return former.withdrawn_by_id is None and former.withdrawn_reason in (WAITS, LEFT_OUT)


def _counts(former: Run) -> bool:
    """Whether nobody took it out of the statistics."""
    return not former.is_withdrawn or _waited(former)


def _withdrawal(former: Run) -> dict[str, Any]:
    """What a person took out of the statistics does not come back by another upload of it."""
    return {
        "withdrawn_at": former.withdrawn_at,
        "withdrawn_by_id": former.withdrawn_by_id,
        "withdrawn_reason": former.withdrawn_reason,
    }


def _row(
    agent: Agent, run: RunDocument, subjects: Subjects, now: datetime, *, history: bool
) -> dict[str, Any]:
    """The columns of a new run."""
    names = subjects.names_of(run)
    return {
        "uuid": run.uuid,
        "agent_id": agent.pk,
        "hardware_id": names.hardware,
        "revision_id": subjects.revision_of(run).pk,
        "mode_id": names.mode,
        "variant_id": subjects.variant_of(run),
        "as_sent": as_sent_data(run),
        "digest": run.digest(),
        "build_id": run.build_id,
        "kernel_ident": run.kernel_ident,
        "measured_at": run.measured_at,
        "received_at": now,
        "history": history,
        "session": run.evidence.session_name if run.evidence else "",
        "evidence": asdict(run.evidence) if run.evidence else None,
        "facts": run.facts,
        "sources": run.sources,
        "warnings": run.warnings,
    }
