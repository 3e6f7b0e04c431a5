"""The analysis of a series: its state, where it can be resumed, its settings, and which of its
points are unlike most.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Q, Value

from webapp.results.models import Revision, Series, StateField
from webapp.stats import changes, metrics

NEVER_ANALYSED = 0
TO_BE_REPEATED = -1


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many of all analyses are of the present version of the method."""

    done: int
    count: int


class SeriesAnalysisQuerySet(models.QuerySet["SeriesAnalysis"]):
    """Analyses by the version of the method."""

    def made(self) -> Self:
        """Analyses that were ever made."""
        return self.exclude(detector=NEVER_ANALYSED)

    def stale(self) -> Self:
        """Analyses that an earlier version made, or that somebody wants repeated."""
        return self.made().filter(detector__lt=changes.VERSION)

    def repeated(self) -> "Repeated | None":
        """How far the repetition of stale ones is; None: none is left."""
        left = Count("pk", filter=Q(detector__lt=changes.VERSION))
        found = self.made().aggregate(count=Count("pk"), left=left)
        return Repeated(found["count"] - found["left"], found["count"]) if found["left"] else None


class SeriesAnalysis(models.Model):
    """The analysis of one series: up to which version of it, and the lock its worker holds.

    A row of its own, so that a worker that analyses a series never blocks an upload to it.
    """

    series = models.OneToOneField(
        Series, on_delete=models.CASCADE, primary_key=True, related_name="analysis"
    )
    version = models.BigIntegerField(default=0, help_text="The series' version it describes.")
    analysed_at = models.DateTimeField(null=True)
    detector = models.IntegerField(
        default=NEVER_ANALYSED,
        db_index=True,
        help_text="The version of the method that was used; -1: it is to be used anew.",
    )
    summary: Any = models.JSONField(
        default=dict,
        blank=True,
        help_text="Levels, noise, the smallest provable change, and why nothing newer is flagged.",
    )
    asked = ArrayField(
        models.BigIntegerField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Where its newest pair was asked while it could not tell its build noise.",
    )
    pairs: Any = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
        help_text="Those of them that a belief in build noise may find.",
    )
    epochs = ArrayField(
        models.BigIntegerField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="The first position of each epoch but the first, as it was analysed.",
    )
    late = ArrayField(
        models.BigIntegerField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Positions measured after an event, before the first of its epoch.",
    )
    judged: Any = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
        help_text="What the pairs were judged by.",
    )

    objects = SeriesAnalysisQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "series analyses"
        indexes = [
            models.Index(fields=["series"], name="analyses_with_pairs", condition=~Q(pairs=[]))
        ]

    def __str__(self) -> str:
        return f"analysis of series {self.series_id}"


class Checkpoint(models.Model):
    """The detector's state after the point at ``position``: where a late point resumes from."""

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="checkpoints", db_index=False
    )  # checkpoint_once_at_a_position begins with it
    position = models.BigIntegerField()
    length = models.IntegerField(db_default=0, help_text="Points of its epoch that are in it.")
    detector = models.IntegerField()
    state: Any = StateField()
    rows: Any = StateField(
        null=True, help_text="The revisions of its window; null: they are to be read again."
    )

    class Meta:
        ordering = ["series", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["series", "position"], name="checkpoint_once_at_a_position"
            )
        ]

    def __str__(self) -> str:
        return f"series {self.series_id} at {self.position}"


class SeriesSettings(models.Model):
    """What an operator set for one series; an empty field means the default."""

    DEFAULT_MARGIN_PCT = metrics.MARGIN_PCT
    DEFAULT_MIN_EFFECT_PCT = metrics.SMALLEST_EFFECT_PCT

    series = models.OneToOneField(
        Series, on_delete=models.CASCADE, primary_key=True, related_name="settings"
    )
    margin_pct = models.FloatField(
        null=True, blank=True, help_text="Differences within ± this are equivalent (default 2)."
    )
    min_effect_pct = models.FloatField(
        null=True,
        blank=True,
        help_text="The smallest change of interest, set at /thresholds/ (default 2).",
    )
    is_canary = models.BooleanField(
        "canary",
        default=False,
        help_text="No commit should ever move it: where it moves, the machine changed.",
    )

    class Meta:
        verbose_name_plural = "series settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(margin_pct__isnull=True) | Q(margin_pct__range=(0, 100)),
                name="settings_margin_0_to_100",
            ),
            models.CheckConstraint(
                condition=Q(min_effect_pct__isnull=True) | Q(min_effect_pct__range=(0, 1000)),
                name="settings_min_effect_0_to_1000",
            ),
        ]

    def __str__(self) -> str:
        return f"settings of series {self.series_id}"


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
    """How many comparisons of a revision there are, how many are flagged worse and better, and
    whether none of them has a verdict.
    """

    compared: int = 0
    regressed: int = 0
    improved: int = 0
    cannot_tell: bool = True


class NotedPoint(models.Model):
    """A point that is not compared with one before it, or that ministat finds better or worse, at
    95 %, than that: lists of commits count these. All else of a pair is computed where it is read.
    """

    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="+", db_index=False
    )  # noted_point_once begins with it
    revision = models.ForeignKey(
        Revision, on_delete=models.CASCADE, related_name="+", db_index=False
    )  # noted_points_of_a_revision begins with it
    position = models.BigIntegerField()
    is_compared = models.BooleanField()

    class Meta:
        ordering = ["series", "position"]
        constraints = [
            models.UniqueConstraint(fields=["series", "position"], name="noted_point_once")
        ]
        indexes = [
            models.Index(fields=["revision", "is_compared"], name="noted_points_of_a_revision")
        ]

    def __str__(self) -> str:
        return f"series {self.series_id} at {self.position}"
