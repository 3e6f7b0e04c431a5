"""Canaries with what they measured, as control charts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from webapp.events.models import Canary
from webapp.results.models import Measurement, counted
from webapp.stats.control import ControlChart, Excursion, control_chart

COLUMNS = ("hardware", "mode", "revision")


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot of a canary: when its run was measured (received, where that is not known), the mean
    of its samples, and how many.
    """

    at: datetime
    value: float
    samples: int


@dataclass(frozen=True, slots=True)
class WatchedCanary:
    """A canary with its ``boots`` in the order of time, and what the control chart shows."""

    canary: Canary
    boots: Sequence[Boot]
    chart: ControlChart

    @property
    def excursion(self) -> Excursion | None:
        """That it is outside its limits now; None: it is not."""
        return self.chart.excursions[-1] if self.chart.is_out else None

    @property
    def left_at(self) -> datetime | None:
        """Since when that is seen."""
        return self.boots[self.excursion.left].at if self.excursion else None


def watch(canaries: Sequence[Canary]) -> list[WatchedCanary]:
    """``canaries`` with their charts, in one query.

    A boot is the unit; a run that does not name its boots is one. Withdrawn runs do not count, nor
    do samples that are left out.
    """
    boots = _boots(canaries) if canaries else {}
    found = [(canary, boots.get(_key(canary), [])) for canary in canaries]
    return [
        WatchedCanary(canary, its, control_chart([boot.value for boot in its]))
        for canary, its in found
    ]


Key = tuple[int, int, int, int]


def _key(canary: Canary) -> Key:
    return canary.hardware_id, canary.mode_id, canary.revision_id, canary.metric_id


def _boots(canaries: Sequence[Canary]) -> dict[Key, list[Boot]]:
    wanted = Q()
    for canary in canaries:
        wanted |= Q(
            **{f"run__{name}": getattr(canary, f"{name}_id") for name in COLUMNS},
            series__metric=canary.metric_id,
        )
    rows = (
        Measurement.objects.counted()
        .filter(wanted, run__variant__isnull=True)
        .annotate(at=Coalesce("run__measured_at", "run__received_at"))
        .order_by("at", "run__uuid")
        .values_list(
            *(F(f"run__{name}_id") for name in COLUMNS),
            "series__metric_id",
            "at",
            "samples",
            "boots",
            "left_out",
        )
    )
    found: dict[Key, list[Boot]] = defaultdict(list)
    for *key, at, samples, indices, left_out in rows:
        found[tuple(key)] += _of_run(at, *counted(samples, indices, left_out))
    return found


def _of_run(
    at: datetime, samples: Sequence[float], indices: Sequence[int] | None
) -> Iterator[Boot]:
    by_boot: dict[Any, list[float]] = defaultdict(list)
    for number, value in enumerate(samples):
        by_boot[indices[number] if indices else None].append(value)
    for _, its in sorted(by_boot.items(), key=lambda item: item[0] or 0):
        yield Boot(at, sum(its) / len(its), len(its))
