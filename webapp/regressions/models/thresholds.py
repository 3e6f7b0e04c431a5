"""The smallest effect worth an alert, where an operator set one."""

from django.db import models
from django.db.models import Q

from webapp.results.models import Hardware, Mode, Tree


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
        return f"{self.percent:g} % for {self.tree or self.hardware or self.mode}"
