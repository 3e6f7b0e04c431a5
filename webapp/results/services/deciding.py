"""An operator decides where a revision belongs, and what a metric means."""

from django.db import transaction
from django.db.models import Q

from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Metric, PlaceProposal, Revision
from webapp.results.models.history import WAITING_FROM
from webapp.results.services.aliases import file_by_names
from webapp.results.services.locks import begin_reshaping, lock_series_ids
from webapp.results.services.named_rows import forget_names
from webapp.results.services.points import mark_dirty
from webapp.results.services.renumbering import Move, lock_series_of, move_revisions


@transaction.atomic
def place_revision(*, revision: Revision, position: int | None = None) -> int:
    """Decide the place of ``revision``: ``position``, else the one it has or that was first
    proposed. Its runs are pooled there and analysed.

    Raises:
        Unprocessable: it is another's, no place at all, or none was proposed.
    """
    begin_reshaping()
    revision.refresh_from_db()
    place = _proposed(revision) if position is None else position
    _refuse_no_place(revision, place)
    if place != revision.position:
        lock_series_of(revision.tree)
        move_revisions(tree=revision.tree, moves=[Move(revision.pk, revision.position, place)])
        file_by_names(revision.runs.values_list("pk", flat=True))
    Revision.objects.filter(pk=revision.pk).update(decided=True, is_estimated=False)
    return place


@transaction.atomic
def displace_revision(*, revision: Revision) -> None:
    """Take ``revision`` off a place that it has on the word of an upload: it waits for another, and
    its runs leave the points.

    Raises:
        Unprocessable: its place is told by its id, by history or an operator, or estimated.
    """
    begin_reshaping()
    revision.refresh_from_db()
    if revision.is_waiting:
        return
    if revision.is_settled or revision.is_estimated:
        message = (
            f"{revision} is where its id, history, an operator or an estimate put it; give it "
            "another place"
        )
        raise Unprocessable([Problem("position", message)])
    lock_series_of(revision.tree)
    away = WAITING_FROM + revision.pk
    if revision.proposed_by is not None:
        PlaceProposal.objects.get_or_create(
            revision=revision, agent=revision.proposed_by, position=revision.position
        )
    move_revisions(tree=revision.tree, moves=[Move(revision.pk, revision.position, away)])
    file_by_names(revision.runs.values_list("pk", flat=True))


@transaction.atomic
def change_metric(*, metric: Metric, unit: str, better: str) -> None:
    """Decide unit and direction; the stored numbers stay as they are, and every series of the
    metric is analysed anew. What options cost in it has the same direction.

    Raises:
        Unprocessable: it is what an option costs in another metric.
    """
    if metric.is_cost:
        message = f"{metric} follows from {metric.of}: change that metric instead"
        raise Unprocessable([Problem("better", message)])
    begin_reshaping()
    Metric.objects.filter(pk=metric.pk).update(unit=unit, better=better)
    Metric.objects.filter(of=metric.pk).update(better=better)
    series = lock_series_ids(metric__in=Metric.objects.filter(Q(pk=metric.pk) | Q(of=metric.pk)))
    if series:
        mark_dirty(dict.fromkeys(series, 0))
    transaction.on_commit(forget_names)


def _proposed(revision: Revision) -> int:
    if not revision.is_waiting:
        return revision.position
    first = revision.proposals.order_by("pk").first()
    if first is None:
        raise Unprocessable([Problem("position", f"nobody proposed a place for {revision}")])
    return first.position


def _refuse_no_place(revision: Revision, place: int) -> None:
    if not 0 <= place < WAITING_FROM:
        raise Unprocessable([Problem("position", f"{place} is no place; give a number from 0 on")])
    others = Revision.objects.filter(tree=revision.tree_id, position=place).exclude(pk=revision.pk)
    if (holder := others.first()) is not None:
        message = (
            f"{place} is the place of {holder}; merge the two if they are one commit, or give "
            f"{holder} another place first"
        )
        raise Unprocessable([Problem("position", message)])
