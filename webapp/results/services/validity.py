"""Marks of samples as they are stored, and the decision of a person about them.

Which samples a mark leaves out is ``webapp.results.validity``. Marks are no part of what makes a
run the same run: an archive that is sent again by an agent that looks for more gets them then.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Measurement, SampleDecision
from webapp.results.services.locks import begin_writing
from webapp.results.services.refiling import lock_series_of_runs, points_at, renew
from webapp.results.validity import left_out

BY_MARK = "by_mark"
CHOICES = (*SampleDecision.Choice.values, BY_MARK)
GONE = "no sample of this run is marked in that metric, so there is nothing to decide"


def marked(metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement that say what may be wrong with it."""
    return {
        "validity": [asdict(mark) for mark in metric.marks] or None,
        "left_out": left_out(metric.marks, len(metric.samples)),
    }


def adopt_marks(runs: Iterable[RunDocument], lab: Lab) -> None:
    """Keep the marks of stored ``runs`` that had none; those of hardware of ``lab``. The points of
    the runs are pooled anew where a sample leaves them.
    """
    sent = {(run.uuid, one.name): one for run in runs for one in run.metrics if one.marks}
    if not sent:
        return
    uuids = {uuid for uuid, _ in sent}
    found = Measurement.objects.filter(
        run__uuid__in=uuids,
        run__superseded_by__isnull=True,
        run__hardware__lab=lab,
        validity__isnull=True,
    )
    _lock(found)
    changed = []
    for row in found.select_related("run", "series__metric"):
        metric = sent.get((row.run.uuid, row.series.metric.name))
        if metric is not None and metric.samples == row.samples:
            columns = marked(metric)
            row.validity, row.left_out = columns["validity"], columns["left_out"]
            changed.append(row)
    Measurement.objects.bulk_update(changed, ["validity", "left_out"])
    _pool_again([row for row in changed if row.left_out])


@transaction.atomic
def decide_samples(
    *,
    runs: Collection[UUID],
    choice: str,
    by: User | None,
    metric: str = "",
    rule: str = "",
) -> int:
    """Have the marked samples of ``runs`` count (``count``), not count (``leave_out``), or as their
    marks say (``by_mark``, which takes decisions back), in ``metric`` or in all; how many
    measurements that is about. What rests on them is analysed anew.

    ``rule`` names who decided where that is no person. A decision takes the place of the one
    before, which stays on record. Idempotent.

    Raises:
        Unprocessable: an unknown choice, or a run none of whose samples is marked.
    """
    if choice not in CHOICES:
        known = " or ".join(CHOICES)
        raise Unprocessable([Problem("choice", f"{choice!r} is no choice; say {known}")])
    begin_writing()
    rows = _marked_of(runs, metric)
    standing = SampleDecision.objects.in_force().filter(measurement__in=rows)
    former = dict(standing.values_list("measurement", "choice"))
    new = [row for row in rows if former.get(row.pk, BY_MARK) != choice]
    _replace_decisions(new, choice, by=by, rule=rule[:300])
    _apply(new, choice)
    return len(rows)


def _marked_of(runs: Collection[UUID], metric: str) -> list[Measurement]:
    """What of ``runs`` has marked samples, in ``metric`` or in all; locked."""
    found = Measurement.objects.marked().filter(run__uuid__in=list(runs))
    if metric:
        found = found.filter(series__metric__name=metric)
    _lock(found)
    rows = list(found.select_related("run").order_by("pk"))
    missing = set(runs) - {row.run.uuid for row in rows}
    if missing:
        problems = [Problem(f"runs[{i}]", GONE) for i, one in enumerate(runs) if one in missing]
        raise Unprocessable(problems)
    return rows


def _replace_decisions(
    rows: Sequence[Measurement], choice: str, *, by: User | None, rule: str
) -> None:
    """Take back what was decided of ``rows``, and decide ``choice``."""
    now = timezone.now()
    SampleDecision.objects.in_force().filter(measurement__in=rows).update(
        undone_at=now, undone_by=by, undone_rule=rule
    )
    if choice != BY_MARK:
        SampleDecision.objects.bulk_create(
            SampleDecision(measurement=row, choice=choice, decided_by=by, rule=rule, decided_at=now)
            for row in rows
        )


@transaction.atomic
def undo_sample_decision(*, decision: int, by: User) -> SampleDecision:
    """Take a decision back: the marks alone say which samples count. Idempotent.

    Raises:
        Unprocessable: there is no such decision.
    """
    begin_writing()
    row = SampleDecision.objects.filter(pk=decision).first()
    if row is None:
        raise Unprocessable([Problem("decision", "there is no such decision")])
    found = Measurement.objects.filter(pk=row.measurement_id)
    _lock(found)
    changed = SampleDecision.objects.in_force().filter(pk=decision)
    if changed.update(undone_at=timezone.now(), undone_by=by):
        _apply(list(found), BY_MARK)
    row.refresh_from_db()
    return row


def _lock(found: Any) -> None:
    lock_series_of_runs(sorted(set(found.values_list("run_id", flat=True))))


def _apply(rows: Sequence[Measurement], choice: str) -> None:
    changed = []
    for row in rows:
        excluded = left_out(row.marks, len(row.samples), choice)
        if excluded != row.left_out:
            row.left_out = excluded
            changed.append(row)
    Measurement.objects.bulk_update(changed, ["left_out"])
    _pool_again(changed)


def _pool_again(rows: Sequence[Measurement]) -> None:
    if not rows:
        return
    series = {row.series_id for row in rows}
    points = points_at({row.run_id for row in rows})
    renew({key: position for key, position in points.items() if key[0] in series})
