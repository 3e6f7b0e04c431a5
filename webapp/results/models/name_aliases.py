"""Names of a lab that stand for other ones in a tree, a range of revisions or a directory."""

from typing import Self

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.bounds import HARDWARE_MAX
from webapp.results.models.history import Revision, Tree
from webapp.results.models.runs import Run
from webapp.results.models.subjects import Hardware, Mode

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
    A row is never deleted; one that was taken back says by whom and when.
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
