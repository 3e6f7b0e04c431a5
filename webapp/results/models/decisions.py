"""What was decided of marked samples, and of runs that disagree."""

from collections.abc import Iterable
from typing import Any

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


class PoolingDecisionQuerySet(models.QuerySet["PoolingDecision"]):
    """Decisions, and which of them are in force."""

    def in_force(self) -> "PoolingDecisionQuerySet":
        """Those that nobody took back."""
        return self.filter(undone_at__isnull=True)


class PoolingDecision(models.Model):
    """Somebody decided that these runs of one revision count together, though they disagree.

    ``key`` is of their UUIDs and contents: it holds for this set of runs and no other. A row is
    never deleted; one that was taken back says by whom and when.
    """

    key = models.CharField(max_length=32)
    runs: Any = models.JSONField(help_text="The UUIDs of the runs.")
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    decided_at = models.DateTimeField()
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = PoolingDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(undone_at__isnull=True),
                name="pooling_decided_once_of_the_same_runs",
            ),
            models.CheckConstraint(
                condition=Q(undone_at__isnull=True, undone_by__isnull=True)
                | Q(undone_at__isnull=False, undone_by__isnull=False),
                name="pooling_decision_undone_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{len(self.runs)} runs count together"
