"""What is known about an alert's commit beside its findings."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import candidates_beside
from webapp.analysis.models import Comparison, Finding
from webapp.analysis.queries import PointVerdict, judge_points
from webapp.results.models import Point, Series
from webapp.stats.compare import headline_of


@dataclass(frozen=True, slots=True)
class Unmoved:
    """A series that was measured at the commit and holds no finding there, with its verdict."""

    series: Series
    judged: PointVerdict


@dataclass(frozen=True, slots=True)
class Beside:
    """``candidates`` suspect a commit that the alert suspects and are not confirmed yet;
    ``unmoved`` are in the order of their verdicts, then of their names.
    """

    candidates: Sequence[Finding]
    unmoved: Sequence[Unmoved]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many of the unmoved there are by verdict, as far as they pass the gate together."""
        together = headline_of([one.judged.look for one in self.unmoved])
        return [(str(verdict), count) for verdict, count in together.counts.items()]


ORDER = ("worse", "better", "equivalent", "cannot tell")


def beside(alert: Alert, findings: Collection[Finding]) -> Beside:
    """What stands beside the ``findings`` of an alert: six queries, however many series."""
    suspecting = candidates_beside(alert)
    candidates = list(suspecting.with_revisions().with_subjects())
    moved = {row.series_id for row in (*findings, *candidates)}
    return Beside(candidates, _unmoved(alert, moved))


def _unmoved(alert: Alert, moved: Collection[int]) -> list[Unmoved]:
    """The series measured at the likeliest commit and before it, but for those that ``moved``."""
    measured = Point.objects.of_revision(alert.likeliest).plain().with_subjects()
    points = {row.series_id: row for row in measured.exclude(series__in=moved)}
    compared = Comparison.objects.of_revision(alert.likeliest).exclude(series__in=moved)
    judged = judge_points(points.values(), compared)
    rows = [Unmoved(points[pk].series, one) for pk, one in judged.items()]
    return sorted(rows, key=_rank)


def _rank(one: Unmoved) -> tuple[int, str, str, str]:
    series = one.series
    names = (str(series.hardware), str(series.mode), series.metric.name)
    return ORDER.index(one.judged.verdict), *names
