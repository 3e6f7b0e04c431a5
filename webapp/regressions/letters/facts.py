"""Read what a mail about an alert tells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Q

from webapp.regressions.compare import SideError, compare_sides
from webapp.regressions.links import sides_of
from webapp.regressions.models import Alert, AlertEvent, Comparison, Finding
from webapp.regressions.verdicts import PointVerdict, judge_points
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
    ``suspects`` in order as far as known here, the ``earlier`` ones of which are only counted, and
    ``block``: what ministat prints for the worst.
    """

    alert: Alert
    findings: Sequence[Finding]
    others: Sequence[Other]
    suspects: Sequence[Revision]
    earlier: int = 0
    earlier_in_step: int = 0
    block: str = ""

    @property
    def worst(self) -> Finding | None:
        """The finding that stands for the alert: of those that name its commit, the weightiest."""
        naming = (row for row in self.findings if row.revision_id == self.alert.likeliest_id)
        return next(naming, self.findings[0] if self.findings else None)

    @property
    def step(self) -> tuple[int, int]:
        """The step between two measured revisions: the position after which, and up to which."""
        if self.worst is None:
            return self.alert.after.position, self.alert.revision.position
        return self.worst.previous.position, self.worst.revision.position

    @property
    def in_step(self) -> int:
        """How many of the suspects share that step."""
        low, high = self.step
        return self.earlier_in_step + sum(low < one.position <= high for one in self.suspects)


def gather(number: int) -> AlertFacts:
    """Everything about alert ``number``, in a fixed number of queries.

    Raises Alert.DoesNotExist.
    """
    alert = Alert.objects.with_revisions().get(pk=number)
    findings = _findings(alert)
    facts = AlertFacts(alert, findings, _others(alert, findings), _suspects(alert))
    block = ministat_block(facts.worst) if facts.worst else ""
    earlier, in_step = _earlier(facts)
    return replace(facts, block=block, earlier=earlier, earlier_in_step=in_step)


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
    held = Finding.objects.of_alerts([alert]).with_subjects().with_revisions()
    return list(held) or _that_left(alert)


def _that_left(alert: Alert) -> list[Finding]:
    """The findings that a retracted alert lost last."""
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    gone = Finding.objects.filter(pk__in=left.findings if left else [])
    return list(gone.with_subjects().with_revisions().order_by("pk"))


def _others(alert: Alert, findings: Sequence[Finding]) -> list[Other]:
    told = {row.series_id for row in findings}
    comparisons = {
        row.series_id: row
        for row in Comparison.objects.filter(revision=alert.likeliest_id)
        if row.series_id not in told
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


def _earlier(facts: AlertFacts) -> tuple[int, int]:
    """How many suspects there are before those that were read, and how many of them in the step."""
    if len(facts.suspects) <= SUSPECTS_READ:
        return 0, 0
    alert, (low, high) = facts.alert, facts.step
    first = facts.suspects[0].position
    before = Revision.objects.between(alert.after, alert.revision).filter(position__lt=first)
    is_in_step = Q(position__gt=low, position__lte=high)
    found = before.aggregate(all=Count("pk"), in_step=Count("pk", filter=is_in_step))
    return found["all"], found["in_step"]


def _suspects(alert: Alert) -> list[Revision]:
    """As many as are read, the last ones, in order."""
    between = Revision.objects.between(alert.after, alert.revision).order_by("-position")
    suspects = [*reversed(between[:SUSPECTS_READ]), alert.revision]
    for revision in suspects:
        revision.tree = alert.tree
    return suspects
