"""Fourth and fifth step of an upload: insert runs and measurements in their series, which are
locked; points and facts follow the samples, and known runs what is new of them.

Other content takes the place of a stored run, which stays, withdrawn. Known runs whose mode has
another name by now move to the series of that mode first: all series are locked in one order.

The answer to the agent is put together from all steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import ManyToManyRel
from django.utils import timezone

from webapp.labs.services import spend_quota
from webapp.results.documents import MetricDocument, Recorded
from webapp.results.fact_names import ChangedFact
from webapp.results.models import Measurement, Run, RunHistograms
from webapp.results.packed import SamplesField, SourcesField, pack_boots
from webapp.results.queries import rows_of
from webapp.results.services.aliases import note_names
from webapp.results.services.database import as_json, column_types, insert_rows
from webapp.results.services.facts import Report, note_facts, renew_facts
from webapp.results.services.identities import LEFT_OUT, WAITS, note_doubts
from webapp.results.services.named_rows import lock_series
from webapp.results.services.placing import waiting_text
from webapp.results.services.points import SeriesRevision, renew
from webapp.results.services.refiling import points_at
from webapp.results.services.upload.filing import Filed, FiledRun
from webapp.results.services.upload.known_runs import adopt, adopt_modes, marked

REPLACED = "Other content was uploaded under its UUID."
# A new run is current from its insert on, and a UUID has one current run: the former one has to
# name its successor first. Foreign keys are checked at the end of the transaction.
NEW_IDS = """
SELECT nextval(pg_get_serial_sequence('results_run', 'id')) FROM generate_series(1, %s)
"""
SUPERSEDE = """
UPDATE results_run AS run
   SET superseded_by_id = successor.id,
       withdrawn_at = COALESCE(run.withdrawn_at, %s),
       withdrawn_reason = COALESCE(NULLIF(run.withdrawn_reason, ''), %s)
  FROM unnest(%s::bigint[], %s::bigint[]) AS successor (former, id)
 WHERE run.id = successor.former
"""
# Kernels are known from their second run on; one that is not is made. Where another upload made it
# meanwhile, which no other part of this statement sees, the update that changes nothing gives it
# back. The order of runs makes kernels wait for one another before any run is written, and in the
# order of their names: two uploads cannot wait for each other.
INSERT_RUNS = """
WITH sent AS MATERIALIZED (
     SELECT * FROM ROWS FROM (json_to_recordset(%s::json) AS ({types}, build_id text, ident text))
              WITH ORDINALITY AS row ({columns}, build_id, ident, number)),
     named AS MATERIALIZED (
     SELECT one.build_id, one.ident, kernel.id AS known_id
       FROM (SELECT DISTINCT build_id, ident FROM sent) AS one
       LEFT JOIN results_kernel AS kernel
         ON md5(kernel.build_id) = md5(one.build_id) AND md5(kernel.ident) = md5(one.ident)
        AND kernel.build_id = one.build_id AND kernel.ident = one.ident),
     made AS (
     INSERT INTO results_kernel AS kernel (build_id, ident)
     SELECT build_id, ident FROM named WHERE known_id IS NULL ORDER BY build_id, ident
         ON CONFLICT (md5(build_id), md5(ident)) DO UPDATE SET ident = kernel.ident
     RETURNING build_id, ident, id AS made_id)
INSERT INTO results_run ({columns}, kernel_id)
SELECT {columns}, COALESCE(known_id, made_id)
  FROM sent JOIN named USING (build_id, ident) LEFT JOIN made USING (build_id, ident)
 ORDER BY sent.number
RETURNING uuid, results_run.id
"""
OF_KERNEL = frozenset(("build_id", "ident"))
"""Values of a row that are not its own columns: they name its kernel."""


@dataclass(frozen=True, slots=True)
class Written:
    """``points`` are those that samples came to or left, each with the position of its revision;
    ``renamed`` the known runs that moved to another mode.
    """

    filed: Filed
    at: datetime = field(default_factory=timezone.now)
    points: Mapping[SeriesRevision, int] = field(default_factory=dict)
    renamed: frozenset[UUID] = frozenset()


def write(filed: Filed) -> Written:
    """Write the runs of the upload that are new or replace others. Points are not pooled yet."""
    keys = {key for run in filed.runs for key in run.series.values()}
    renamed = adopt_modes(filed.renamed, besides=keys)
    if not filed.runs:
        return Written(filed, renamed=renamed)
    former = [run.former for run in filed.runs if run.former]
    points = points_at(run.pk for run in former) if former else {}
    series = lock_series(keys, besides={series for series, _ in points}, made=filed.made)
    now = timezone.now()
    successors = _supersede(former, now)
    ids = _insert_runs(filed, successors, now)
    rows = [
        _measured(ids[run.uuid], series[run.series[metric.name]], metric)
        for run in filed.runs
        for metric in run.document.metrics
    ]
    insert_rows(Measurement, rows)
    insert_rows(RunHistograms, [row for run in filed.runs for row in _histograms(ids, run)])
    doubted = [run for run in filed.runs if run.identity.waits]
    note_doubts([run.doubt(ids[run.uuid]) for run in doubted], now)
    note_names({ids[run.uuid]: run.sent for run in filed.runs if run.is_aliased})
    _share_lists(former, successors)
    for run in filed.runs:
        for key in run.series.values():
            points[series[key], run.revision.pk] = run.revision.position
    return Written(filed, now, points, renamed)


def _insert_runs(filed: Filed, successors: dict[UUID, int], now: datetime) -> dict[UUID, int]:
    """The ids of all runs by their UUIDs; ``successors`` are those of the replacing ones."""
    received, digests = filed.identified.received, filed.identified.digests
    agent, history = received.agent.pk, received.history
    new = [
        _row(run, agent, digests, now, history=history) | _waiting(run, now)
        for run in filed.runs
        if not run.former
    ]
    ids = _insert_with_kernels(new) | successors
    replacing = [
        _row(run, agent, digests, now, history=history or old.history)
        | _withdrawal(old)
        | (_waiting(run, now) if _counts(old) else {})
        | {"id": successors[run.uuid]}
        for run in filed.runs
        if (old := run.former)
    ]
    _insert_with_kernels(replacing)
    return ids


def _insert_with_kernels(rows: Sequence[Mapping[str, Any]]) -> dict[UUID, int]:
    """The ids of runs by their UUIDs; kernels that are new are stored with them."""
    if not rows:
        return {}
    columns = [name for name in rows[0] if name not in OF_KERNEL]
    statement = INSERT_RUNS.format(columns=", ".join(columns), types=column_types(Run, columns))
    return dict(rows_of(statement, [as_json(rows)]))


def _measured(run: int, series: int, metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement."""
    return {
        "run_id": run,
        "series_id": series,
        "samples": SamplesField.pack(metric.samples),
        "boots": pack_boots(metric.boots),
        **marked(metric),
    }


def _histograms(ids: Mapping[UUID, int], run: FiledRun) -> Iterator[dict[str, Any]]:
    for one in run.document.histograms:
        row = {"run_id": ids[run.uuid], "name": one.name, "boots": one.boots}
        yield row | {"data": one.stored()}


def _row(
    filed: FiledRun, agent: int, digests: Mapping[UUID, str], now: datetime, *, history: bool
) -> dict[str, Any]:
    """The columns of a new run."""
    run = filed.document
    return {
        "uuid": run.uuid,
        "agent_id": agent,
        "hardware_id": filed.names.hardware,
        "revision_id": filed.revision.pk,
        "mode_id": filed.names.mode,
        "variant_id": filed.variant,
        "as_sent": filed.as_sent,
        "digest": bytes.fromhex(digests[run.uuid]),
        "build_id": run.build_id,
        "ident": run.kernel_ident,
        "measured_at": run.measured_at,
        "received_at": now,
        "history": history,
        "session": run.evidence.session_name if run.evidence else "",
        "evidence": asdict(run.evidence) if run.evidence else None,
        "facts": run.facts,
        "sources": SourcesField.pack(run.sources),
        "warnings": [*run.warnings, *run.remarks],
    }


def _waiting(run: FiledRun, now: datetime) -> dict[str, Any]:
    """The columns that take a new run out of the statistics while it waits, or for good."""
    if not run.identity.waits:
        return {"withdrawn_at": None, "withdrawn_reason": ""}
    return {"withdrawn_at": now, "withdrawn_reason": LEFT_OUT if run.left_out else WAITS}


def waited(former: Run) -> bool:
    """Whether it was out of the statistics because nobody knew where it belongs."""
    return former.withdrawn_by_id is None and former.withdrawn_reason in (WAITS, LEFT_OUT)


def _counts(former: Run) -> bool:
    """Whether nobody took it out of the statistics."""
    return not former.is_withdrawn or waited(former)


def _withdrawal(former: Run) -> dict[str, Any]:
    """What a person took out of the statistics does not come back by another upload of it."""
    return {
        "withdrawn_at": former.withdrawn_at,
        "withdrawn_by_id": former.withdrawn_by_id,
        "withdrawn_reason": former.withdrawn_reason,
    }


def _supersede(runs: Sequence[Run], now: datetime) -> dict[UUID, int]:
    """Withdraw the locked ``runs`` in favour of successors, which the caller is to insert; the ids
    of these by UUID. What a person withdrew keeps that person's reason.
    """
    if not runs:
        return {}
    ids = [pk for (pk,) in rows_of(NEW_IDS, [len(runs)])]
    with connection.cursor() as cursor:
        cursor.execute(SUPERSEDE, [now, REPLACED, [run.pk for run in runs], ids])
    return {run.uuid: pk for run, pk in zip(runs, ids, strict=True)}


def _share_lists(runs: Sequence[Run], successors: Mapping[UUID, int]) -> None:
    """Let the stored successors of ``runs`` be in every list that these are in, such as the results
    of a job. The former ones stay there: they were what the list has.
    """
    if not runs:
        return
    successor = {run.pk: successors[run.uuid] for run in runs}
    for relation in Run._meta.get_fields(include_hidden=True):  # noqa: SLF001 (documented)
        if not isinstance(relation, ManyToManyRel):
            continue
        through: Any = relation.through
        to_run, to_list = relation.field.m2m_reverse_name(), relation.field.m2m_column_name()
        members = through.objects.filter(**{f"{to_run}__in": successor})
        through.objects.bulk_create(
            through(**{to_list: of_list, to_run: successor[former]})
            for of_list, former in members.values_list(to_list, to_run)
        )


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
