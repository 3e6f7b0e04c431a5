"""What persons and agents decide about stored runs: marked samples that count or do not, runs that
are withdrawn and stay visible with the reason, and runs that disagree and are counted together.

Which samples a mark leaves out is ``webapp.results.validity``.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.results import models
from webapp.results.documents import Problem, Unprocessable
from webapp.results.services.database import begin_writing, lock_series_ids
from webapp.results.services.points import mark_dirty, refresh_points, renew
from webapp.results.services.refiling import lock_series_of_runs, points_at
from webapp.results.validity import left_out

BY_MARK = "by_mark"
CHOICES = (*models.SampleDecision.Choice.values, BY_MARK)
GONE = "no sample of this run is marked in that metric, so there is nothing to decide"
CHANGED = (
    "these runs no longer wait for a decision: another was uploaded, one was withdrawn, or the "
    "series scatters more than it did; look at the page again"
)


@transaction.atomic
def decide_samples(
    *, runs: Collection[UUID], choice: str, by: User | None, metric: str = "", rule: str = ""
) -> int:
    """Have the marked samples of ``runs`` count (``count``), not count (``leave_out``), or as their
    marks say (``by_mark``, which takes decisions back), in ``metric`` or in all; how many
    measurements that is about. What rests on them is analysed anew.

    ``rule`` names who decided where that is no person. A decision takes the place of the one
    before, which stays on record. Idempotent. Raises Unprocessable: an unknown choice, or a run
    none of whose samples is marked.
    """
    if choice not in CHOICES:
        known = " or ".join(CHOICES)
        raise Unprocessable([Problem("choice", f"{choice!r} is no choice; say {known}")])
    begin_writing()
    rows = _marked_of(runs, metric)
    standing = models.SampleDecision.objects.in_force().filter(measurement__in=rows)
    former = dict(standing.values_list("measurement", "choice"))
    new = [row for row in rows if former.get(row.pk, BY_MARK) != choice]
    _replace_decisions(new, choice, by=by, rule=rule[:300])
    _apply(new, choice)
    return len(rows)


@transaction.atomic
def undo_sample_decision(*, decision: int, by: User) -> models.SampleDecision:
    """Take a decision back: the marks alone say which samples count. Idempotent. Raises
    Unprocessable: there is no such decision.
    """
    begin_writing()
    row = models.SampleDecision.objects.filter(pk=decision).first()
    if row is None:
        raise Unprocessable([Problem("decision", "there is no such decision")])
    found = models.Measurement.objects.filter(pk=row.measurement_id)
    lock_measurements(found)
    changed = models.SampleDecision.objects.in_force().filter(pk=decision)
    if changed.update(undone_at=timezone.now(), undone_by=by):
        _apply(list(found), BY_MARK)
    row.refresh_from_db()
    return row


@transaction.atomic
def withdraw_run(*, run: models.Run, by: User | None, reason: str) -> None:
    """Withdraw ``run``: its samples leave the points, and its series are analysed anew. Raises
    Unprocessable: no reason is given.
    """
    if not reason.strip():
        raise Unprocessable([Problem("reason", "say why the run is withdrawn")])
    begin_writing()
    changed = models.Run.objects.counted().filter(pk=run.pk)
    if changed.update(
        withdrawn_at=timezone.now(), withdrawn_by=by, withdrawn_reason=reason.strip()
    ):
        _pool_run_again(run)


@transaction.atomic
def restore_run(*, run: models.Run) -> None:
    """Take a withdrawal back. Raises Unprocessable: another run of its UUID took its place, and
    both would count; or it waits for the decision which commit it measured.
    """
    begin_writing()
    _refuse_superseded(run)
    _refuse_undecided(run)
    # Superseded meanwhile: it stays withdrawn.
    withdrawn = models.Run.objects.current().filter(pk=run.pk, withdrawn_at__isnull=False)
    if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason=""):
        _pool_run_again(run)


@transaction.atomic
def count_together(*, revision: models.Revision, key: str, by: User) -> models.PoolingDecision:
    """Have the runs of ``key`` (``Point.uploads``) count together in every metric they share; what
    rests on their points is analysed anew. Idempotent. Raises Unprocessable: no point holds exactly
    these runs any more, so there is nothing to decide.
    """
    begin_writing()
    points = _lock_points([revision.pk], key)
    waiting = [point for point in points if point.disagrees]
    if not waiting:
        decided = models.PoolingDecision.objects.in_force().filter(key=key).first()
        if decided is None:
            raise Unprocessable([Problem("runs", CHANGED)])
        return decided
    decided = models.PoolingDecision.objects.create(
        key=key,
        runs=[run["name"] for run in waiting[0].uploads["runs"]],
        decided_by=by,
        decided_at=timezone.now(),
    )
    _judge_again(points)
    return decided


@transaction.atomic
def undo_pooling_decision(*, decision: int, by: User) -> models.PoolingDecision:
    """Take a decision back: the runs are judged as if nobody had decided. Idempotent. Raises
    Unprocessable: there is no such decision.
    """
    begin_writing()
    row = models.PoolingDecision.objects.filter(pk=decision).first()
    if row is None:
        raise Unprocessable([Problem("decision", "there is no such decision")])
    measured = models.Run.objects.filter(uuid__in=row.runs).values_list("revision_id", flat=True)
    points = _lock_points(sorted(set(measured)), row.key)
    changed = models.PoolingDecision.objects.in_force().filter(pk=decision)
    if changed.update(undone_at=timezone.now(), undone_by=by):
        _judge_again(points)
    row.refresh_from_db()
    return row


def _marked_of(runs: Collection[UUID], metric: str) -> list[models.Measurement]:
    """What of ``runs`` has marked samples, in ``metric`` or in all; locked."""
    found = models.Measurement.objects.marked().filter(run__uuid__in=list(runs))
    if metric:
        found = found.filter(series__metric__name=metric)
    lock_measurements(found)
    rows = list(found.select_related("run").order_by("pk"))
    missing = set(runs) - {row.run.uuid for row in rows}
    if missing:
        problems = [Problem(f"runs[{i}]", GONE) for i, one in enumerate(runs) if one in missing]
        raise Unprocessable(problems)
    return rows


def _replace_decisions(
    rows: Sequence[models.Measurement], choice: str, *, by: User | None, rule: str
) -> None:
    """Take back what was decided of ``rows``, and decide ``choice``."""
    now = timezone.now()
    models.SampleDecision.objects.in_force().filter(measurement__in=rows).update(
        undone_at=now, undone_by=by, undone_rule=rule
    )
    if choice != BY_MARK:
        models.SampleDecision.objects.bulk_create(
            models.SampleDecision(
                measurement=row, choice=choice, decided_by=by, rule=rule, decided_at=now
            )
            for row in rows
        )


def lock_measurements(found: Any) -> None:
    """Lock the series of the runs of ``found``, a queryset of measurements."""
    lock_series_of_runs(sorted(set(found.values_list("run_id", flat=True))))


def _apply(rows: Sequence[models.Measurement], choice: str) -> None:
    changed = []
    for row in rows:
        excluded = left_out(row.marks, len(row.samples), choice)
        if excluded != row.left_out:
            row.left_out = excluded
            changed.append(row)
    models.Measurement.objects.bulk_update(changed, ["left_out"])
    pool_again(changed)


def pool_again(rows: Sequence[models.Measurement]) -> None:
    """Pool the points of ``rows`` anew: other samples of them count than before."""
    if not rows:
        return
    series = {row.series_id for row in rows}
    points = points_at({row.run_id for row in rows})
    renew({key: position for key, position in points.items() if key[0] in series})


def _refuse_superseded(run: models.Run) -> None:
    now = models.Run.objects.select_related("superseded_by__agent__lab").get(pk=run.pk)
    by = now.superseded_by
    if by is not None:
        message = (
            f"run {run.uuid} was replaced by {by.agent} at {by.received_at:%Y-%m-%d %H:%M} UTC and "
            "stays withdrawn; to have its content count again, upload that with `replace`, or "
            "withdraw the run that replaced it"
        )
        raise Unprocessable([Problem("run", message)])


def _refuse_undecided(run: models.Run) -> None:
    if models.WaitingRun.objects.filter(run=run, chosen__isnull=True).exists():
        message = (
            f"which commit run {run.uuid} measured is not decided; choose it at /runs/waiting/, "
            "and it counts there"
        )
        raise Unprocessable([Problem("run", message)])


def _pool_run_again(run: models.Run) -> None:
    """``run`` may have been read before its revision moved, or was merged into another."""
    now = models.Run.objects.select_related("revision").get(pk=run.pk)
    series = list(
        models.Series.objects.filter(measurements__run=run)
        .order_by("pk")
        .select_for_update(of=["self"], no_key=True)
    )
    refresh_points(
        {(row.pk, now.revision_id) for row in series}, {now.revision_id: now.revision.position}
    )


def _lock_points(revisions: Sequence[int], key: str) -> Sequence[models.Point]:
    """The points of exactly these runs, read after their series are locked."""
    points = models.Point.objects.filter(revision__in=revisions, uploads__key=key)
    locked = lock_series_ids(pk__in=list(points.values_list("series_id", flat=True)))
    return list(points.filter(series__in=locked))


def _judge_again(points: Sequence[models.Point]) -> None:
    if points:
        mark_dirty({point.series_id: point.position for point in points})
