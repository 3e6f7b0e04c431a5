"""What people decided about marked samples."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.results.models.runs import Measurement


class SampleDecisionQuerySet(models.QuerySet["SampleDecision"]):
    """Decisions, and which of them are in force."""

    def in_force(self) -> "SampleDecisionQuerySet":
        """Those that nobody took back."""
        return self.filter(undone_at__isnull=True)

    def of_all(self, measurements: Iterable[Measurement]) -> "dict[int, SampleDecision]":
        """What is in force, by the measurement (id) it is about."""
        rows = self.in_force().filter(measurement__in=list(measurements))
        return {row.measurement_id: row for row in rows.select_related("decided_by")}


class SampleDecision(models.Model):
    """Somebody decided that the marked samples of a run count in one metric, or that they do not.

    ``rule`` (``undone_rule``) names who decided (took it back) where that was no person. A row is
    never deleted; one that was taken back, or that another decision took the place of, says by whom
    and when.
    """

    class Choice(models.TextChoices):
        """What is to become of the marked samples."""

        COUNT = "count", "count"
        LEAVE_OUT = "leave_out", "leave out"

    measurement = models.ForeignKey(Measurement, on_delete=models.CASCADE, related_name="decisions")
    choice = models.CharField(max_length=9, choices=Choice)
    decided_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    rule = models.CharField(max_length=300, blank=True)
    decided_at = models.DateTimeField()
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    undone_rule = models.CharField(max_length=300, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = SampleDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["measurement"],
                condition=Q(undone_at__isnull=True),
                name="samples_decided_once_of_a_measurement",
            ),
            models.CheckConstraint(
                condition=Q(choice__in=["count", "leave_out"]), name="sample_decision_known"
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=False) | ~Q(rule=""),
                name="sample_decided_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_choice_display()} the marked samples of {self.measurement}"

    @property
    def who(self) -> str:
        """Who decided."""
        return str(self.decided_by or self.rule)
