"""A fixed kernel that a machine measures again and again, so that the machine itself is watched."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.jobs.models import Job
from webapp.results.models import Hardware, Metric, Mode, Revision

MOST_DAYS = 365
MOST_CANARY_BOOTS = 20


class CanaryQuerySet(models.QuerySet["Canary"]):
    """Canaries of machines."""

    def active(self) -> Self:
        """Those that are measured on their schedule."""
        return self.filter(is_active=True)

    def named(self) -> Self:
        """With everything a row of a table names."""
        return self.select_related(
            "hardware__lab", "mode", "metric", "revision__tree", "created_by"
        ).order_by("hardware__name", "pk")


class Canary(models.Model):
    """The same kernel on the same machine, measured every ``interval_days`` days.

    What is measured arrives as any run does. A run is the canary's if it is of its hardware, mode
    and revision, whoever asked for it.
    """

    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="canaries")
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="canaries")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="canaries")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="canaries")
    interval_days = models.PositiveSmallIntegerField("days between two measurements", default=1)
    boots = models.PositiveSmallIntegerField("boots each time", default=2)
    is_active = models.BooleanField("active", default=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CanaryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "canaries"
        constraints = [
            models.UniqueConstraint(
                fields=["hardware", "mode", "metric", "revision"],
                condition=Q(is_active=True),
                name="canary_active_once",
            ),
            models.CheckConstraint(
                condition=Q(interval_days__range=(1, MOST_DAYS)), name="canary_interval_1_to_365"
            ),
            models.CheckConstraint(
                condition=Q(boots__range=(1, MOST_CANARY_BOOTS)), name="canary_boots_1_to_20"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision} in {self.mode} on {self.hardware}"

    def get_absolute_url(self) -> str:
        """The path of its page."""
        return reverse("canary", args=[self.pk])

    @property
    def interval(self) -> timedelta:
        """From one measurement to the next."""
        return timedelta(days=self.interval_days)

    def is_due(self, *, last: datetime | None, now: datetime) -> bool:
        """Whether it is to be measured, if a job was asked for ``last`` (None: never). A ``last``
        far in the future is of a clock that was wrong, and delays nothing.
        """
        return last is None or abs(now - last) >= self.interval


class CanaryJob(models.Model):
    """A job that a canary asked for."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="asked")
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="canary")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"job {self.job_id} of canary {self.canary_id}"
