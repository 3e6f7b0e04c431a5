"""Store runs: a batch whole or not at all, each run once, in a number of statements that does not
grow with the batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from webapp.labs.models import Agent
from webapp.labs.services import require_quota, spend_quota
from webapp.results.documents import Recorded, RunDocument
from webapp.results.errors import Conflict
from webapp.results.fact_names import ChangedFact
from webapp.results.identity import Identity
from webapp.results.models import Run
from webapp.results.services.differences import conflicts, differing_fields
from webapp.results.services.identifying import Identified, identify_runs
from webapp.results.services.label_rules import tell_parts
from webapp.results.services.placing import waiting_text
from webapp.results.services.renaming import adopt_modes
from webapp.results.services.replacing import lock_current, refuse_foreign_runs
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.resolving import Subjects, resolve
from webapp.results.services.sorting_out import SortedOut, sort_out, without_repeats
from webapp.results.services.validity import adopt_marks
from webapp.results.services.waiting import Adopted, adopt_evidence, decide_as_sent, name_aliases
from webapp.results.services.writing_runs import Batch, waited, write_runs


@transaction.atomic(savepoint=False)
def record_runs(
    *,
    agent: Agent,
    runs: Sequence[RunDocument],
    register: bool = False,
    history: bool = False,
    replace: bool = False,
    asked_for: bool = False,
) -> Recorded:
    """Store the runs that are new, in one transaction, and mark their series dirty.

    Args:
        agent: who sends them; hardware and runs of another lab than the agent's are refused.
        runs: at least one. A run whose UUID is stored with the same content is left alone.
        register: add hardware that is not known to the agent's lab.
        history: note that nobody is to be mailed about these runs.
        replace: let other content take the place of the stored run, which stays, withdrawn.
        asked_for: the server asked for them by a job, so they count against no quota.

    Raises:
        Unprocessable, Forbidden, Conflict: with every problem found; nothing is stored then.
        QuotaExceeded: the lab may store no more of something.
        IntegrityError: another upload stored one of these UUIDs or revisions between our look and
            our insert. That one is committed now, so a second call sees it.
    """
    begin_writing()
    identified = identify_runs(tell_parts(runs, agent.lab_id), agent.lab)
    fresh = without_repeats(identified.runs)
    found = sort_out(fresh, replace=replace)
    if found.new and not asked_for:
        require_quota(lab=agent.lab, runs=len(found.new))
    upload = _Upload(agent, runs, identified, register, history, replace, asked_for)
    done = _store(upload, found) if found.need_subjects else _Done()
    written = {run.uuid for run in [*found.new, *done.replaced]}
    adopt_marks([run for run in found.marked if run.uuid not in written], agent.lab)
    undecided = frozenset(run.uuid for run in found.undecided)
    decided = decide_as_sent(found.undecided, identified, agent.lab) if undecided else frozenset()
    return Recorded(
        stored=tuple(run.uuid for run in found.new),
        replaced=tuple(run.uuid for run in done.replaced),
        known=tuple(run.uuid for run in fresh if run.uuid not in written),
        waiting=done.adopted.waiting | (identified.waiting & written) | (undecided - decided),
        refiled=done.adopted.refiled | decided | done.renamed,
        warnings=_warnings(found, done, identified),
        changed_facts=done.facts,
    )


@dataclass(frozen=True, slots=True)
class _Upload:
    """``runs`` as they were sent, ``identified`` with their revisions; the rest as in
    `record_runs`."""

    agent: Agent
    runs: Sequence[RunDocument]
    identified: Identified
    register: bool
    history: bool
    replace: bool
    asked_for: bool


@dataclass(frozen=True, slots=True)
class _Done:
    """What an upload changed, beside the runs that are new."""

    replaced: list[RunDocument] = field(default_factory=list)
    adopted: Adopted = field(default_factory=Adopted)
    renamed: frozenset[UUID] = frozenset()
    facts: tuple[ChangedFact, ...] = ()
    warnings: dict[UUID, list[str]] = field(default_factory=dict)


def _store(upload: _Upload, found: SortedOut) -> _Done:
    agent, identified, changed = upload.agent, upload.identified, found.changed
    stored = lock_current(run.uuid for run in changed) if changed else {}
    refuse_foreign_runs(upload.runs, stored, agent.lab, replace=upload.replace)
    # Indices in problems are those of the batch as it was sent, so all runs are resolved.
    subjects = resolve(runs=identified.runs, agent=agent, register=upload.register)
    differing = differing_fields(changed, stored, subjects) if changed else {}
    if differing and not upload.replace:
        raise Conflict(conflicts(upload.runs, differing))
    replaced = [run for run in changed if run.uuid in differing]
    former = [stored[run.uuid] for run in replaced]
    batch = Batch(agent, found.new, replaced, former, subjects, identified, upload.history)
    renaming = [run for run in found.renamed if run.uuid not in differing]
    renamed = (
        adopt_modes(renaming, subjects, besides=batch.series()) if renaming else frozenset[UUID]()
    )
    facts = write_runs(batch)
    name_aliases(_named_anew(identified, subjects))
    places = {run.uuid: subjects.revision_of(run) for run in found.unproven}
    adopted = adopt_evidence(found.unproven, places, identified) if places else Adopted()
    subjects.made.runs = len(batch.documents)
    if batch.documents and not upload.asked_for:
        spend_quota(lab=agent.lab, stored=subjects.made)
    return _Done(replaced, adopted, renamed, facts, _warnings_of_writing(subjects, former))


def _named_anew(identified: Identified, subjects: Subjects) -> Iterator[tuple[Identity, int, int]]:
    """The commits that evidence gives another name, with tree and revision (ids)."""
    for run in identified.runs:
        identity = identified.identities.get(run.uuid)
        if identity is not None and identity.alias:
            yield identity, subjects.trees[run.tree].pk, subjects.revision_of(run).pk


def _warnings_of_writing(subjects: Subjects, former: Sequence[Run]) -> dict[UUID, list[str]]:
    warnings = {uuid: list(texts) for uuid, texts in subjects.warnings.items()}
    for run in former:
        if run.is_withdrawn and not waited(run):
            warnings.setdefault(run.uuid, []).append(
                f"the run that this one replaces was withdrawn ({run.withdrawn_reason}), and so is "
                "this one until an operator takes that back"
            )
    return warnings


def _warnings(found: SortedOut, done: _Done, identified: Identified) -> dict[UUID, list[str]]:
    warnings = {run.uuid: [waiting_text(run.revision, run.tree)] for run in found.placeless}
    warnings |= done.warnings
    for run in [*found.new, *done.replaced]:
        if run.remarks:
            warnings.setdefault(run.uuid, []).extend(run.remarks)
    for uuid, identity in identified.identities.items():
        if identity.remark:
            warnings.setdefault(uuid, []).append(identity.remark)
    return warnings
