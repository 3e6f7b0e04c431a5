"""A person decides that runs which disagree count together, and takes that back."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Point, PoolingDecision, Revision, Run
from webapp.results.services.locks import begin_writing, lock_series_ids
from webapp.results.services.points import mark_dirty


@transaction.atomic
def count_together(*, revision: Revision, key: str, by: User) -> PoolingDecision:
    """Have the runs of ``key`` (``Point.uploads``) count together in every metric they share; what
    rests on their points is analysed anew. Idempotent.

    Raises:
        Unprocessable: no point holds exactly these runs any more, so there is nothing to decide.
    """
    begin_writing()
    points = _lock_points([revision.pk], key)
    waiting = [point for point in points if point.disagrees]
    if not waiting:
        decided = PoolingDecision.objects.in_force().filter(key=key).first()
        if decided is None:
            raise Unprocessable([Problem("runs", GONE)])
        return decided
    decided = PoolingDecision.objects.create(
        key=key,
        runs=[run["name"] for run in waiting[0].uploads["runs"]],
        decided_by=by,
        decided_at=timezone.now(),
    )
    _judge_again(points)
    return decided


@transaction.atomic
def undo_pooling_decision(*, decision: int, by: User) -> PoolingDecision:
    """Take a decision back: the runs are judged as if nobody had decided. Idempotent.

    Raises:
        Unprocessable: there is no such decision.
    """
    begin_writing()
    row = PoolingDecision.objects.filter(pk=decision).first()
    if row is None:
        raise Unprocessable([Problem("decision", "there is no such decision")])
    measured = Run.objects.filter(uuid__in=row.runs).values_list("revision_id", flat=True)
    points = _lock_points(sorted(set(measured)), row.key)
    changed = PoolingDecision.objects.in_force().filter(pk=decision)
    if changed.update(undone_at=timezone.now(), undone_by=by):
        _judge_again(points)
    row.refresh_from_db()
    return row


GONE = (
    "these runs no longer wait for a decision: another was uploaded, one was withdrawn, or the "
    "series scatters more than it did; look at the page again"
)


def _lock_points(revisions: Sequence[int], key: str) -> Sequence[Point]:
    """The points of exactly these runs, read after their series are locked."""
    points = Point.objects.filter(revision__in=revisions, uploads__key=key)
    locked = lock_series_ids(pk__in=list(points.values_list("series_id", flat=True)))
    return list(points.filter(series__in=locked))


def _judge_again(points: Sequence[Point]) -> None:
    if points:
        mark_dirty({point.series_id: point.position for point in points})
