"""Workers: the running instances of agents that ask for jobs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import models

from webapp.jobs.capability import Capability
from webapp.labs.models import Agent
from webapp.results.models import Revision

SILENT_AFTER = timedelta(minutes=5)
"""A worker polls at least every minute, and sends heartbeats while it measures."""


class WorkerQuerySet(models.QuerySet["Worker"]):
    """Workers by when they reported last."""

    def heard_since(self, moment: datetime) -> Self:
        """Workers that reported at ``moment`` or later."""
        return self.filter(last_seen_at__gte=moment)

    def alive(self, now: datetime) -> Self:
        """Workers that reported lately and take new jobs."""
        return self.heard_since(now - SILENT_AFTER).filter(draining=False)

    def with_agents(self) -> Self:
        """With their agents and labs."""
        return self.select_related("agent__lab")


class Worker(models.Model):
    """One instance of an agent, under the name that it gives itself: ``host:pid``, ``rig-2``.

    ``serves`` is what it said at its last poll, as `webapp.jobs.capability` writes it.
    ``last_revision`` is what it measured last, whose build it may still have.
    """

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="workers", db_index=False
    )  # worker_once_of_an_agent begins with it
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=50, blank=True)
    serves: Any = models.JSONField(default=list, blank=True)
    draining = models.BooleanField(default=False, help_text="Takes no new job.")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    last_revision = models.ForeignKey(
        Revision, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["agent", "name"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "name"], name="worker_once_of_an_agent")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def capabilities(self) -> Sequence[Capability]:
        """What it can measure, as it said at its last poll."""
        return [Capability.of(each) for each in self.serves]

    def is_silent(self, now: datetime) -> bool:
        """Whether it has not spoken for ``SILENT_AFTER``."""
        return self.last_seen_at < now - SILENT_AFTER
