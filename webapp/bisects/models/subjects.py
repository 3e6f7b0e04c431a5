"""The machines and modes that a bisect measures beside its own series."""

from typing import Any

from django.db import models
from django.db.models import Q

from webapp.bisects.models.bisects import Bisect
from webapp.results.models import Series


class BisectSubject(models.Model):
    """A further series of a bisect, by its ``number``; the bisect's own is number 0.

    ``effect_pct`` is what its finding says, or what the bisect looks for where it has none
    (``alerted``: whether it has). The other columns are as those of the bisect.
    """

    bisect = models.ForeignKey(Bisect, on_delete=models.CASCADE, related_name="subjects")
    number = models.IntegerField()
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="+")
    effect_pct = models.FloatField(help_text="The step there, percent of the level before.")
    alerted = models.BooleanField(help_text="Whether a finding of this series says so.")
    noise: Any = models.JSONField(help_text="As at the start; fields of webapp.stats.bisection.")
    companions: Any = models.JSONField(default=list, blank=True)
    runs = models.IntegerField(default=1, help_text="In each boot that is asked for.")
    build_hours = models.FloatField(help_text="What a build is expected to take.")
    boot_hours = models.FloatField(help_text="What a boot with its runs is expected to take.")
    can_rebuild = models.BooleanField(default=False)

    class Meta:
        ordering = ["bisect", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bisect", "number"], name="bisect_subject_numbered"),
            models.UniqueConstraint(fields=["bisect", "series"], name="bisect_subject_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="bisect_subject_is_further"),
            models.CheckConstraint(condition=~Q(effect_pct=0), name="bisect_subject_of_a_step"),
        ]

    def __str__(self) -> str:
        return f"bisect {self.bisect_id}: {self.series}"
