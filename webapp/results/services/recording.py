"""Store runs: a batch whole or not at all, each run once, in a number of statements that does not
grow with the batch."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent
from webapp.results.documents import MetricDocument, Recorded, RunDocument
from webapp.results.errors import Conflict, Problem, Unprocessable
from webapp.results.models import Measurement, Run
from webapp.results.models.history import WAITING_FROM
from webapp.results.services.bulk import fetch_rows, insert_rows
from webapp.results.services.placing import waiting_text
from webapp.results.services.pooling import refresh_points
from webapp.results.services.replacing import (
    begin_replacing,
    lock_current,
    points_of,
    refuse_foreign_runs,
    share_lists,
    supersede,
)
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.resolving import Subjects, lock_series, resolve

DIGESTS = """
SELECT run.uuid, run.digest, revision.position
  FROM results_run AS run JOIN results_revision AS revision ON revision.id = run.revision_id
 WHERE run.uuid = ANY(%s) AND run.superseded_by_id IS NULL
"""
COMPARED_FIELDS = ("hardware", "revision", "mode", "build_id", "kernel_ident", "measured_at")


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
    fresh = _without_repeats(runs)
    begin_writing()
    new, changed, waiting = _sorted_out(fresh, replace=replace)
    replaced: list[RunDocument] = []
    warnings = {run.uuid: [waiting_text(run.revision, run.tree)] for run in waiting}
    if new or changed:
        stored = lock_current(run.uuid for run in changed) if changed else {}
        refuse_foreign_runs(runs, stored, agent.lab, replace=replace)
        # Indices in problems are those of the batch as it was sent, so all runs are resolved.
        subjects = resolve(runs=runs, agent=agent, register=register)
        differing = _differing(changed, stored, subjects) if changed else {}
        if differing and not replace:
            raise Conflict(_conflicts(runs, differing))
        replaced = [run for run in changed if run.uuid in differing]
        former = [stored[run.uuid] for run in replaced]
        _write(agent, new, replaced, former, subjects, history=history)
        warnings |= _warnings(subjects, former)
    return _recorded(fresh, new, replaced, warnings)


def _recorded(
    fresh: Sequence[RunDocument],
    new: Sequence[RunDocument],
    replaced: Sequence[RunDocument],
    warnings: dict[UUID, list[str]],
) -> Recorded:
    written = {run.uuid for run in [*new, *replaced]}
    return Recorded(
        stored=tuple(run.uuid for run in new),
        replaced=tuple(run.uuid for run in replaced),
        known=tuple(run.uuid for run in fresh if run.uuid not in written),
        warnings=warnings,
    )


def _sorted_out(
    runs: Sequence[RunDocument], *, replace: bool
) -> tuple[list[RunDocument], list[RunDocument], list[RunDocument]]:
    """Those that are new, those whose UUID is stored with another digest, and known ones whose
    revision waits for its place.
    """
    digests = _digests(runs)
    sent = {run.uuid: run.digest() for run in runs}
    if replace and any(digests[uuid][0] != sent[uuid] for uuid in digests):
        begin_replacing()
        digests = _digests(runs)
    new = [run for run in runs if run.uuid not in digests]
    old = [run for run in runs if run.uuid in digests]
    changed = [run for run in old if digests[run.uuid][0] != sent[run.uuid]]
    waiting = [run for run in old if digests[run.uuid][1] >= WAITING_FROM]
    return new, changed, waiting


def _digests(runs: Sequence[RunDocument]) -> dict[UUID, tuple[str, int]]:
    """UUID → digest of the current run, and the position of its revision."""
    rows = fetch_rows(DIGESTS, [run.uuid for run in runs])
    return {uuid: (digest, position) for uuid, digest, position in rows}


def _warnings(subjects: Subjects, former: Sequence[Run]) -> dict[UUID, list[str]]:
    warnings = {uuid: list(texts) for uuid, texts in subjects.warnings.items()}
    for run in former:
        if run.is_withdrawn:
            warnings.setdefault(run.uuid, []).append(
                f"the run that this one replaces was withdrawn ({run.withdrawn_reason}), and so is "
                "this one until an operator takes that back"
            )
    return warnings


def _without_repeats(runs: Sequence[RunDocument]) -> list[RunDocument]:
    """Each UUID once. The same UUID with other content in one batch has no right answer."""
    first: dict[UUID, int] = {}
    problems = []
    for i, run in enumerate(runs):
        at = first.setdefault(run.uuid, i)
        if at != i and run.digest() != runs[at].digest():
            problems.append(
                Problem(f"runs[{i}].uuid", f"the same UUID as runs[{at}] with other content")
            )
    if problems:
        raise Unprocessable(problems)
    return [runs[i] for i in first.values()]


def _differing(
    changed: Sequence[RunDocument], stored: dict[UUID, Run], subjects: Subjects
) -> dict[UUID, list[str]]:
    """UUID → the fields in which a document differs from the stored run.

    Digests are of documents; names may have moved since (hardware renamed, modes merged), so the
    rows decide.
    """
    kept: dict[int, dict[int, Measurement]] = {}
    measured = Measurement.objects.filter(run__in=[stored[run.uuid] for run in changed])
    for measurement in measured.select_related("series"):
        kept.setdefault(measurement.run_id, {})[measurement.series.metric_id] = measurement
    differing = {}
    for run in changed:
        row = stored[run.uuid]
        fields = _differing_fields(run, row, subjects) + _differing_metrics(
            run, kept.get(row.pk, {}), subjects
        )
        if fields:
            differing[run.uuid] = fields
    return differing


def _differing_fields(run: RunDocument, row: Run, subjects: Subjects) -> list[str]:
    sent = {
        "hardware": subjects.hardware[run.hardware].pk,
        "revision": subjects.revision_of(run).pk,
        "mode": subjects.modes[str(run.mode)].pk,
        "build_id": run.build_id,
        "kernel_ident": run.kernel_ident,
        "measured_at": run.measured_at,
    }
    measured = {
        "hardware": row.hardware_id,
        "revision": row.revision_id,
        "mode": row.mode_id,
        "build_id": row.build_id,
        "kernel_ident": row.kernel_ident,
        "measured_at": row.measured_at,
    }
    return [name for name in COMPARED_FIELDS if sent[name] != measured[name]]


def _differing_metrics(
    run: RunDocument, kept: dict[int, Measurement], subjects: Subjects
) -> list[str]:
    fields = []
    sent = {subjects.metrics[metric.name].pk: metric for metric in run.metrics}
    for pk, metric in sent.items():
        row = kept.get(pk)
        if row is None:
            fields.append(f"metrics.{metric.name}")
        elif row.samples != metric.samples:
            fields.append(f"metrics.{metric.name}.samples")
        elif row.boots != metric.boots:
            fields.append(f"metrics.{metric.name}.boots")
    return fields + ["metrics" for pk in kept if pk not in sent]


def _conflicts(runs: Sequence[RunDocument], differing: dict[UUID, list[str]]) -> list[Problem]:
    return [
        Problem(
            f"runs[{i}].{field}",
            f"run {run.uuid} is stored with another {field}; "
            "send a new UUID, or `replace` to let this one take its place",
        )
        for i, run in enumerate(runs)
        for field in differing.get(run.uuid, [])
    ]


def _write(
    agent: Agent,
    new: Sequence[RunDocument],
    replaced: Sequence[RunDocument],
    former: Sequence[Run],
    subjects: Subjects,
    *,
    history: bool,
) -> None:
    """``former`` are the stored runs that ``replaced`` take the place of, in the same order."""
    documents = [*new, *replaced]
    if not documents:
        return
    positions = points_of(former) if former else {}
    keys = {subjects.series_key(run, metric) for run in documents for metric in run.metrics}
    series = lock_series(keys, besides={series for series, _ in positions})
    now = timezone.now()
    successors = supersede(former, now)
    rows = [_row(agent, run, subjects, now, history=history) for run in new]
    ids = dict(insert_rows(Run, rows, returning=("uuid", "id"))) | successors
    rows = [
        _row(agent, run, subjects, now, history=history or old.history)
        | _withdrawal(old)
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
    share_lists(former, successors)
    for run, pk, _ in samples:
        revision = subjects.revision_of(run)
        positions[pk, revision.pk] = revision.position
    refresh_points(positions, {revision: position for (_, revision), position in positions.items()})


def _measured(run: int, series: int, metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement."""
    return {"run_id": run, "series_id": series, "samples": metric.samples, "boots": metric.boots}


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
    return {
        "uuid": run.uuid,
        "agent_id": agent.pk,
        "hardware_id": subjects.hardware[run.hardware].pk,
        "revision_id": subjects.revision_of(run).pk,
        "mode_id": subjects.modes[str(run.mode)].pk,
        "digest": run.digest(),
        "build_id": run.build_id,
        "kernel_ident": run.kernel_ident,
        "measured_at": run.measured_at,
        "received_at": now,
        "history": history,
        "facts": run.facts,
        "sources": run.sources,
        "warnings": run.warnings,
        "withdrawn_reason": "",
    }
