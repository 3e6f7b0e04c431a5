"""Each point against the one before it, and what is flagged."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from django.db import models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, When
from django.db.models.functions import Abs

from webapp.results.models import Revision, Series


class Verdict(models.TextChoices):
    """What a revision did to a series, beside the noise; *cannot tell* is a result of its own."""

    BETTER = "better", "better"
    WORSE = "worse", "worse"
    EQUIVALENT = "equivalent", "equivalent"
    CANNOT_TELL = "cannot tell", "cannot tell"


class Flag(models.TextChoices):
    """What a revision did to a series: a live finding, or ministat alone while noise is unknown."""

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

    def flagged(self) -> Self:
        """Those at which something changed."""
        return self.exclude(flag=Flag.NONE)

    def without_finding(self) -> Self:
        """Those at which the detector finds nothing: a flag there is ministat's own."""
        return self.exclude(
            Exists(
                Series.objects.filter(
                    pk=OuterRef("series"),
                    findings__revision=OuterRef("revision"),
                    findings__state__in=["candidate", "one build", "confirmed", "recovered"],
                )
            )
        )

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

    def tallies(self) -> dict[int, Tally]:
        """For each revision id how many comparisons gave which verdict and flag."""
        counted = (
            self.order_by()
            .values("revision_id")
            .annotate(
                compared=Count("pk"),
                regressed=Count("pk", filter=Q(flag=Flag.REGRESSED)),
                improved=Count("pk", filter=Q(flag=Flag.IMPROVED)),
                cannot_tell=Count("pk", filter=Q(verdict=Verdict.CANNOT_TELL)),
            )
        )
        rows = counted.values_list("revision_id", *Tally._fields)
        return {row[0]: Tally(*row[1:]) for row in rows}

    def largest_of_each_revision(self) -> Self:
        """For each revision the largest change in percent, regressions before all others."""
        worst_first = Case(When(flag=Flag.REGRESSED, then=0), default=1)
        size = Abs("percent").desc(nulls_last=True)
        return self.order_by("revision_id", worst_first, size, "pk").distinct("revision_id")

    def flagged_revisions(self, flag: Flag, limit: int) -> list[int]:
        """Ids of the last ``limit`` revisions with that flag: by commit time, else by position."""
        newest = F("revision__committed_at").desc(nulls_last=True)
        ids = (
            self.filter(flag=flag)
            .values_list("revision_id", flat=True)
            .order_by(newest, "-revision__position", "revision_id")
            .distinct()
        )
        return list(ids[:limit])


class Comparison(models.Model):
    """A point against the one before it in its series, by ministat at 95 %.

    ``verdict`` is ministat's. It is shown, and nothing is alerted on it: builds scatter too, which
    five samples of one build cannot know. ``flag`` follows the findings.
    """

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="comparisons", db_index=False
    )  # comparison_once_for_a_point begins with it
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
                condition=~Q(revision=F("previous")), name="comparison_of_two_revisions"
            ),
        ]
        indexes = [
            models.Index(fields=["series", "position"], name="comparisons_of_a_series"),
            models.Index(fields=["revision"], name="comparisons_flagged", condition=~Q(flag="")),
            models.Index(fields=["series"], name="flags_of_a_series", condition=~Q(flag="")),
        ]

    def __str__(self) -> str:
        return f"{self.series_id}@{self.position}: {self.verdict}"
