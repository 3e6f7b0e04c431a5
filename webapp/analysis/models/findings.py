"""Changes that the detector found."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Self

from django.db import models
from django.db.models import Case, F, Func, Max, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Abs, Coalesce, JSONObject

from webapp.analysis.models.analysis import Flag, SeriesSettings, Verdict
from webapp.results.models import Point, Revision, Run, Series, Tree
from webapp.stats.metrics import ALONE

SMALL = Q(
    change_pct__gt=-SeriesSettings.DEFAULT_MIN_EFFECT_PCT,
    change_pct__lt=SeriesSettings.DEFAULT_MIN_EFFECT_PCT,
)
"""Changes below the smallest that is worth an alert where nobody set another."""


class FindingQuerySet(models.QuerySet["Finding"]):
    """Findings by their state, and with what pages show of them."""

    def live(self) -> Self:
        """Findings that the present points show; the others are history."""
        return self.filter(state__in=Finding.LIVE)

    def on_display(self) -> Self:
        """The live ones, without those that recovered and may never have been: later revisions left
        them a size whose 95 % interval holds 0.
        """
        may_be_none = Q(low_pct__lt=0, high_pct__gt=0)
        return self.live().exclude(Q(state=Finding.State.RECOVERED) & may_be_none)

    def shown_alone(self) -> Self:
        """Without the excursions that count only where several modes of their machine agree."""
        is_faint = Q(kind=Finding.Kind.EXCURSION, score__lt=ALONE)
        return self.exclude(is_faint & Q(membership__isnull=True))

    def proven(self) -> Self:
        """Findings that no later points took back."""
        return self.filter(state__in=Finding.PROVEN)

    def last_changes(self, series: Iterable[Series | int]) -> dict[int, tuple[int, float]]:
        """For each of some series that changed: the position of its last proven change (of those
        as large as an alert asks for, where there are such), and the size of the largest in percent
        (infinite beyond the double range); in one query.
        """
        rows = (
            self.on_display()
            .proven()
            .filter(series__in=list(series))
            .order_by()
            .values("series_id")
            .annotate(
                last=Coalesce(Max("position", filter=~SMALL), Max("position")),
                size=Max(Abs("change_pct")),
            )
        )
        return {row["series_id"]: (row["last"], row["size"] or inf) for row in rows}

    def last_changed(self) -> tuple[str, str] | None:
        """The names of tree and metric of the proven change detected last, on a real machine where
        there is one, and as large as an alert asks for where one is; None where nothing changed. In
        one query.
        """
        return (
            self.on_display()
            .proven()
            .filter(series__variant=None, series__metric__of=None)
            .annotate(is_small=Case(When(SMALL, then=1), default=0))
            .order_by("series__hardware__lab__simulated", "is_small", "-first_detected_at", "-pk")
            .values_list("series__tree__name", "series__metric__name")
            .first()
        )

    def with_builds(self) -> Self:
        """Each with ``build``, the build that its likeliest revision was measured with."""
        runs = (
            Run.objects.counted()
            .plain()
            .filter(
                revision=OuterRef("revision"),
                hardware=OuterRef("series__hardware"),
                mode=OuterRef("series__mode"),
            )
        )
        builds = runs.order_by("kernel__build_id").values("kernel__build_id")
        return self.annotate(build=Subquery(builds[:1]))

    def with_today(self) -> Self:
        """Each with ``today``: what its series has lost now (`Finding.Today`)."""
        newest = Point.objects.filter(series=OuterRef("series")).order_by("-position")
        return self.annotate(
            today=JSONObject(
                stands=F("series__analysis__summary__net_loss"),
                levels=Func(
                    F("series__analysis__summary__segments"),
                    function="jsonb_array_length",
                    output_field=models.IntegerField(),
                ),
                newest=Subquery(newest.values("mean")[:1]),
            )
        )

    def of_revision(self, revision: Revision) -> Self:
        """Findings whose likeliest first revision it is."""
        return self.filter(revision=revision)

    def suspecting(self, tree: Tree, position: int) -> Self:
        """Findings of a tree whose interval of suspects holds ``position``, tested or not."""
        return self.filter(
            series__tree=tree, after__position__lt=position, last__position__gte=position
        )

    def of_all(self, series: Iterable[Series | int]) -> Self:
        """Findings of some series, by series and along the tree."""
        return self.filter(series__in=list(series)).order_by("series_id", "position")

    def revisions_lately(self, verdict: str, limits: Mapping[str, int]) -> list[int]:
        """Ids of revisions with such a finding, each once, by one query: of each of the two or
        more states of ``limits``, in their order, the last so many by commit time, else place.
        """
        newest = (F("revision__committed_at").desc(nulls_last=True), "-revision__position")
        parts = [
            self.filter(state=state, verdict=verdict)
            .annotate(rank=Value(rank))
            .values("rank", "revision__committed_at", "revision__position", "revision_id")
            .order_by(*newest, "revision_id")
            .distinct()[:limit]
            for rank, (state, limit) in enumerate(limits.items())
        ]
        rows = parts[0].union(*parts[1:], all=True).order_by("rank", *newest, "revision_id")
        return list(dict.fromkeys(row["revision_id"] for row in rows))

    def with_revisions(self) -> Self:
        """With every revision that a sentence about a finding names."""
        return self.select_related(
            "revision", "previous", "after", "first", "last", "confirmed_by", "recovered_by"
        )

    def with_subjects(self) -> Self:
        """With the parts of their series, the lab included."""
        return self.select_related(
            "series__tree", "series__hardware__lab", "series__mode", "series__metric"
        )


AllKinds = models.Manager.from_queryset(FindingQuerySet)


class LevelManager(AllKinds["Finding"]):
    """Changes of level alone: what may have one commit to blame."""

    def get_queryset(self) -> FindingQuerySet:
        """Only these; the others are asked for by name (``all_kinds``)."""
        return FindingQuerySet(self.model, using=self._db).filter(kind=Finding.Kind.LEVEL)


class Finding(models.Model):
    """What was found in one series, mostly a change of level: ``objects`` are these alone.

    Of other kinds (``all_kinds``) no commit is blamed. An *excursion* is ``revision`` alone, and
    recovered; from ``revision`` on another *noise* or other shares of the *modes* of runs are seen,
    whose figures are in ``details``; a *slow* change goes on from ``previous`` to ``revision``.

    Of a change of level the suspects are the commits later than ``after`` up to and including
    ``last`` (95 %); ``revision`` is the likeliest first one at the new level, ``here`` its
    probability given that the change is real, ``probability`` that of being real. Percentages are
    new level against old.
    ``first_detected_at`` is never rewritten; the rest is where the finding stands now, and its
    events show how it came there. It is recovered when a later confirmed finding of the opposite
    direction took at least 75 % of it back: ``recovered_by`` is the likeliest revision of that.
    It is superseded when the points show the same by another finding, ``superseded_by``.
    ``one_build`` holds what a loss was judged by that rests, or rested, on so few builds that the
    series does not show how they scatter (`webapp.stats.single_build`); null: the detector found
    it.
    """

    class State(models.TextChoices):
        CANDIDATE = "candidate", "candidate"
        ONE_BUILD = "one build", "one build a side"
        CONFIRMED = "confirmed", "confirmed"
        RECOVERED = "recovered", "recovered"
        SUPERSEDED = "superseded", "superseded"
        RETRACTED = "retracted", "retracted"

    class Kind(models.TextChoices):
        LEVEL = "level", "change of level"
        EXCURSION = "excursion", "excursion"
        NOISE = "noise", "change of noise"
        MODES = "modes", "change of modes of runs"
        SLOW = "slow", "slow change"

    PROVEN = (State.CONFIRMED, State.RECOVERED)
    ALERTED = (State.ONE_BUILD, *PROVEN)
    LIVE = (State.CANDIDATE, *ALERTED)

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(
        max_length=9, choices=Kind, default=Kind.LEVEL, db_default=Value(Kind.LEVEL.value)
    )
    state = models.CharField(max_length=10, choices=State)
    verdict = models.CharField(max_length=12, choices=Verdict)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="findings")
    previous = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    first = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    last = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    confirmed_by = models.ForeignKey(
        Revision, on_delete=models.CASCADE, null=True, related_name="+"
    )
    recovered_by = models.ForeignKey(
        Revision, on_delete=models.CASCADE, null=True, related_name="+"
    )
    superseded_by = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, related_name="supersedes"
    )
    position = models.BigIntegerField(help_text="Of the likeliest first revision.")
    here = models.FloatField()
    change_pct = models.FloatField(
        null=True, help_text="Null: beyond the double range, or of a change of noise."
    )
    low_pct = models.FloatField(null=True)
    high_pct = models.FloatField(null=True)
    level_before = models.FloatField(help_text="In the metric's unit.")
    level = models.FloatField(help_text="In the metric's unit.")
    revisions_before = models.IntegerField()
    revisions_after = models.IntegerField()
    score = models.FloatField(help_text="Evidence, in standard deviations.")
    needed = models.FloatField(help_text="The limit it had to pass.")
    p_value = models.FloatField(help_text="Of the scan, under no change; ranks alerts.")
    probability = models.FloatField()
    why = models.TextField(help_text="The rule and its figures, as a sentence.")
    locations: Any = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        help_text="Where it may have begun: position, name and probability of each revision.",
    )
    details: Any = models.JSONField(
        default=dict,
        db_default=Value({}, models.JSONField()),
        help_text="Ratio of a change of noise; shares and gap of modes; parts of a slow change.",
    )
    one_build: Any = models.JSONField(null=True, help_text="Null: found by the detector.")
    detector = models.IntegerField(help_text="The version of the method.")
    first_detected_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    all_kinds = AllKinds()
    objects = LevelManager()

    class Meta:
        ordering = ["series", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["series", "revision", "kind"],
                name="finding_once_at_a_revision",
                condition=Q(state__in=["candidate", "one build", "confirmed", "recovered"]),
            ),
            models.CheckConstraint(
                condition=Q(state="recovered", recovered_by__isnull=False)
                | (~Q(state="recovered") & Q(recovered_by__isnull=True)),
                name="finding_recovered_by_a_revision",
            ),
            models.CheckConstraint(
                condition=Q(state="superseded", superseded_by__isnull=False)
                | (~Q(state="superseded") & Q(superseded_by__isnull=True)),
                name="finding_superseded_by_another",
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=["better", "worse"]), name="finding_better_or_worse"
            ),
            models.CheckConstraint(
                condition=Q(here__range=(0, 1), probability__range=(0, 1), p_value__range=(0, 1)),
                name="finding_probabilities",
            ),
            models.CheckConstraint(
                condition=~Q(revision=F("previous")), name="finding_between_two_revisions"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["level", "excursion", "noise", "modes", "slow"]),
                name="finding_of_a_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.series_id}@{self.position}: {self.kind}, {self.verdict} ({self.state})"

    @property
    def parts(self) -> list[tuple[str, str, float]]:
        """Of a slow change the parts that hold most of it: after and up to which revision (names),
        and percent. None where it went evenly.
        """
        parts = self.details.get("parts", ())
        return [(one["after"], one["up_to"], one["change_pct"]) for one in parts]

    @property
    def flag(self) -> Flag:
        """What it makes of its revision."""
        return Flag.REGRESSED if self.verdict == Verdict.WORSE else Flag.IMPROVED


class FindingEventQuerySet(models.QuerySet["FindingEvent"]):
    """The log of findings."""

    def newest_of(self, findings: Iterable[int]) -> Self:
        """The last event of each finding."""
        ordered = self.filter(finding__in=list(findings)).order_by("finding_id", "-pk")
        return ordered.distinct("finding_id")


class FindingEvent(models.Model):
    """What became of a finding at one analysis, and where it stood then. Rows are only added.

    The present finding is a function of the points; these rows have the order in which the points
    came, so two labs that uploaded the same runs differently have other rows and equal findings.
    A candidate that came to nothing goes with its rows.
    """

    class Kind(models.TextChoices):
        DETECTED = "detected", "detected"
        CONFIRMED = "confirmed", "confirmed"
        MOVED = "moved", "moved to another revision"
        REFINED = "refined", "other suspects"
        RESIZED = "resized", "size outside the interval said before"
        RECOVERED = "recovered", "recovered"
        RETURNED = "returned", "no longer recovered"
        DOUBTED = "doubted", "a candidate again"
        SUPERSEDED = "superseded", "superseded by another finding"
        RETRACTED = "retracted", "retracted"

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=Finding.State)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    last = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    change_pct = models.FloatField(null=True)
    low_pct = models.FloatField(null=True)
    high_pct = models.FloatField(null=True)
    probability = models.FloatField()

    objects = FindingEventQuerySet.as_manager()

    class Meta:
        ordering = ["finding", "pk"]

    def __str__(self) -> str:
        return f"finding {self.finding_id}: {self.kind}"
