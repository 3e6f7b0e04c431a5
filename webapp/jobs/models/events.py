"""The log of a job."""

from typing import Any

from django.db import models

from webapp.accounts.models import User
from webapp.jobs.models.jobs import Job
from webapp.jobs.models.workers import Worker


class JobEvent(models.Model):
    """What happened to a job. Rows are only added.

    ``worker`` and ``lease`` say under whose lease, ``actor`` which person did it.
    """

    class Kind(models.TextChoices):
        QUEUED = "queued", "queued"
        LEASED = "leased", "taken"
        EXPIRED = "expired", "lease ran out"
        FAILED = "failed", "attempt failed"
        RESULT = "result", "result"
        LATE_RESULT = "late result", "late result"
        REFUSED = "refused", "result refused"
        GAVE_UP = "gave up", "given up"
        CANCEL_REQUESTED = "cancel requested", "to be cancelled"
        CANCELLED = "cancelled", "cancelled"
        PRIORITY = "priority", "priority changed"
        RETRIED = "retried", "queued again by hand"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    worker = models.ForeignKey(Worker, on_delete=models.SET_NULL, null=True, related_name="+")
    lease = models.CharField(max_length=32, blank=True)
    stage = models.CharField(max_length=6, choices=Job.Stage, blank=True)
    reason = models.TextField(blank=True)
    log = models.TextField(blank=True)
    data: Any = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["job", "pk"]

    def __str__(self) -> str:
        return f"job {self.job_id}: {self.kind}"
