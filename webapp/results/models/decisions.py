"""Runs whose kernel and names say two different commits, and what was decided of them, of marked
samples and of runs that disagree; and names of a lab that stand for other ones in a tree, a range
of revisions or a directory.
"""

from collections.abc import Iterable
from typing import Any, Self

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import models
from django.db.models import Count, Min, Q, Value

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.bounds import HARDWARE_MAX
from webapp.results.models.history import Revision, Tree
from webapp.results.models.runs import Measurement, Run
from webapp.results.models.subjects import Hardware, Mode


class Choice(models.TextChoices):
    """Which side to believe."""

    KERNEL = "kernel", "the kernel"
    LABEL = "label", "image or label"
    NONE = "none", "neither: leave the runs out"


class IdentityRule(models.Model):
    """What an operator decided once for all runs of a lab whose label fits a pattern.

    ``pattern`` is matched against the whole label, capitals and all: ``*`` stands for anything.
    """

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="identity_rules")
    pattern = models.CharField(
        "label", max_length=300, help_text="Of the result directory: * stands for anything."
    )
    believe = models.CharField(max_length=6, choices=Choice)
    created_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, editable=False, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["lab", "pattern"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "pattern"], name="identity_rule_once"),
            models.CheckConstraint(condition=~Q(pattern=""), name="identity_rule_has_a_pattern"),
        ]

    def __str__(self) -> str:
        return f"{self.pattern}: {self.get_believe_display()}"


class WaitingRunQuerySet(models.QuerySet["WaitingRun"]):
    """Runs that wait or waited."""

    def open(self) -> Self:
        """Waiting runs that still wait."""
        return self.filter(decided_at__isnull=True)

    def decided(self) -> Self:
        """Waiting runs that no longer wait, the last decision first."""
        return self.filter(decided_at__isnull=False).order_by("-decided_at", "pk")

    def alike(self) -> Any:
        """One row for each directory on each hardware whose runs name the same commits, the ones
        that wait longest first: their number, the UUIDs of some and since when.
        """
        by = ("run__revision__tree__name", "run__hardware__name", "label", "candidates")
        return (
            self.order_by()
            .values(*by)
            .annotate(
                count=Count("pk"),
                first=Min("since"),
                uuids=ArrayAgg("run__uuid", order_by="run__uuid"),
                modes=ArrayAgg("run__mode__name", order_by="run__uuid"),
            )
            .order_by("first", *by)
        )

    def as_one(self, other: "WaitingRun", *, in_its_directory: bool) -> Self:
        """Waiting runs of the tree and lab of ``other`` that name the same commits by the same
        sides: of its hardware and directory, or of all.
        """
        found = self.filter(
            run__revision__tree=other.run.revision.tree_id,
            run__hardware__lab=other.run.hardware.lab_id,
        )
        if in_its_directory:
            return found.filter(
                run__hardware=other.run.hardware_id, label=other.label, candidates=other.candidates
            )
        for number, one in enumerate(other.candidates):
            found = found.filter(**{f"candidates__{number}__revision": one["revision"]})
        return found

    def with_subjects(self) -> Self:
        """With everything a row of the page names."""
        return self.select_related("run__revision__tree", "run__hardware__lab", "run__mode")


class WaitingRun(models.Model):
    """A run that takes no part in anything until somebody decides which commit it measured.

    ``candidates`` (two or more of ``revision``, ``source``, ``text``) are what the evidence names.
    The run itself is withdrawn meanwhile. A row is never deleted: one that was decided keeps what
    was chosen, by whom or by which rule; nothing chosen means that the run stays out. When it is
    taken back, the run waits again, and the decision is kept among the ``former``.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="waiting"
    )
    candidates: Any = models.JSONField()
    label = models.CharField(max_length=300, blank=True)
    since = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    rule = models.CharField(max_length=300, blank=True, help_text="The rule that decided.")
    chosen = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    former: Any = models.JSONField(
        default=list, db_default=Value([], models.JSONField()), help_text="Decisions taken back."
    )

    objects = WaitingRunQuerySet.as_manager()

    class Meta:
        ordering = ["since", "run"]
        constraints = [
            models.CheckConstraint(
                condition=Q(decided_at__isnull=False)
                | Q(decided_by__isnull=True, rule="", chosen__isnull=True),
                name="waiting_run_decided_at_a_time",
            )
        ]
        indexes = [
            models.Index(
                fields=["since"], name="runs_that_wait", condition=Q(decided_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"run {self.run_id} waits"

    @property
    def is_open(self) -> bool:
        """Whether it still waits."""
        return self.decided_at is None

    def of(self, choice: str) -> str | None:
        """The revision that ``choice`` means (a candidate's, or one of ``Choice``), else None."""
        for one in self.candidates:
            is_side = (one["source"] == "kernel") == (choice == Choice.KERNEL)
            if one["revision"] == choice or (choice in (Choice.KERNEL, Choice.LABEL) and is_side):
                return str(one["revision"])
        return None


class SampleDecisionQuerySet(models.QuerySet["SampleDecision"]):
    """Decisions, and which of them are in force."""

    def in_force(self) -> "SampleDecisionQuerySet":
        """Those that nobody took back."""
        return self.filter(undone_at__isnull=True)

    def of_all(self, measurements: Iterable[Measurement]) -> "dict[int, SampleDecision]":
        """What is in force, by the measurement (id) it is about."""
        rows = self.in_force().filter(measurement__in=list(measurements))
        return {row.measurement_id: row for row in rows.select_related("decided_by")}


class SampleDecision(models.Model):
    """Somebody decided that the marked samples of a run count in one metric, or that they do not.

    ``rule`` (``undone_rule``) names who decided (took it back) where that was no person. A row is
    never deleted; one taken back, or replaced by another decision, keeps by whom and when.
    """

    class Choice(models.TextChoices):
        """What is to become of the marked samples."""

        COUNT = "count", "count"
        LEAVE_OUT = "leave_out", "leave out"

    measurement = models.ForeignKey(Measurement, on_delete=models.CASCADE, related_name="decisions")
    choice = models.CharField(max_length=9, choices=Choice)
    decided_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    rule = models.CharField(max_length=300, blank=True)
    decided_at = models.DateTimeField()
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    undone_rule = models.CharField(max_length=300, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = SampleDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["measurement"],
                condition=Q(undone_at__isnull=True),
                name="samples_decided_once_of_a_measurement",
            ),
            models.CheckConstraint(
                condition=Q(choice__in=["count", "leave_out"]), name="sample_decision_known"
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=False) | ~Q(rule=""),
                name="sample_decided_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_choice_display()} the marked samples of {self.measurement}"

    @property
    def who(self) -> str:
        """Who decided."""
        return str(self.decided_by or self.rule)


class PoolingDecisionQuerySet(models.QuerySet["PoolingDecision"]):
    """Decisions, and which of them are in force."""

    def in_force(self) -> "PoolingDecisionQuerySet":
        """Those that nobody took back."""
        return self.filter(undone_at__isnull=True)


class PoolingDecision(models.Model):
    """Somebody decided that these runs of one revision count together, though they disagree.

    ``key`` is of their UUIDs and contents: it holds for this set of runs and no other. A row is
    never deleted; one that was taken back keeps by whom and when.
    """

    key = models.CharField(max_length=32)
    runs: Any = models.JSONField(help_text="The UUIDs of the runs.")
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    decided_at = models.DateTimeField()
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = PoolingDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(undone_at__isnull=True),
                name="pooling_decided_once_of_the_same_runs",
            ),
            models.CheckConstraint(
                condition=Q(undone_at__isnull=True, undone_by__isnull=True)
                | Q(undone_at__isnull=False, undone_by__isnull=False),
                name="pooling_decision_undone_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{len(self.runs)} runs count together"


DIRECTORY_MAX = 300


class NameAliasQuerySet(models.QuerySet["NameAlias"]):
    """Aliases, and which of them hold."""

    def in_force(self) -> Self:
        """Aliases that nobody took back."""
        return self.filter(undone_at__isnull=True)

    def with_range(self) -> Self:
        """Aliases that hold from or up to a revision."""
        return self.filter(Q(first__isnull=False) | Q(last__isnull=False))

    def named(self) -> Self:
        """With everything a row of the list names."""
        return self.select_related("lab", "tree", "first", "last", "made_by", "undone_by")


class NameAlias(models.Model):
    """Within a lab, ``name`` stands for ``means``: in one tree or all, from ``first`` to ``last``
    (both included, null: open), and where ``directory``, a pattern, fits the result directory, its
    last part or the session (empty: everywhere).

    Applied by the server when a run is filed, and to stored runs when the alias is made or undone.
    A row is never deleted; one that was taken back keeps by whom and when.
    """

    class Kind(models.TextChoices):
        WORKLOAD = "workload", "workload"
        TRAFFIC = "traffic", "traffic"
        OPTION = "option", "option"
        HARDWARE = "hardware", "hardware"

    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="name_aliases")
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=HARDWARE_MAX)
    means = models.CharField("stands for", max_length=HARDWARE_MAX)
    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    first = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    last = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    directory = models.CharField(
        max_length=DIRECTORY_MAX, blank=True, help_text="* stands for anything."
    )
    moved = models.PositiveIntegerField(help_text="How many stored runs it moved when it was made.")
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    made_at = models.DateTimeField()
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = NameAliasQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "name aliases"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["workload", "traffic", "option", "hardware"]),
                name="name_alias_kind_known",
            ),
            models.CheckConstraint(
                condition=~Q(name="") & ~Q(means="") & ~Q(name=models.F("means")),
                name="name_alias_of_two_names",
            ),
            models.CheckConstraint(
                condition=Q(tree__isnull=False) | Q(first__isnull=True, last__isnull=True),
                name="name_alias_range_on_a_tree",
            ),
            models.CheckConstraint(
                condition=Q(undone_at__isnull=True, undone_by__isnull=True)
                | Q(undone_at__isnull=False, undone_by__isnull=False),
                name="name_alias_undone_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} stands for {self.means}"

    @property
    def is_undone(self) -> bool:
        """Whether somebody took it back."""
        return self.undone_at is not None


class AliasedRun(models.Model):
    """A run that an alias files under other names than it was sent with: which those were.

    They are rows, so that a mode or hardware that is merged or renamed takes them along.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="aliased"
    )
    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="+")
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"run {self.run_id}, sent as {self.hardware_id} {self.mode_id}"
