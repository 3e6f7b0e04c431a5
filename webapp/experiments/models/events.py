"""The log of an experiment: who did what, and notes."""

from django.db import models

from webapp.accounts.models import User
from webapp.experiments.models.experiments import Experiment


class ExperimentEvent(models.Model):
    """One line of the log; without an ``actor`` an agent did it."""

    class Kind(models.TextChoices):
        """What happened."""

        KEPT = "kept", "kept from a comparison"
        IMPORTED = "imported", "imported from a directory"
        NOTE = "note", "note"
        MARGIN = "margin", "margin changed"
        BASELINE = "baseline", "baseline changed"
        CONCLUDED = "concluded", "concluded"
        GIVEN_UP = "given up", "given up"

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.TextField(blank=True)
    actor = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.experiment}"
