"""Store runs: a batch whole or not at all, each run once, in a number of statements that does not
grow with the batch."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent
from webapp.results.documents import Recorded, RunDocument
from webapp.results.errors import Conflict, Problem, Unprocessable
from webapp.results.models import Measurement, Run, Series
from webapp.results.services.bulk import fetch_rows, insert_rows
from webapp.results.services.pooling import Place, refresh_points
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.resolving import Subjects, lock_series, resolve

DIGESTS = "SELECT uuid, digest FROM results_run WHERE uuid = ANY(%s)"
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
        agent: who sends them; hardware of another lab than the agent's is refused.
        runs: at least one. A run whose UUID is stored with the same content is left alone.
        register: add hardware that is not known to the agent's lab.
        history: note that nobody is to be mailed about these runs.
        replace: let a run with other content take the place of the stored one.

    Raises:
        Unprocessable, Forbidden, Conflict: with every problem found; nothing is stored then.
        IntegrityError: another upload stored one of these UUIDs or revisions between our look and
            our insert. That one is committed now, so a second call sees it.
    """
    fresh = _without_repeats(runs)
    begin_writing()
    digests = dict(fetch_rows(DIGESTS, [run.uuid for run in fresh]))
    new = [run for run in fresh if run.uuid not in digests]
    changed = [run for run in fresh if run.uuid in digests and digests[run.uuid] != run.digest()]
    replaced: list[RunDocument] = []
    if new or changed:
        # Indices in problems are those of the batch as it was sent, so all runs are resolved.
        subjects = resolve(runs=runs, lab=agent.lab, register=register)
        stored = {
            run.uuid: run for run in Run.objects.filter(uuid__in=[run.uuid for run in changed])
        }
        differing = _differing(changed, stored, subjects) if changed else {}
        if differing and not replace:
            raise Conflict(_conflicts(runs, differing))
        replaced = [run for run in changed if run.uuid in differing]
        _write(agent, new, replaced, stored, subjects, history=history)
    known = {run.uuid for run in fresh} - {run.uuid for run in [*new, *replaced]}
    return Recorded(
        stored=tuple(run.uuid for run in new),
        replaced=tuple(run.uuid for run in replaced),
        known=tuple(run.uuid for run in fresh if run.uuid in known),
    )


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
    held = Measurement.objects.filter(run__in=[stored[run.uuid] for run in changed])
    for measurement in held.select_related("series"):
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
    held = {
        "hardware": row.hardware_id,
        "revision": row.revision_id,
        "mode": row.mode_id,
        "build_id": row.build_id,
        "kernel_ident": row.kernel_ident,
        "measured_at": row.measured_at,
    }
    return [name for name in COMPARED_FIELDS if sent[name] != held[name]]


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
    stored: dict[UUID, Run],
    subjects: Subjects,
    *,
    history: bool,
) -> None:
    documents = [*new, *replaced]
    if not documents:
        return
    left = _take_out(stored[run.uuid] for run in replaced) if replaced else set()
    series = lock_series(
        subjects.series_key(run, metric) for run in documents for metric in run.metrics
    )
    now = timezone.now()
    ids = dict(
        insert_rows(
            Run,
            [_row(agent, run, subjects, now, history=history) for run in new],
            returning=("uuid", "id"),
        )
    )
    for run in replaced:
        ids[run.uuid] = _rewrite(stored[run.uuid], run, subjects).pk
    insert_rows(
        Measurement,
        [
            {
                "run_id": ids[run.uuid],
                "series_id": series[subjects.series_key(run, metric)],
                "samples": metric.samples,
                "boots": metric.boots,
            }
            for run in documents
            for metric in run.metrics
        ],
    )
    places = dict(left)
    for run in documents:
        revision = subjects.revision_of(run)
        for metric in run.metrics:
            place = (series[subjects.series_key(run, metric)], revision.pk)
            places[place] = revision.position
    refresh_points(places, {revision: position for (_, revision), position in places.items()})


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


def _take_out(runs: Iterable[Run]) -> set[tuple[Place, int]]:
    """Delete the measurements of runs that are replaced; the places they leave, with positions.

    Their series are locked first, in the order of ids, like everybody's.
    """
    rows = Measurement.objects.filter(run__in=list(runs)).select_related("run__revision")
    held = list(rows)
    list(
        Series.objects.filter(pk__in=[row.series_id for row in held])
        .order_by("pk")
        .select_for_update(no_key=True)
    )
    Measurement.objects.filter(pk__in=[row.pk for row in held]).delete()
    return {((row.series_id, row.run.revision_id), row.run.revision.position) for row in held}


def _rewrite(row: Run, run: RunDocument, subjects: Subjects) -> Run:
    """The stored run with the document's content. Its UUID and times of arrival stay."""
    row.hardware = subjects.hardware[run.hardware]
    row.revision_id = subjects.revision_of(run).pk
    row.mode = subjects.modes[str(run.mode)]
    row.digest = run.digest()
    row.build_id = run.build_id
    row.kernel_ident = run.kernel_ident
    row.measured_at = run.measured_at
    row.facts, row.sources, row.warnings = run.facts, run.sources, run.warnings
    row.save()
    return row
