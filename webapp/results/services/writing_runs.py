"""Write the runs of one upload, in a number of statements that does not grow with them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from webapp.labs.models import Agent
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.fact_names import ChangedFact
from webapp.results.models import Measurement, Run, RunHistograms
from webapp.results.services.aliased_runs import note_names
from webapp.results.services.bulk import insert_rows
from webapp.results.services.facts import note_facts, renew_facts, reports_of
from webapp.results.services.identifying import Identified
from webapp.results.services.label_rules import as_sent_data
from webapp.results.services.pooling import refresh_points
from webapp.results.services.refiling import points_at
from webapp.results.services.replacing import share_lists, supersede
from webapp.results.services.resolving import SeriesKey, Subjects, lock_series
from webapp.results.services.validity import marked
from webapp.results.services.waiting import LEFT_OUT, WAITS, note_waiting, withdrawal_of


@dataclass(frozen=True, slots=True)
class Batch:
    """``former`` are the stored runs that ``replaced`` take the place of, in the same order."""

    agent: Agent
    new: Sequence[RunDocument]
    replaced: Sequence[RunDocument]
    former: Sequence[Run]
    subjects: Subjects
    identified: Identified
    history: bool

    @property
    def documents(self) -> list[RunDocument]:
        """All runs that are written."""
        return [*self.new, *self.replaced]

    def series(self) -> set[SeriesKey]:
        """The series that its samples belong to."""
        return {
            self.subjects.series_key(run, metric)
            for run in self.documents
            for metric in run.metrics
        }


def write_runs(batch: Batch) -> tuple[ChangedFact, ...]:
    """Insert runs and measurements, refresh the points they belong to, and note what machines say
    of themselves.

    Returns:
        The facts of machines that changed.
    """
    if not batch.documents:
        return ()
    subjects, former = batch.subjects, batch.former
    positions = points_at(run.pk for run in former) if former else {}
    series = lock_series(
        batch.series(), besides={series for series, _ in positions}, made=subjects.made
    )
    now = timezone.now()
    successors = supersede(former, now)
    ids = _insert_runs(batch, successors, now)
    samples = [
        (run, series[subjects.series_key(run, metric)], metric)
        for run in batch.documents
        for metric in run.metrics
    ]
    insert_rows(Measurement, [_measured(ids[run.uuid], pk, metric) for run, pk, metric in samples])
    insert_rows(RunHistograms, [row for run in batch.documents for row in _histograms(ids, run)])
    note_waiting(batch.documents, ids, batch.identified, now)
    aliased = {ids[run.uuid]: run for run in batch.documents if run.uuid in subjects.aliased}
    note_names({pk: subjects.sent_names_of(run) for pk, run in aliased.items()})
    share_lists(former, successors)
    for run, pk, _ in samples:
        revision = subjects.revision_of(run)
        positions[pk, revision.pk] = revision.position
    refresh_points(positions, {revision: position for (_, revision), position in positions.items()})
    renew_facts(former, reports_of(batch.replaced, subjects, now))
    return note_facts(reports_of(batch.new, subjects, now), history=batch.history)


def _insert_runs(batch: Batch, successors: dict[UUID, int], now: datetime) -> dict[UUID, int]:
    """The ids of all runs by their UUIDs; ``successors`` are those of the replacing ones."""
    identified = batch.identified
    rows = [
        _row(batch, run, now, history=batch.history) | withdrawal_of(run, identified, now)
        for run in batch.new
    ]
    ids = dict(insert_rows(Run, rows, returning=("uuid", "id"))) | successors
    rows = [
        _row(batch, run, now, history=batch.history or old.history)
        | _withdrawal(old)
        | (withdrawal_of(run, identified, now) if _counts(old) else {})
        | {"id": successors[run.uuid]}
        for run, old in zip(batch.replaced, batch.former, strict=True)
    ]
    insert_rows(Run, rows)
    return ids


def _measured(run: int, series: int, metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement."""
    return {
        "run_id": run,
        "series_id": series,
        "samples": metric.samples,
        "boots": metric.boots,
        **marked(metric),
    }


def _histograms(ids: dict[UUID, int], run: RunDocument) -> Iterator[dict[str, Any]]:
    for one in run.histograms:
        data = f"\\x{one.stored().hex()}"
        yield {"run_id": ids[run.uuid], "name": one.name, "boots": one.boots, "data": data}


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


def _row(batch: Batch, run: RunDocument, now: datetime, *, history: bool) -> dict[str, Any]:
    """The columns of a new run."""
    subjects = batch.subjects
    names = subjects.names_of(run)
    return {
        "uuid": run.uuid,
        "agent_id": batch.agent.pk,
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
        "warnings": [*run.warnings, *run.remarks],
    }
