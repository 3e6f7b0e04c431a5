"""Whether an alert smells of the lab rather than of a commit.

Many series that change on one hardware alone may mean that the machine changed, not the kernel. It
is said only where there is a witness: the same mode and metric on other hardware, measured on both
sides, that did not move although it would have shown a change of that size. Without a witness a
commit that matters to that hardware only looks the same, so nothing is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from webapp.regressions.models import Alert, Finding, SeriesAnalysis
from webapp.results.models import Hardware, Point, Series

MANY = 3
"""Series from which on a change of one hardware is no longer one workload's matter."""


@dataclass(frozen=True, slots=True)
class LabHint:
    """All findings are on ``hardware``; ``witnesses`` are other hardware's series that stayed."""

    hardware: Hardware
    witnesses: Sequence[Series]


def lab_hint(alert: Alert, findings: Sequence[Finding]) -> LabHint | None:
    """The hint about an alert and all its ``findings`` (with subjects), in two queries at most."""
    machines = {row.series.hardware for row in findings}
    if len(machines) != 1 or len({row.series_id for row in findings}) < MANY:
        return None
    machine = machines.pop()
    sizes = {
        (row.series.mode_id, row.series.metric_id): abs(row.change_pct)
        for row in findings
        if row.change_pct is not None
    }
    stayed = list(_stayed(alert, machine))
    smallest = _smallest(stayed)
    witnesses = [
        row
        for row in stayed
        if smallest.get(row.pk, float("inf")) <= sizes.get((row.mode_id, row.metric_id), 0.0)
    ]
    return LabHint(machine, witnesses) if witnesses else None


def _stayed(alert: Alert, machine: Hardware) -> Sequence[Series]:
    """Series of other hardware with points on both sides and no finding that suspects the same."""
    points = Point.objects.filter(series=OuterRef("pk"))
    moved = Finding.objects.live().filter(
        series=OuterRef("pk"),
        after__position__lt=alert.revision.position,
        last__position__gt=alert.after.position,
    )
    return list(
        Series.objects.named()
        .filter(
            ~Exists(moved),
            Exists(points.filter(position__lte=alert.after.position)),
            Exists(points.filter(position__gte=alert.revision.position)),
            tree=alert.tree_id,
        )
        .exclude(hardware=machine)
        .order_by("hardware__name", "mode__name")
    )


def _smallest(series: Sequence[Series]) -> dict[int, float]:
    """The smallest change that the history of each could prove, in percent, where it is known."""
    rows = SeriesAnalysis.objects.filter(series__in=series).values_list("series_id", "summary")
    found = {pk: (summary.get("smallest") or {}).get("pct") for pk, summary in rows}
    return {pk: percent for pk, percent in found.items() if percent is not None}
