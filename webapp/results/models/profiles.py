"""Profiles: which functions the kernel spent its time in while a run was measured."""

from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.labs.models import Agent
from webapp.results.models.runs import Run

PROFILE_NAME_MAX = 300
FUNCTION_MAX = 300
FORMATS = ("pmcstat", "folded", "perf", "bpftrace", "btrace", "pprof")


class ProfiledFunction(models.Model):
    """A function that profiles name; each is stored once."""

    name = models.CharField(max_length=FUNCTION_MAX)
    module = models.CharField(max_length=FUNCTION_MAX, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "module"], name="profiled_function_once")
        ]

    def __str__(self) -> str:
        return f"{self.module}`{self.name}" if self.module else self.name


class ProfileQuerySet(models.QuerySet["Profile"]):
    """Profiles, and those of which runs."""

    def counted(self) -> Self:
        """Those of runs that were not withdrawn."""
        return self.filter(run__withdrawn_at__isnull=True)

    def with_subjects(self) -> Self:
        """With everything a page names."""
        return self.select_related(
            "run__revision__tree", "run__hardware__lab", "run__mode", "run__variant", "run__kernel"
        ).defer("run__facts", "run__sources", "run__warnings")

    def without_calls(self) -> Self:
        """Without the columns that hold the call tree."""
        return self.defer("calls", "functions")


class Profile(models.Model):
    """The call tree of one boot of a run.

    ``functions`` (ids) are those of its tree in their order, ``calls`` everything else of it
    (`webapp.stats.profiles.calls.packed`), of ``nodes``. ``expected`` are the samples that the
    profiler announced for each CPU, ``pps`` the packets per second while it ran, ``event_rate`` how
    often the event happened then on all CPUs (1/s).
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="profiles", db_index=False
    )  # profile_once_of_a_run begins with it
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of call tree, event and counts")
    name = models.CharField(max_length=PROFILE_NAME_MAX)
    format = models.CharField(max_length=10, choices=[(one, one) for one in FORMATS])
    event = models.CharField(max_length=PROFILE_NAME_MAX, blank=True)
    iteration = models.IntegerField(null=True, blank=True)
    boot = models.CharField(max_length=PROFILE_NAME_MAX, blank=True)
    expected = ArrayField(models.BigIntegerField(null=True))
    samples = models.BigIntegerField()
    is_truncated = models.BooleanField()
    unsymbolized = models.BigIntegerField(default=0)
    pps = models.FloatField(null=True, blank=True)
    cores = models.IntegerField(null=True, blank=True)
    event_rate = models.FloatField(null=True, blank=True)
    warnings: Any = models.JSONField(default=list, blank=True)
    functions = ArrayField(models.IntegerField())
    calls = models.BinaryField()
    nodes = models.IntegerField()
    received_at = models.DateTimeField(db_index=True)

    objects = ProfileQuerySet.as_manager()

    class Meta:
        ordering = ["run_id", "iteration", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "digest"], name="profile_once_of_a_run"),
            models.CheckConstraint(condition=Q(samples__gt=0), name="profile_has_a_sample"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The page of its flame graph."""
        return reverse("profile", args=[self.pk])

    @property
    def announced(self) -> int | None:
        """The samples that the profiler announced; None: that is not known."""
        known = [one for one in self.expected if one is not None]
        return sum(known) if known else None
