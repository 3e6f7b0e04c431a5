"""Bisects: what is searched, with what means, and what came of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, Union

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertHold
from webapp.bisects.path_patterns import PathPattern, PatternsError, read_patterns
from webapp.results.models import Revision, Series, Tree


class BisectQuerySet(models.QuerySet["Bisect"]):
    """Bisects by state and by what they are about."""

    def running(self) -> Self:
        """Those that have not ended, paused and starved ones included."""
        return self.exclude(state__in=Bisect.ENDED)

    def in_state(self, state: str) -> Self:
        """Those in ``state``; ``running`` means every one that has not ended, ``all`` any."""
        if state == "all":
            return self
        return self.running() if state == "running" else self.filter(state=state)

    def about(self, *, tree: str = "", hardware: str = "", alert: int = 0) -> Self:
        """Those of a tree, of hardware, of an alert, where given."""
        wanted = {
            "series__tree__name": tree,
            "series__hardware__name": hardware,
            "alert": alert,
        }
        return self.filter(**{field: value for field, value in wanted.items() if value})

    def with_subjects(self) -> Self:
        """With everything a line about a bisect names."""
        return self.select_related(
            "series__tree",
            "series__hardware__lab",
            "series__mode",
            "series__metric",
            "good",
            "bad",
            "culprit",
            "alert",
            "created_by",
        )

    def naming(self, revision: Revision) -> Self:
        """Those that ended with the one commit ``revision``."""
        return self.filter(culprit=revision, outcome=Bisect.Outcome.SINGLE)


class Bisect(models.Model):
    """The search for the first bad commit after ``good`` up to ``bad``, in one series.

    ``along`` are the ids of the revisions from good to bad as they were known at the start, in
    their order: the index of a revision in it is what the statistics call it, so a history that is
    imported later changes nothing of what was decided. ``effect_pct`` is the step that was alerted
    (signed, percent of the level before). ``noise`` is what the series' own history showed at the
    start. Before the revisions at the indices ``gaps`` others may lie that were not known then:
    each stands for a range. The present decision of an ended bisect is its answer: ``suspects`` are
    the ids of the revisions that together hold 95 % of the probability, ``probability`` that of the
    likeliest. Its number is its primary key. ``version`` grows with everything that changes.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        VALIDATING = "validating", "validating"
        SEARCHING = "searching", "searching"
        CONFIRMING = "confirming", "confirming"
        DONE = "done", "done"
        PAUSED = "paused", "paused"
        STARVED = "starved", "starved"
        CANCELLED = "cancelled", "cancelled"

    ENDED = (State.DONE, State.CANCELLED)

    class Outcome(models.TextChoices):
        SINGLE = "single", "one commit"
        RANGE = "range", "a range of commits"
        TWO_STEPS = "two steps", "two steps"
        NOT_REPRODUCED = "not reproduced", "not reproduced"
        OUTSIDE = "outside the range", "outside the range"
        INCONCLUSIVE = "inconclusive", "inconclusive"
        SUSPECTED = "machine or noise suspected", "the machine or the noise is suspected"
        LAB_FAILED = "lab failed", "the lab failed"

    number, alerted = 0, True
    """Its own series is the first of those that it measures, and has the alert."""

    REPRODUCED = (Outcome.SINGLE, Outcome.RANGE, Outcome.TWO_STEPS)

    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="bisects")
    good = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    bad = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    alert = models.ForeignKey(
        Alert, on_delete=models.SET_NULL, null=True, blank=True, related_name="bisects"
    )
    hold = models.OneToOneField(
        AlertHold, on_delete=models.SET_NULL, null=True, blank=True, related_name="bisect"
    )
    along = ArrayField(models.BigIntegerField())
    effect_pct = models.FloatField(help_text="The alerted step, percent of the level before.")
    noise: Any = models.JSONField(help_text="As at the start; fields of webapp.stats.bisection.")
    gaps = ArrayField(
        models.IntegerField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Indices of the revisions whose parent was not known at the start.",
    )
    companions: Any = models.JSONField(
        default=list,
        blank=True,
        help_text="Series that the same boots measure: id, name, scatter, whether commits move it.",
    )
    manual = models.BooleanField(default=False, help_text="People measure; no job is requested.")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    outcome = models.CharField(max_length=26, choices=Outcome, blank=True)
    culprit = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, blank=True, related_name="named_by_bisects"
    )
    probability = models.FloatField(null=True, blank=True)
    suspects = ArrayField(models.BigIntegerField(), default=list, blank=True)
    weights = ArrayField(
        models.FloatField(),
        null=True,
        blank=True,
        help_text="Prior weight of each candidate; null: all are as likely.",
    )
    unlikely: Any = models.JSONField(
        default=dict, blank=True, help_text="Index of each candidate of less weight, and why."
    )
    likelier: Any = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Index of each candidate of more weight by profiles, and why.",
    )
    runs = models.IntegerField(default=1, help_text="In each boot that is asked for.")
    build_hours = models.FloatField(help_text="What a build is expected to take.")
    boot_hours = models.FloatField(help_text="What a boot with its runs is expected to take.")
    can_rebuild = models.BooleanField(default=False)
    most_boots = models.IntegerField(help_text="The budget: boots that may be asked for.")
    most_hours = models.FloatField(null=True, blank=True, help_text="Machine-hours; null: any.")
    deadline = models.DateTimeField(null=True, blank=True)
    forecast: Any = models.JSONField(default=dict, blank=True, help_text="As at the start.")
    created_by = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="bisects",
        help_text="Null: started by Driftline itself.",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    version = models.BigIntegerField(default=1)

    objects = BisectQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "series"],
                condition=Q(created_by__isnull=True),
                name="bisect_started_itself_once",
            ),
            models.CheckConstraint(condition=~Q(good=F("bad")), name="bisect_between_two"),
            models.CheckConstraint(condition=~Q(effect_pct=0), name="bisect_of_a_step"),
            models.CheckConstraint(
                condition=Q(state="done") & ~Q(outcome="") | ~Q(state="done") & Q(outcome=""),
                name="bisect_done_with_an_outcome",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="single") | Q(culprit__isnull=False),
                name="bisect_names_its_culprit",
            ),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__range=(0, 1)),
                name="bisect_probability",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["done", "cancelled"], ended_at__isnull=False)
                | ~Q(state__in=["done", "cancelled"]) & Q(ended_at__isnull=True),
                name="bisect_ended_at_a_moment",
            ),
            models.CheckConstraint(condition=Q(most_boots__gte=1), name="bisect_has_a_boot"),
        ]
        indexes = [
            models.Index(
                fields=["-id"],
                name="bisects_running",
                condition=~Q(state__in=["done", "cancelled"]),
            )
        ]

    def __str__(self) -> str:
        return f"bisect {self.pk}"

    def get_absolute_url(self) -> str:
        """The path of the bisect's page."""
        return reverse("bisect", args=[self.pk])

    @property
    def state_text(self) -> str:
        """``searching``; ``done: one commit``."""
        state = self.get_state_display()
        return f"{state}: {self.get_outcome_display()}" if self.outcome else state

    @property
    def has_ended(self) -> bool:
        """Whether it is done or cancelled."""
        return self.state in Bisect.ENDED

    @property
    def last_index(self) -> int:
        """The index of ``bad``; the candidates are 1 up to it."""
        return len(self.along) - 1

    @cached_property
    def scopes(self) -> Sequence[Union["Bisect", "BisectSubject"]]:
        """What it measures: its own series, then those of its further machines and modes."""
        if self._state.adding:
            return [self]
        parts = ("tree", "hardware__lab", "mode", "metric")
        return [self, *self.subjects.select_related(*(f"series__{part}" for part in parts))]

    @property
    def is_of_several(self) -> bool:
        """Whether several machines or modes look for the commit together."""
        return len(self.scopes) > 1


class BisectSubject(models.Model):
    """A further series of a bisect, by its ``number``; the bisect's own is number 0.

    ``effect_pct`` is that of its finding, or what the bisect looks for where it has none
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


def validate_patterns(text: str) -> None:
    """For forms: every line that is no pattern, by its number."""
    try:
        read_patterns(text)
    except PatternsError as error:
        raise ValidationError([*error.problems]) from error


class BisectSettings(models.Model):
    """Whether bisects start by themselves, and what they may cost; empty fields: the default."""

    DEFAULT_BOOTS = 60
    DEFAULT_MACHINE_HOURS = 48.0

    tree = models.OneToOneField(
        Tree, on_delete=models.CASCADE, primary_key=True, related_name="bisect_settings"
    )
    automatic = models.BooleanField(
        default=False, help_text="Start one for each alert that is open and has several suspects."
    )
    confirm_candidates = models.BooleanField(
        default=False,
        help_text="Have agents boot each candidate and the revision before it once more.",
    )
    most_boots = models.IntegerField(
        null=True, blank=True, help_text=f"Boots that one may ask for (default {DEFAULT_BOOTS})."
    )
    most_hours = models.FloatField(
        null=True,
        blank=True,
        help_text=f"Machine-hours that one may use (default {DEFAULT_MACHINE_HOURS:g}).",
    )
    command = models.TextField(
        blank=True,
        help_text="What a person runs to measure a revision by hand, with {revision}, {hardware}, "
        "{mode} and {metric}. Empty: the checkout of the revision alone.",
    )

    unlikely_paths = models.TextField(
        blank=True,
        validators=[validate_patterns],
        help_text="Paths that cannot matter, a pattern a line as in .gitignore: share/man/, *.md, "
        "/sys/arm64/. A commit that touches nothing else is an unlikely suspect.",
    )

    class Meta:
        verbose_name_plural = "bisect settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(most_boots__isnull=True) | Q(most_boots__range=(1, 10_000)),
                name="bisect_settings_boots_1_to_10000",
            ),
            models.CheckConstraint(
                condition=Q(most_hours__isnull=True) | Q(most_hours__gt=0, most_hours__lte=10_000),
                name="bisect_settings_hours_to_10000",
            ),
        ]

    def __str__(self) -> str:
        return f"bisects of {self.tree_id}"

    @property
    def budget_of_boots(self) -> int:
        """How many boots a bisect may cost at most."""
        return self.most_boots or BisectSettings.DEFAULT_BOOTS

    @property
    def unlikely_patterns(self) -> list[PathPattern]:
        """Raises PatternsError where what is stored was never validated."""
        return read_patterns(self.unlikely_paths)

    @property
    def budget_of_hours(self) -> float:
        """How many machine hours a bisect may cost at most."""
        return self.most_hours or BisectSettings.DEFAULT_MACHINE_HOURS
