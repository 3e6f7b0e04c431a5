"""Series and their points."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Cast
from django.utils import timezone

from webapp.results.models.history import Revision, Tree, is_one_of
from webapp.results.models.subjects import Hardware, Metric, Mode
from webapp.results.models.variants import Variant
from webapp.results.packed import LevelsField
from webapp.results.validity import LeftOut
from webapp.stats.compare import Summary
from webapp.stats.metrics import Better
from webapp.stats.sessions import ForeignSession


def digest_of_builds(build_ids: Iterable[str]) -> str:
    """The same for the same builds, whatever their order."""
    return hashlib.blake2b("\n".join(sorted(build_ids)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Waiting:
    """Series that wait for their analysis, and for how long the first of them has."""

    count: int
    oldest_seconds: float


class SeriesQuerySet(models.QuerySet["Series"]):
    """Series with what pages show of them, and which are to be analysed anew."""

    def plain(self) -> Self:
        """Series of the kernel as its tree has it: what trends, findings and alerts are about."""
        return self.filter(variant__isnull=True)

    def measured(self) -> Self:
        """Series that were uploaded, and not what options cost, which follows from them."""
        return self.filter(metric__of__isnull=True)

    def of_variants(self) -> Self:
        """Series of kernels with patches, of images and of vendors' branches."""
        return self.filter(variant__isnull=False)

    def dirty(self) -> Self:
        """Series whose points changed since they were last analysed, the longest waiting first."""
        return self.filter(dirty_from__isnull=False).order_by("dirty_since")

    def waiting(self) -> "Waiting":
        """How much is dirty, in one query."""
        found = self.filter(dirty_from__isnull=False).aggregate(
            count=models.Count("pk"), oldest=models.Min("dirty_since")
        )
        oldest = found["oldest"]
        seconds = (timezone.now() - oldest).total_seconds() if oldest else 0.0
        return Waiting(found["count"], max(0.0, seconds))  # the clock may have been set back

    def named(self) -> Self:
        """With everything a label needs, and the lab, which may be a simulated one."""
        return self.select_related("tree", "hardware__lab", "mode", "metric", "variant")

    def with_points(self) -> Self:
        """Series that have any point."""
        return self.filter(models.Exists(Point.objects.filter(series=models.OuterRef("pk"))))


class Series(models.Model):
    """Everything measured for (tree, hardware, mode, metric, variant), ordered by position.

    Without a ``variant`` it is of the plain kernel; only such series are analysed.
    ``version`` grows with each change of its points: the ETag of its JSON, and the
    compare-and-set token of its analysis. ``dirty_from`` is the lowest position that changed
    since the last analysis, null when that is up to date.
    """

    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, related_name="series", db_index=False
    )  # series_once begins with it
    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="series")
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="series")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="series")
    variant = models.ForeignKey(
        Variant, on_delete=models.PROTECT, null=True, blank=True, related_name="series"
    )
    own_better = models.CharField(
        "better",
        max_length=4,
        choices=Metric.Better,
        blank=True,
        help_text="Which way is better here, where it differs from the metric's.",
    )
    version = models.BigIntegerField(default=0)
    dirty_from = models.BigIntegerField(null=True, blank=True)
    dirty_since = models.DateTimeField(null=True, blank=True)
    session_starts: Any = models.JSONField(
        null=True,
        editable=False,
        help_text="Where sessions from elsewhere begin stretches of their own; null: none does.",
    )

    objects = SeriesQuerySet.as_manager()

    class Meta:
        ordering = ["tree", "hardware", "mode", "metric"]
        verbose_name_plural = "series"
        constraints = [
            models.UniqueConstraint(
                fields=["tree", "hardware", "mode", "metric", "variant"],
                nulls_distinct=False,
                name="series_once",
            ),
            models.CheckConstraint(
                condition=Q(dirty_from__isnull=True, dirty_since__isnull=True)
                | Q(dirty_from__isnull=False, dirty_since__isnull=False),
                name="series_dirty_from_and_since",
            ),
            models.CheckConstraint(
                condition=Q(own_better__in=["", "more", "less"]), name="series_better_known"
            ),
        ]
        indexes = [
            models.Index(
                fields=["dirty_since"],
                name="series_to_analyse",
                condition=Q(dirty_from__isnull=False),
            )
        ]

    def __str__(self) -> str:
        tree = f"{self.tree}~{self.variant}" if self.variant_id else str(self.tree)
        return f"{tree} {self.hardware} {self.mode} {self.metric}"

    @property
    def is_plain(self) -> bool:
        """Whether it is of the kernel as its tree has it."""
        return self.variant_id is None

    @property
    def begun_sessions(self) -> dict[int, ForeignSession]:
        """The sessions from elsewhere that begin stretches of their own, by position."""
        return {one["position"]: ForeignSession.from_data(one) for one in self.session_starts or ()}

    @property
    def is_cost(self) -> bool:
        """Whether it is what an option costs (its metric must be loaded), not what was uploaded."""
        return self.metric.is_cost

    @property
    def subject(self) -> str:
        """What a sentence calls it (`subject_text`)."""
        return subject_text(self.mode, self.metric)

    @property
    def mode_text(self) -> str:
        """The same where its metric is named already."""
        return self.subject if self.is_cost else str(self.mode)

    @property
    def better(self) -> Better:
        """As set for this series, else for its metric, which must be loaded."""
        return better_of(self.own_better, self.metric)


def better_of(own: str, metric: Metric) -> Better:
    """Which way is better in a series: its own where it has one, else its metric's."""
    return "less" if (own or metric.better) == "less" else "more"


USUAL_METRIC = "pps"
"""Packets a second, which a network lab measures in every mode: its name is left out."""


def subject_text(mode: Mode, metric: Metric) -> str:
    """What a sentence calls a series: its mode where the metric is the usual one, else ``read_iops
    of fio.randread``, or ``cost of VIMAGE in forwarding``.
    """
    if not metric.is_cost:
        return str(mode) if metric.name == USUAL_METRIC else f"{metric.name} of {mode}"
    return f"cost of {metric.option} in {mode.parts.without(metric.option)}"


class PointQuerySet(models.QuerySet["Point"]):
    """Points along their tree."""

    def of_series(self, series: Series | int) -> Self:
        """Points of one series, along the tree."""
        return self.filter(series=series).order_by("position")

    def of_all(self, series: Iterable[Series | int], *, since: int = 0) -> Self:
        """The points of several series from the position ``since`` on."""
        return self.filter(series__in=list(series), position__gte=since).along_the_tree()

    def in_windows(self, series: Iterable[Series]) -> Self:
        """The points of series that come from `series_in_windows`, from the start of each on."""
        windows = [(each.pk, each.window_start) for each in series]  # type: ignore[attr-defined]
        bounded = [Q(series=pk, position__gte=start) for pk, start in windows if start is not None]
        whole = Q(series__in=[pk for pk, start in windows if start is None])
        return self.filter(reduce(or_, bounded, whole)).along_the_tree()

    def at_places(self, places: Mapping[int, Iterable[int]]) -> Self:
        """Points of series (by id) at some positions of each."""
        wanted = (Q(is_one_of("position", its), series=pk) for pk, its in places.items())
        return self.filter(reduce(or_, wanted, Q(pk__in=()))).along_the_tree()

    def with_own_units(self) -> Self:
        """With ``packed_levels``, of which a chart of thousands of points reads no more than the
        units that the interval of each rests on (`own_units`), and ``beside``, ``uploads`` and
        ``left_out`` as ``…_text``, JSON as it is written.
        """
        return self.annotate(
            packed_levels=Cast("levels", models.BinaryField()),
            beside_text=Cast("beside", models.TextField()),
            uploads_text=Cast("uploads", models.TextField()),
            left_out_text=Cast("left_out", models.TextField()),
        )

    def of_revision(self, revision: Revision) -> Self:
        """Points of one revision."""
        return self.filter(revision=revision)

    def that_agree(self) -> Self:
        """Points that take part in findings: their runs differ by no more than noise, and their
        session does not stand beside the series.
        """
        return self.filter(disagrees=False, beside__isnull=True)

    def that_disagree(self) -> Self:
        """Points that wait until a run is withdrawn or a person decides."""
        return self.filter(disagrees=True)

    def with_subjects(self) -> Self:
        """With everything a cell of a table names."""
        return self.select_related(
            "series__tree",
            "series__hardware__lab",
            "series__mode",
            "series__metric",
            "series__variant",
        )

    def plain(self) -> Self:
        """Points of plain kernels."""
        return self.filter(series__variant__isnull=True)

    def of_variants(self) -> Self:
        """Points of kernels with patches, of images and of vendors' branches."""
        return self.filter(series__variant__isnull=False)

    def along_the_tree(self) -> Self:
        """By series, and then in the order of the tree."""
        return self.order_by("series_id", "position")


class Point(models.Model):
    """One revision of a series: its samples pooled."""

    # The key and the indexes below serve these; a second index each would only slow uploads. The
    # key begins with the revision: new ones fill the last page of its index.
    pk = models.CompositePrimaryKey("revision_id", "series_id")
    series = models.ForeignKey(
        Series, on_delete=models.CASCADE, related_name="points", db_index=False
    )
    revision = models.ForeignKey(
        Revision, on_delete=models.PROTECT, related_name="points", db_index=False
    )
    position = models.BigIntegerField()
    n = models.IntegerField()
    runs = models.IntegerField()
    builds = models.IntegerField()
    boots = models.IntegerField(null=True, help_text="Null where a run did not tell its boots.")
    mean = models.FloatField()
    median = models.FloatField()
    variance = models.FloatField(
        null=True, help_text="Sample variance (n - 1); null for one sample."
    )
    minimum = models.FloatField()
    maximum = models.FloatField()
    levels: Any = LevelsField(
        help_text="Mean and scatter by run, boot and build, and a digest of the builds."
    )
    disagrees = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its runs differ by more than their noise: it takes no part in findings.",
    )
    uploads: Any = models.JSONField(
        null=True,
        help_text="Each run apart, where their samples alone do not explain how they differ.",
    )
    sessions = ArrayField(
        models.CharField(max_length=300),
        null=True,
        help_text="Sessions of its runs; null: none of them names one.",
    )
    beside: Any = models.JSONField(
        null=True, help_text="Why its session stands beside the series; null: it does not."
    )
    left_out: Any = models.JSONField(
        null=True, help_text="How many samples of its runs do not count, and why; null: all count."
    )

    objects = PointQuerySet.as_manager()

    class Meta:
        ordering = ["series", "position"]
        constraints = [
            models.CheckConstraint(condition=Q(n__gte=1), name="point_has_a_sample"),
            models.CheckConstraint(
                condition=Q(minimum__lte=F("median"), median__lte=F("maximum")),
                name="point_median_inside",
            ),
        ]
        indexes = [
            models.Index(fields=["series", "position"], name="points_of_a_series"),
            models.Index(
                fields=["series"],
                name="points_of_uploads_apart",
                condition=Q(uploads__isnull=False),
            ),
            models.Index(
                fields=["series"], name="points_of_sessions", condition=Q(sessions__isnull=False)
            ),
            models.Index(
                fields=["revision"], name="points_that_disagree", condition=Q(disagrees=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id}: {self.median:g}"

    @property
    def summary(self) -> Summary:
        """What comparisons need of the samples: boots are units of runs, builds of boots."""
        return Summary.from_data(self.levels)

    @property
    def build_names(self) -> frozenset[str] | None:
        """The digest of its one build's id; None where it has several, of which it keeps one."""
        return frozenset({self.levels["identity"]}) if self.builds == 1 else None

    def is_of_the_builds_of(self, other: "Point") -> bool:
        """Whether both hold samples of the very same builds."""
        return bool(self.levels["identity"] == other.levels["identity"])

    @property
    def excluded(self) -> LeftOut | None:
        """The samples of its runs that do not count; None where all do."""
        return LeftOut.from_data(self.left_out)

    @property
    def session_apart(self) -> ForeignSession | None:
        """Why its session stands beside the series; None where it does not."""
        return None if self.beside is None else ForeignSession.from_data(self.beside)

    @property
    def stddev(self) -> float | None:
        """The standard deviation of the samples in their unit; None for one sample."""
        return None if self.variance is None else float(self.variance**0.5)
