"""Experiments: a question, the sides that answer it, and what people typed about it."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.analysis.queries import MOST_SIDES, OPTION_MARK, TRAFFIC_MARK
from webapp.analysis.queries import Side as ComparedSide
from webapp.labs.models import Lab
from webapp.results.models import Hardware, Metric, Mode, ModeName, Revision, Tree, Variant

QUESTION_MAX = 300
SOURCE_MAX = 300

SESSION_MAX = 300
"""Characters of the sessions of a side together."""


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Experiments by state and by what they are about."""

    def about(self, *, state: str = "", tree: str = "", hardware: str = "") -> Self:
        """Those in a state, of a tree, with a cell on a machine, where given."""
        found = self
        if state:
            found = found.filter(state=state)
        if tree:
            found = found.filter(tree__name=tree)
        if hardware:
            found = found.filter(cells__hardware__name=hardware).distinct()
        return found

    def with_subjects(self) -> Self:
        """With everything that a line about an experiment names, in three statements."""
        return self.select_related("tree", "lab", "owner").prefetch_related(
            "sides__revision__tree",
            "sides__variant",
            "sides__hardware",
            "sides__mode",
            "sides__metric",
            "cells__hardware__lab",
            "cells__mode",
            "cells__metric",
        )


class Experiment(models.Model):
    """Two to seven sides over the same cells, as they were at ``asof``.

    ``bullets`` and ``closing``, what follows the last block, are a README's, as typed. ``source``
    is the archive's directory, or the name that an uploader gave.
    """

    class State(models.TextChoices):
        """How far it is."""

        DRAFT = "draft", "draft"
        IMPORTED = "imported", "imported"
        DECIDED = "decided", "decided"
        GIVEN_UP = "given up", "given up"

    question = models.CharField(max_length=QUESTION_MAX)
    tree = models.ForeignKey(Tree, on_delete=models.PROTECT, related_name="+", db_index=False)
    lab = models.ForeignKey(
        Lab, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )  # experiment_once_of_a_source begins with it
    owner = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    margin_pct = models.FloatField(
        "margin (%)", help_text="What counted as equivalent; a cell may have one of its own."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    asof = models.DateTimeField("as of", help_text="The runs that had been received by then.")
    is_typed = models.BooleanField(
        default=False, help_text="The question was typed by the lab, not made from the sides."
    )
    bullets = ArrayField(models.TextField(), default=list, blank=True)
    closing = models.TextField(blank=True)
    readme = models.TextField(blank=True, help_text="As it was sent.")
    conclusion = models.TextField(blank=True, help_text="What people concluded.")
    source = models.CharField(max_length=SOURCE_MAX, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "source"],
                condition=~Q(source=""),
                name="experiment_once_of_a_source",
            ),
            models.CheckConstraint(condition=Q(margin_pct__gt=0), name="experiment_has_a_margin"),
        ]

    def __str__(self) -> str:
        return f"report {self.pk}"

    def get_absolute_url(self) -> str:
        """The address of the report."""
        return reverse("experiment", args=[self.pk])


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


class Side(models.Model):
    """One kernel, or one set of options; the first of an experiment is its baseline.

    ``hardware``, ``mode`` and ``metric`` are null where the cells have them; with ``every_traffic``
    the mode stands for its workload and options in every traffic. ``label`` is what the
    lab calls it; empty: it goes by what distinguishes it.
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
    where it was not known; ``belief`` has what was believed of it then, as a `NoisePrior` by its
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
