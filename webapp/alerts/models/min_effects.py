"""The smallest effect worth an alert, where an operator set one."""

from typing import Self

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.results.models import Hardware, Mode, Series, Tree

MOST_PERCENT = 1000.0


def _as_text(percent: float | None) -> str:
    return "not set" if percent is None else f"{percent:g} %"


class MinEffect(models.Model):
    """The smallest change worth an alert, in percent, of one tree, one hardware or one mode.

    A hardware's replaces its tree's, a mode's replaces both, and a series' own setting
    (``SeriesSettings.min_effect_pct``) replaces them all.
    """

    tree = models.OneToOneField(
        Tree, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    hardware = models.OneToOneField(
        Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    mode = models.OneToOneField(
        Mode, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    percent = models.FloatField()

    class Meta:
        ordering = ["pk"]
        verbose_name = "smallest effect"
        constraints = [
            models.CheckConstraint(
                condition=Q(tree__isnull=False, hardware__isnull=True, mode__isnull=True)
                | Q(tree__isnull=True, hardware__isnull=False, mode__isnull=True)
                | Q(tree__isnull=True, hardware__isnull=True, mode__isnull=False),
                name="min_effect_of_one_thing",
                violation_error_message="Choose one tree, one hardware or one mode.",
            ),
            models.CheckConstraint(
                condition=Q(percent__range=(0, 1000)), name="min_effect_0_to_1000"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.percent:g} % for {self.of}"

    @property
    def of(self) -> Tree | Hardware | Mode:
        """What it is set for."""
        found = self.tree or self.hardware or self.mode
        if found is None:
            raise ValueError("a smallest effect is of one thing")
        return found


class MinEffectChangeQuerySet(models.QuerySet["MinEffectChange"]):
    """The log of thresholds."""

    def named(self) -> Self:
        """With everything that a line of the log names."""
        parts = ("tree", "hardware", "mode", "metric")
        return self.select_related(
            "actor", "tree", "hardware", "mode", *(f"series__{part}" for part in parts)
        )


class MinEffectChange(models.Model):
    """That a person set the smallest effect of a tree, a hardware, a mode or a series.

    Rows are only added. ``before`` and ``after`` are in percent; null: none was set there, so that
    the wider one held.
    """

    at = models.DateTimeField()
    actor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    tree = models.ForeignKey(Tree, on_delete=models.CASCADE, null=True, related_name="+")
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, related_name="+")
    mode = models.ForeignKey(Mode, on_delete=models.CASCADE, null=True, related_name="+")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, null=True, related_name="+")
    before = models.FloatField(null=True)
    after = models.FloatField(null=True)
    reason = models.TextField(blank=True)

    objects = MinEffectChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(tree__isnull=False, hardware=None, mode=None, series=None)
                | Q(tree=None, hardware__isnull=False, mode=None, series=None)
                | Q(tree=None, hardware=None, mode__isnull=False, series=None)
                | Q(tree=None, hardware=None, mode=None, series__isnull=False),
                name="min_effect_change_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"smallest effect of {self.of}: {_as_text(self.before)}, now {_as_text(self.after)}"

    @property
    def of(self) -> Tree | Hardware | Mode | Series:
        """What it was set for."""
        found = self.tree or self.hardware or self.mode or self.series
        if found is None:
            raise ValueError("a change is of one thing")
        return found
