"""Fifth step of an upload: points and facts follow the samples, and known runs what is new of them.
The answer to the agent is put together from all steps.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from webapp.labs.services import spend_quota
from webapp.results.documents import Recorded, RunDocument
from webapp.results.fact_names import ChangedFact
from webapp.results.services.facts import Report, note_facts, renew_facts
from webapp.results.services.placing import waiting_text
from webapp.results.services.refiling import renew
from webapp.results.services.upload.filing import Filed, Subjects
from webapp.results.services.upload.known_runs import adopt
from webapp.results.services.upload.writing import Written, waited


def pool(written: Written) -> Recorded:
    """Pool the points that samples came to or left, and report what became of the upload."""
    filed, found = written.filed, written.filed.identified
    facts = _pool_written(written, filed.subjects) if filed.subjects and filed.documents else ()
    adopted = adopt(filed)
    _spend_quota(filed)
    stored = {run.uuid for run in filed.documents}
    return Recorded(
        stored=tuple(run.uuid for run in found.new),
        replaced=tuple(run.uuid for run in filed.replaced),
        known=tuple(run.uuid for run in filed.known),
        waiting=adopted.waiting | (found.identities.waiting & stored),
        refiled=adopted.refiled | written.renamed,
        warnings=_warnings(filed),
        changed_facts=facts,
    )


def _pool_written(written: Written, subjects: Subjects) -> tuple[ChangedFact, ...]:
    """The facts of machines that changed."""
    filed, at = written.filed, written.at
    renew(written.points)
    renew_facts(filed.former, _reports_of(filed.replaced, subjects, at))
    new = _reports_of(filed.identified.new, subjects, at)
    return note_facts(new, history=filed.identified.received.history)


def _reports_of(
    documents: Iterable[RunDocument], subjects: Subjects, now: datetime
) -> list[Report]:
    """The facts of runs that arrive ``now``."""
    return [
        Report(
            subjects.names_of(run).hardware,
            run.measured_at or now,
            run.facts,
            subjects.options_of(run),
        )
        for run in documents
    ]


def _spend_quota(filed: Filed) -> None:
    received, subjects = filed.identified.received, filed.subjects
    if subjects is not None and filed.documents and not received.asked_for:
        subjects.made.runs = len(filed.documents)
        spend_quota(lab=received.agent.lab, stored=subjects.made)


def _warnings(filed: Filed) -> Mapping[UUID, list[str]]:
    """Of runs that were taken, and not quite as they were sent."""
    found, subjects = filed.identified, filed.subjects
    warnings = {run.uuid: [waiting_text(run.revision, run.tree)] for run in found.placeless}
    texts = {uuid: list(of_run) for uuid, of_run in subjects.warnings.items()} if subjects else {}
    for run in filed.former:
        if run.is_withdrawn and not waited(run):
            texts.setdefault(run.uuid, []).append(
                f"the run that this one replaces was withdrawn ({run.withdrawn_reason}), and so is "
                "this one until an operator takes that back"
            )
    warnings |= texts
    for uuid, identity in found.identities.of.items():
        if identity.remark:
            warnings.setdefault(uuid, []).append(identity.remark)
    return warnings
