"""What people decided of runs that disagree."""

from typing import Any

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User


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
