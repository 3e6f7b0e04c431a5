"""What was refused and is to be known: attempts on another lab's runs."""

from django.db import models

from webapp.labs.models import Agent
from webapp.results.models.runs import Run


class RefusedReplacement(models.Model):
    """An agent sent other content for a run of another lab. Nothing was changed.

    One row for an agent and a run, so that a loop of attempts adds none.
    """

    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="refused_replacements", db_index=False
    )  # refused_replacement_once begins with it
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="refused_replacements", db_index=False
    )  # refused_replacements_lately begins with it
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-last_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "agent"], name="refused_replacement_once")
        ]
        indexes = [models.Index(fields=["agent", "-last_at"], name="refused_replacements_lately")]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.run_id}"
