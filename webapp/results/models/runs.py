"""Runs and what they measured."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5, Coalesce, Length
from django.db.models.lookups import GreaterThan

from webapp.accounts.models import User
from webapp.labs.models import Agent
from webapp.results.models.history import WAITING_FROM, Revision
from webapp.results.models.series import Series
from webapp.results.models.subjects import METRIC_MAX, Hardware, Mode
from webapp.results.models.variants import Variant
from webapp.results.packed import BootsField, DigestField, SamplesField, SourcesField
from webapp.results.validity import LeftOut, Mark, counted, marks_of
from webapp.stats.histograms import Histograms


class Kernel(models.Model):
    """One build of a kernel, as its runs name it: many runs are of one, and it is stored once."""

    build_id = models.CharField(max_length=300)
    ident = models.TextField(blank=True)

    class Meta:
        constraints = [
            # Both may be longer than an index has room for.
            models.UniqueConstraint(MD5("build_id"), MD5("ident"), name="kernel_once")
        ]

    def __str__(self) -> str:
        return self.build_id


class RunQuerySet(models.QuerySet["Run"]):
    """Runs, and which of them count."""

    def counted(self) -> Self:
        """Runs that take part in the statistics: all that were not withdrawn."""
        return self.filter(withdrawn_at__isnull=True)

    def plain(self) -> Self:
        """Runs of the kernel as its tree has it."""
        return self.filter(variant__isnull=True)

    def counted_at(self, moment: datetime) -> Self:
        """Runs that had been received at that time, and were not withdrawn then."""
        then = Q(withdrawn_at__isnull=True) | Q(withdrawn_at__gt=moment)
        return self.filter(then, received_at__lte=moment)

    def current(self) -> Self:
        """Runs that no later upload of the same UUID took the place of: what a UUID means."""
        return self.filter(superseded_by__isnull=True)

    def placed(self) -> Self:
        """Runs whose revision has its place on the tree."""
        return self.filter(revision__position__lt=WAITING_FROM)

    def placeless(self) -> Self:
        """Runs that count, and take no part until their revision has its place."""
        return self.counted().filter(revision__position__gte=WAITING_FROM)

    def of_revision(self, revision: Revision) -> Self:
        """All of them, withdrawn ones included, with everything a row of a table names."""
        return self.filter(revision=revision).select_related(
            "agent__lab",
            "hardware",
            "mode",
            "variant",
            "kernel",
            "withdrawn_by",
            "superseded_by__agent__lab",
            "superseded_by__revision__tree",
        )

    def with_marks(self) -> Self:
        """With the measurements that have marked samples as ``marked``."""
        found = Measurement.objects.marked().select_related("series__metric").order_by("pk")
        return self.prefetch_related(models.Prefetch("measurements", found, to_attr="marked"))

    def lately(self, limit: int) -> Self:
        """The ``limit`` received last; of one upload those stored last."""
        return self.order_by("-received_at", "-id")[:limit]

    def of_series(self, series: Iterable[Series]) -> Self:
        """Runs of the machines, the modes and the trees of ``series``."""
        return self.filter(
            hardware__in={one.hardware_id for one in series},
            mode__in={one.mode_id for one in series},
            revision__tree__in={one.tree_id for one in series},
        )

    def newest_text(self) -> str:
        """The day on which the one that was received last was measured, or else received."""
        times = (
            self.counted().order_by("-received_at", "-id").values_list("measured_at", "received_at")
        )
        newest = next((measured or received for measured, received in times[:1]), None)
        return f"newest run {newest:%Y-%m-%d}" if newest else "no run kept"


class Run(models.Model):
    """One upload: one build of one kernel, measured on one hardware in one mode.

    A run is never changed. Other content under its UUID is a run of its own, and the former one
    stays, withdrawn and ``superseded_by`` it: that run's agent replaced it, when that was received.
    """

    uuid = models.UUIDField()  # run_current_once_of_a_uuid
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="runs", db_index=False
    )  # who removes a lab alone asks for the runs of an agent
    hardware = models.ForeignKey(
        Hardware, on_delete=models.PROTECT, related_name="runs", db_index=False
    )  # runs_lately_on_hardware begins with it
    revision = models.ForeignKey(
        Revision, on_delete=models.PROTECT, related_name="runs", db_index=False
    )  # runs_of_a_point begins with it
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="runs")
    variant = models.ForeignKey(
        Variant, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    as_sent: Any = models.JSONField(
        null=True,
        blank=True,
        help_text="Mode and variant as the document names them, where rules file it otherwise.",
    )
    digest = DigestField(max_length=64, help_text="SHA-256 of the document as it was sent")
    kernel = models.ForeignKey(Kernel, on_delete=models.PROTECT, related_name="runs")
    measured_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField()
    history = models.BooleanField(
        default=False, help_text="Uploaded as history: nobody is to be mailed about it."
    )
    session = models.CharField(
        max_length=300,
        blank=True,
        db_default="",
        help_text="What was measured together: as the uploader called it, else its directory.",
    )
    evidence: Any = models.JSONField(
        null=True, blank=True, help_text="What kernel, image and directory said of its commit."
    )
    facts: Any = models.JSONField(default=dict, blank=True)
    sources: Any = SourcesField(default=list, blank=True)
    warnings: Any = models.JSONField(default=list, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    withdrawn_reason = models.CharField(max_length=500, blank=True)
    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="supersedes",
        db_index=False,
    )  # runs_superseded_by

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-received_at", "-id"]
        indexes = [
            models.Index(fields=["-received_at"], name="runs_lately"),
            models.Index(fields=["revision", "mode", "hardware"], name="runs_of_a_point"),
            models.Index(fields=["hardware", "-received_at"], name="runs_lately_on_hardware"),
            models.Index(
                "hardware",
                Coalesce("measured_at", "received_at"),
                name="runs_of_hardware_in_time",
                condition=Q(superseded_by__isnull=True),
            ),
            # What was imported lately; a machine without history is looked at without its runs.
            models.Index(
                fields=["hardware", "received_at"],
                name="imported_runs_of_hardware",
                condition=Q(history=True),
            ),
            models.Index(
                fields=["superseded_by"],
                name="runs_superseded_by",
                condition=Q(superseded_by__isnull=False),
            ),
            models.Index(
                fields=["uuid"],
                name="runs_superseded_of_a_uuid",
                condition=Q(superseded_by__isnull=False),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["uuid"],
                condition=Q(superseded_by__isnull=True),
                name="run_current_once_of_a_uuid",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | Q(withdrawn_at__isnull=False),
                name="run_superseded_is_withdrawn",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_reason="")
                | (Q(withdrawn_at__isnull=False) & ~Q(withdrawn_reason="")),
                name="run_withdrawn_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def is_withdrawn(self) -> bool:
        """Whether it no longer counts."""
        return self.withdrawn_at is not None

    @property
    def is_superseded(self) -> bool:
        """Whether another run of its UUID took its place."""
        return self.superseded_by_id is not None


class HourlyRuns(models.Model):
    """So many live runs of a machine were measured (if unknown, received) within an hour.

    Pages count runs by these. The triggers of runs keep them, in whatever way runs change
    (migrations/results/0032_hourly_runs.py). Transactions at once do not wait for one another: an
    hour may have several rows, which add up.
    """

    hardware = models.ForeignKey(
        Hardware, on_delete=models.CASCADE, related_name="+", db_index=False
    )  # hourly_runs_of_hardware begins with it
    hour = models.DateTimeField(help_text="When it begins.")
    runs = models.IntegerField()

    class Meta:
        ordering = ["hardware", "hour", "id"]
        indexes = [models.Index(fields=["hardware", "hour"], name="hourly_runs_of_hardware")]

    def __str__(self) -> str:
        return f"{self.runs} from {self.hour:%Y-%m-%d %H:%M}"


Samples = TypeVar("Samples", bound=models.Model)


class SamplesQuerySet(models.QuerySet[Samples]):
    """Samples of runs, and the order in which they are pooled."""

    def counted(self) -> Self:
        """Samples of runs that were not withdrawn."""
        return self.filter(run__withdrawn_at__isnull=True)

    def counted_at(self, moment: datetime) -> Self:
        """Samples of runs that had been received at that time, and were not withdrawn then."""
        then = Q(run__withdrawn_at__isnull=True) | Q(run__withdrawn_at__gt=moment)
        return self.filter(then, run__received_at__lte=moment)

    def in_pooling_order(self) -> Self:
        """The one order in which samples are pooled, whatever the order they arrived in.

        ministat sums in the order of its input, so the last digits depend on it.
        """
        return self.order_by("series_id", "run__revision_id", "run__uuid")


class MeasurementQuerySet(SamplesQuerySet["Measurement"]):
    """Measurements, and those with marked samples."""

    def marked(self) -> Self:
        """Measurements with samples that may not measure what they should, of current runs."""
        return self.filter(validity__isnull=False, run__superseded_by__isnull=True)

    def with_subjects(self) -> Self:
        """With everything a row of a table names."""
        return self.select_related(
            "run__revision__tree", "run__hardware__lab", "run__mode", "series__metric"
        ).defer("run__facts", "run__sources", "run__warnings")


class Measurement(models.Model):
    """The samples of one run in one metric, in one row.

    ``validity`` is what may be wrong with some of them (``sample``, ``kind``, ``text``), null where
    nothing is known. ``left_out`` are the indices of those that do not count, which follow from
    that and from what a person decided; null where all count.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="measurements", db_index=False
    )  # measurement_once_in_a_run begins with it
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="measurements")
    samples: Any = SamplesField()
    boots: Any = BootsField(null=True, blank=True)
    validity: Any = models.JSONField(null=True, blank=True)
    left_out = ArrayField(models.IntegerField(), null=True, blank=True)

    objects = MeasurementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "series"], name="measurement_once_in_a_run"),
            models.CheckConstraint(
                condition=GreaterThan(Length("samples"), 0), name="measurement_has_a_sample"
            ),
        ]
        indexes = [
            models.Index(
                fields=["run"], name="measurements_with_marks", condition=Q(validity__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return f"{len(self.samples)} samples of run {self.run_id}"

    @property
    def marks(self) -> list[Mark]:
        """What may be wrong with its samples."""
        return marks_of(self.validity)

    @property
    def excluded(self) -> LeftOut | None:
        """How many of its samples do not count, and why; None: all count."""
        return LeftOut.of_measurements([(len(self.samples), self.left_out, self.marks)])

    @property
    def counted(self) -> tuple[list[float], list[int] | None]:
        """The samples that count, and their boots."""
        return counted(self.samples, self.boots, self.left_out)


class RunHistograms(models.Model):
    """The histograms of one run in one metric.

    ``name`` and a quantile are the metric of the measurements that follow from them, which move
    with the run; ``boots`` has the boot of each, null where boots are unknown.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="histograms", db_index=False
    )  # histograms_once_in_a_run begins with it
    name = models.CharField(max_length=METRIC_MAX)
    boots = ArrayField(models.IntegerField(), null=True, blank=True)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "histograms of runs"
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="histograms_once_in_a_run")
        ]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id}"

    @property
    def unpacked(self) -> Histograms:
        """The histograms, as they were sent but for the width of a bucket."""
        return Histograms.read(self.name, bytes(self.data), self.boots)


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
