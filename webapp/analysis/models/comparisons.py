"""Each point against the one before it, and what is flagged."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from django.db import models
from django.db.models import F, Q

from webapp.results.models import Revision, Series


class Verdict(models.TextChoices):
    """What a revision did to a series, beside the noise; *cannot tell* is a result of its own."""

    BETTER = "better", "better"
    WORSE = "worse", "worse"
    EQUIVALENT = "equivalent", "equivalent"
    CANNOT_TELL = "cannot tell", "cannot tell"


class Flag(models.TextChoices):
    """Which way the live finding at a revision goes, if there is one."""

    NONE = "", "none"
    REGRESSED = "regressed", "regressed"
    IMPROVED = "improved", "improved"


class Tally(NamedTuple):
    """How many comparisons of a revision there are, and how many say what."""

    compared: int = 0
    regressed: int = 0
    improved: int = 0
    cannot_tell: int = 0


class ComparisonQuerySet(models.QuerySet["Comparison"]):
    """Comparisons of revisions with those before them."""

    def of_revision(self, revision: Revision) -> Self:
        """What a revision did to each series."""
        return self.filter(revision=revision)

    def of_all(
        self, series: Iterable[Series | int], *, since: int = 0, until: int | None = None
    ) -> Self:
        """The comparisons of several series from position ``since`` to ``until``."""
        found = self.filter(series__in=list(series), position__gte=since)
        return found if until is None else found.filter(position__lte=until)

    def with_subjects(self) -> Self:
        """With everything a row of a table names."""
        return self.select_related(
            "revision",
            "previous",
            "series__tree",
            "series__hardware__lab",
            "series__mode",
            "series__metric",
        )


class Comparison(models.Model):
    """A point against the one before it in its series, by ministat at 95 %.

    ``verdict`` is ministat's. It is shown as such, and nothing is alerted, flagged, coloured or
    headlined on it: builds scatter too, which five samples of one build cannot know. ``flag``
    follows the findings.
    """

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="comparisons", db_index=False
    )  # comparison_once_at_a_position begins with it
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
                fields=["series", "position"], name="comparison_once_at_a_position"
            ),
            models.CheckConstraint(
                condition=~Q(revision=F("previous")), name="comparison_of_two_revisions"
            ),
        ]
        indexes = [
            models.Index(fields=["revision"], name="comparisons_flagged", condition=~Q(flag="")),
            models.Index(fields=["series"], name="flags_of_a_series", condition=~Q(flag="")),
        ]

    def __str__(self) -> str:
        return f"{self.series_id}@{self.position}: {self.verdict}"
