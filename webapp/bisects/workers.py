"""Which workers can measure for a bisect."""

from collections.abc import Sequence
from datetime import datetime

from webapp.bisects.models import Bisect
from webapp.bisects.question import Scope
from webapp.jobs.models import Worker
from webapp.jobs.queries import Capability
from webapp.results.models import Series


def workers_for(series: Series, now: datetime) -> list[Capability]:
    """What each worker that spoke lately can do for the hardware, mode and tree of a series."""
    return [serves for serves in offers(now) if serves.covers(series)]


def hands_of(scopes: Sequence[Scope], now: datetime) -> list[tuple[Scope, int]]:
    """How many workers can measure each machine and mode, in one query."""
    offered = offers(now)
    return [(scope, sum(serves.covers(scope.series) for serves in offered)) for scope in scopes]


def agents_for(bisect: Bisect, now: datetime) -> int:
    """How many workers can measure for a bisect, on whatever machine."""
    of_machine: dict[int, int] = {}
    for scope, count in hands_of(bisect.scopes, now):
        machine = scope.series.hardware_id
        of_machine[machine] = max(of_machine.get(machine, 0), count)
    return sum(of_machine.values())


def offers(now: datetime) -> list[Capability]:
    """What the workers that spoke lately can do, in one query."""
    return [serves for worker in Worker.objects.alive(now) for serves in worker.capabilities]
