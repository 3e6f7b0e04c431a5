"""What we conclude from the measurements."""

from typing import Self

from django.db import models
from django.db.models import F, Q

from webapp.results.models import Revision, Series


class Verdict(models.TextChoices):
    BETTER = "better", "better"
    WORSE = "worse", "worse"
    EQUIVALENT = "equivalent", "equivalent"
    CANNOT_TELL = "cannot tell", "cannot tell"


class Flag(models.TextChoices):
    NONE = "", "none"
    REGRESSED = "regressed", "regressed"
    IMPROVED = "improved", "improved"


class SeriesAnalysis(models.Model):
    """The analysis of one series: up to which version of it, and the lock its worker holds.

    A row of its own, so that a worker that analyses a series never blocks an upload to it.
    """

    series = models.OneToOneField(
        Series, on_delete=models.CASCADE, primary_key=True, related_name="analysis"
    )
    version = models.BigIntegerField(default=0, help_text="The series' version it describes.")
    analysed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "series analyses"

    def __str__(self) -> str:
        return f"analysis of series {self.series_id}"


class ComparisonQuerySet(models.QuerySet["Comparison"]):
    def flagged(self) -> Self:
        return self.exclude(flag=Flag.NONE)

    def of_revision(self, revision: Revision) -> Self:
        return self.filter(revision=revision)


class Comparison(models.Model):
    """A point against the one before it in its series, by ministat at 95 %."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="comparisons")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="comparisons")
    previous = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    position = models.BigIntegerField()
    delta = models.FloatField(help_text="Mean minus previous mean, in the metric's unit.")
    error = models.FloatField(null=True, help_text="Half the 95 % interval; null: unknown.")
    percent = models.FloatField(null=True, help_text="Of the previous mean; null when that is 0.")
    percent_error = models.FloatField(null=True)
    verdict = models.CharField(max_length=12, choices=Verdict)
    flag = models.CharField(max_length=10, choices=Flag, blank=True, default=Flag.NONE)

    objects = ComparisonQuerySet.as_manager()

    class Meta:
        ordering = ["series", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["series", "revision"], name="comparison_once_for_a_point"
            ),
            models.CheckConstraint(
                condition=Q(flag="")
                | Q(flag="regressed", verdict="worse")
                | Q(flag="improved", verdict="better"),
                name="comparison_flag_follows_verdict",
            ),
            models.CheckConstraint(
                condition=~Q(revision=F("previous")), name="comparison_of_two_revisions"
            ),
        ]
        indexes = [
            models.Index(fields=["series", "position"], name="comparisons_of_a_series"),
            models.Index(fields=["revision"], name="comparisons_flagged", condition=~Q(flag="")),
        ]

    def __str__(self) -> str:
        return f"{self.series_id}@{self.position}: {self.verdict}"
