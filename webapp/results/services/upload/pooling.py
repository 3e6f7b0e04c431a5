"""Fifth step of an upload: points and facts follow the samples, and known runs what is new of them.
The answer to the agent is put together from all steps.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from webapp.labs.services import spend_quota
from webapp.results.documents import Recorded
from webapp.results.fact_names import ChangedFact
from webapp.results.services.facts import Report, note_facts, renew_facts
from webapp.results.services.placing import waiting_text
from webapp.results.services.refiling import renew
from webapp.results.services.upload.filing import Filed, FiledRun
from webapp.results.services.upload.known_runs import adopt
from webapp.results.services.upload.writing import Written, waited


def pool(written: Written) -> Recorded:
    """Pool the points that samples came to or left, and report what became of the upload."""
    filed, found = written.filed, written.filed.identified
    facts = _pool_written(written) if filed.runs else ()
    adopted = adopt(filed)
    if filed.runs and not found.received.asked_for:
        spend_quota(lab=found.received.agent.lab, stored=replace(filed.made, runs=len(filed.runs)))
    new = {run.uuid for run in filed.runs}
    return Recorded(
        stored=tuple(run.uuid for run in filed.runs if not run.former),
        replaced=tuple(run.uuid for run in filed.runs if run.former),
        known=tuple(run.uuid for run in found.fresh if run.uuid not in new),
        waiting=adopted.waiting | (found.identities.waiting & new),
        refiled=adopted.refiled | written.renamed,
        warnings=_warnings(filed),
        changed_facts=facts,
    )


def _pool_written(written: Written) -> tuple[ChangedFact, ...]:
    """The facts of machines that changed."""
    filed, at = written.filed, written.at
    renew(written.points)
    renew_facts([(run.former, _report(run, at)) for run in filed.runs if run.former])
    history = filed.identified.received.history
    return note_facts([_report(run, at) for run in filed.runs if not run.former], history=history)


def _report(run: FiledRun, now: datetime) -> Report:
    """The facts of a run that arrives ``now``."""
    at = run.document.measured_at or now
    return Report(run.names.hardware, at, run.document.facts, run.options)


def _warnings(filed: Filed) -> Mapping[UUID, list[str]]:
    """Of runs that were taken, and not quite as they were sent."""
    found = filed.identified
    warnings = {run.uuid: [waiting_text(run.revision, run.tree)] for run in found.placeless}
    texts = {uuid: list(of_run) for uuid, of_run in filed.warnings.items()}
    for former in (run.former for run in filed.runs):
        if former and former.is_withdrawn and not waited(former):
            texts.setdefault(former.uuid, []).append(
                f"the run that this one replaces was withdrawn ({former.withdrawn_reason}), "
                "and so is this one until an operator takes that back"
            )
    warnings |= texts
    for run in filed.runs:
        if run.document.remarks:
            warnings.setdefault(run.uuid, []).extend(run.document.remarks)
    for uuid, identity in found.identities.of.items():
        if identity.remark:
            warnings.setdefault(uuid, []).append(identity.remark)
    return warnings
