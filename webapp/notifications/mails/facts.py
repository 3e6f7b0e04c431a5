"""Read what a mail about an alert tells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import (
    Suspicion,
    findings_of,
    lab_hint,
    left_out_beside,
    suspicion_of,
)
from webapp.analysis.models import Comparison, Finding
from webapp.analysis.queries import PointVerdict, SideError, compare_sides, judge_points, sides_of
from webapp.results.models import Point, Revision

SUSPECTS_READ = 100
TOO_FEW = "A side has fewer than 3 samples: ministat refuses it."


@dataclass(frozen=True, slots=True)
class Other:
    """A series measured on both sides of the commit that no finding of the alert is about."""

    point: Point
    comparison: Comparison
    judged: PointVerdict

    @property
    def before(self) -> float:
        """The mean at the revision before, in the metric's unit."""
        return self.point.mean - self.comparison.delta


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """An alert, its ``findings`` (the weightiest first; of a retracted one those that left), the
    ``suspects`` in order as far as known here, the ``earlier`` ones of which are only counted, the
    ``suspicion`` among which of them it began, and ``block``: what ministat prints for the worst.
    ``left_out`` are the points beside the findings that lack samples of their runs, and ``lab``
    what speaks for a change of the machine, or against.
    """

    alert: Alert
    findings: Sequence[Finding]
    others: Sequence[Other]
    suspects: Sequence[Revision]
    suspicion: Suspicion
    left_out: Sequence[Point] = ()
    earlier: int = 0
    block: str = ""
    lab: Sequence[str] = ()

    @property
    def worst(self) -> Finding | None:
        """The finding that stands for the alert: of those that name its commit, the weightiest."""
        naming = (row for row in self.findings if row.revision_id == self.alert.likeliest_id)
        return next(naming, self.findings[0] if self.findings else None)


def gather(number: int) -> AlertFacts:
    """Everything about alert ``number``, in a fixed number of queries.

    Raises Alert.DoesNotExist.
    """
    alert = Alert.objects.with_revisions().get(pk=number)
    findings = _findings(alert)
    others, suspects = _others(alert, findings), _suspects(alert)
    left_out = left_out_beside(findings)
    facts = AlertFacts(alert, findings, others, suspects, suspicion_of(alert), left_out)
    block = ministat_block(facts.worst) if facts.worst else ""
    hint = lab_hint(alert, findings)
    lab = hint.sentences if hint else ()
    return replace(facts, block=block, earlier=_earlier(facts), lab=lab)


def ministat_block(finding: Finding) -> str:
    """What ministat prints for the two points around ``finding``, or why it prints nothing."""
    try:
        rows = compare_sides(sides_of(finding)).rows
    except SideError as error:
        return f"No samples to show: {error}."
    if not rows:
        return "No samples to show: they were withdrawn."
    return rows[0].ministat_text().rstrip("\n") if rows[0].can_render else TOO_FEW


def _findings(alert: Alert) -> list[Finding]:
    members = findings_of([alert]).with_subjects().with_revisions().with_today()
    return list(members) or _that_left(alert)


def _that_left(alert: Alert) -> list[Finding]:
    """The findings that a retracted alert lost last."""
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    gone = Finding.all_kinds.filter(pk__in=left.findings if left else [])
    return list(gone.with_subjects().with_revisions().order_by("pk"))


def _others(alert: Alert, findings: Sequence[Finding]) -> list[Other]:
    covered = {row.series_id for row in findings}
    comparisons = {
        row.series_id: row
        for row in Comparison.objects.filter(revision=alert.likeliest_id)
        if row.series_id not in covered
    }
    points = Point.objects.filter(revision=alert.likeliest_id, series__in=comparisons)
    parts = ("series__hardware__lab", "series__mode", "series__metric")
    found = list(points.select_related(*parts).order_by("series__hardware__name", "series"))
    judged = judge_points(found, comparisons.values())
    return [
        Other(point, comparisons[point.series_id], judged[point.series_id])
        for point in found
        if point.series_id in judged
    ]


def _earlier(facts: AlertFacts) -> int:
    """How many suspects there are before those that were read."""
    if len(facts.suspects) <= SUSPECTS_READ:
        return 0
    return Revision.objects.between(facts.alert.after, facts.suspects[0]).count()


def _suspects(alert: Alert) -> list[Revision]:
    """As many as are read, the last ones, in order."""
    between = Revision.objects.between(alert.after, alert.revision).order_by("-position")
    suspects = [*reversed(between[:SUSPECTS_READ]), alert.revision]
    for revision in suspects:
        revision.tree = alert.tree
    return suspects
