"""What an experiment compares: its sides, and the cells in which each of them was measured."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from webapp.analysis.queries import MOST_SIDES, OPTION_MARK, TRAFFIC_MARK
from webapp.analysis.queries import Side as ComparedSide
from webapp.experiments.models.experiments import Experiment
from webapp.results.models import Hardware, Metric, Mode, ModeName, Revision, Variant

SESSION_MAX = 300
"""Characters of the sessions of a side together."""


class Side(models.Model):
    """One kernel, or one set of options; the first of an experiment is its baseline.

    ``hardware``, ``mode`` and ``metric`` are null where the cells say them; with ``every_traffic``
    the mode stands for its workload and options in every traffic. ``label`` is what the
    lab calls it; empty: it goes by what tells it apart.
    """

    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="sides", db_index=False
    )  # experiment_side_in_order begins with it
    order = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=200, blank=True)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    variant = models.ForeignKey(
        Variant, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    hardware = models.ForeignKey(
        Hardware, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    mode = models.ForeignKey(
        Mode, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    metric = models.ForeignKey(
        Metric, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    every_traffic = models.BooleanField(default=False)
    options = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    session = models.CharField(max_length=SESSION_MAX, blank=True)

    class Meta:
        ordering = ["experiment", "order"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "order"], name="experiment_side_in_order"
            ),
            models.CheckConstraint(
                condition=Q(order__lt=MOST_SIDES), name="experiment_has_at_most_seven_sides"
            ),
        ]

    def __str__(self) -> str:
        return self.label or str(self.order)

    @property
    def compared(self) -> ComparedSide:
        """The side of a comparison that it is. Needs what it names loaded."""
        options = "".join(f"{OPTION_MARK}{option}" for option in self.options)
        return ComparedSide(
            tree=self.revision.tree.name,
            revision=self.revision.name,
            hardware=self.hardware.name if self.hardware else "",
            mode=self._mode_asked or options,
            metric=self.metric.name if self.metric else "",
            session=self.session,
            variant=self.variant.name if self.variant else "",
        )

    @property
    def _mode_asked(self) -> str:
        if self.mode is None or not self.every_traffic:
            return self.mode.name if self.mode else ""
        parts = self.mode.parts
        return str(ModeName(parts.workload + TRAFFIC_MARK, None, parts.options))


class Cell(models.Model):
    """Where all sides were measured, by the series of the baseline; and how it was judged then.

    ``heading`` is what the lab typed above its block, ``labels`` what it called each set there,
    ``flavour`` and ``separate_bars`` the ministat that printed it. Noise between builds is null
    where it was not known; ``belief`` has what was believed of it then, as a `Belief` by its
    fields, null in reports older than this column.
    """

    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="cells", db_index=False
    )  # experiment_cell_in_order begins with it
    order = models.PositiveSmallIntegerField()
    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="+")
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="+")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+", db_index=False)
    margin_pct = models.FloatField("margin (%)")
    build_noise_pct = models.FloatField(null=True, blank=True)
    build_noise_df = models.FloatField(null=True, blank=True)
    belief = models.JSONField(null=True, blank=True)
    heading = models.TextField(blank=True)
    labels = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    flavour = models.CharField(max_length=20, blank=True)
    separate_bars = models.BooleanField(default=True, help_text="Printed with -s.")

    class Meta:
        ordering = ["experiment", "order"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "order"], name="experiment_cell_in_order"
            ),
            models.CheckConstraint(
                condition=Q(build_noise_pct__isnull=True, build_noise_df__isnull=True)
                | Q(build_noise_pct__isnull=False, build_noise_df__isnull=False),
                name="experiment_cell_noise_is_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hardware} {self.mode} {self.metric}"
