"""An experiment: what was asked, and everything that a person typed about it."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.models import Tree

QUESTION_MAX = 300
SOURCE_MAX = 300


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
