"""Series that an event which begins an epoch covers: their statistics start anew there."""

from django.db.models import Q

from webapp.events.models import LabEvent
from webapp.queueing import Task, queue_on_commit
from webapp.results.models import Series
from webapp.results.services import mark_dirty


def analyse_covered(event: LabEvent) -> None:
    """Have the series that the epoch of ``event`` covers analysed anew, whole; none where it begins
    no epoch. The caller has begun writing.
    """
    if not event.begins_epoch:
        return
    found = Series.objects.plain().filter(_covered(event)).order_by("pk")
    ids = list(found.select_for_update(of=["self"], no_key=True).values_list("pk", flat=True))
    if ids:
        mark_dirty(dict.fromkeys(ids, 0))
        queue_on_commit(Task.ANALYSE)


def _covered(event: LabEvent) -> Q:
    covered = Q()
    if event.tree_id is not None:
        covered &= Q(tree=event.tree_id)
    if event.hardware_id is not None:
        covered &= Q(hardware=event.hardware_id)
    if event.lab_id is not None:
        covered &= Q(hardware__lab=event.lab_id)
    return covered
