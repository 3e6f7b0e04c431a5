"""Points of a tree that people know by a name."""

import re
from typing import Self

from django.db import models

from webapp.results.models import Revision, Tree

RELEASE_NAME_MAX = 100
RELEASE_ID = re.compile(r"\d{1,3}(\.\d{1,3}){1,2}(-[A-Z]+\d{0,2})?(-p\d{1,3})?")


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Releases along their tree."""

    def of_tree(self, tree: Tree | int) -> Self:
        """Those of one tree with their revisions, the newest first."""
        found = self.filter(tree=tree).select_related("revision__tree")
        return found.order_by("-revision__position", "name")


class Release(models.Model):
    """A release of a tree, or the point at which a branch leaves it."""

    class Kind(models.TextChoices):
        RELEASE = "release", "release"
        BRANCH_POINT = "branch point", "branch point"

    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, related_name="releases", db_index=False
    )  # release_name_once_in_a_tree begins with it
    name = models.CharField(max_length=RELEASE_NAME_MAX, help_text="11.0, or stable/11")
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.RELEASE)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="releases")
    released_on = models.DateField("date", null=True, blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["tree", "name"]
        constraints = [
            models.UniqueConstraint(fields=["tree", "name"], name="release_name_once_in_a_tree"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["release", "branch point"]), name="release_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The path of the commit. Needs the revision and its tree loaded."""
        return self.revision.get_absolute_url()

    @property
    def ids(self) -> list[str]:
        """What kernels and labs call its revision where they tell no number: ``11.0`` and
        ``11.0-RELEASE``. Of a branch point, or one that has another kind of name: nothing."""
        if self.kind != self.Kind.RELEASE or not RELEASE_ID.fullmatch(self.name):
            return []
        return [self.name] if "-" in self.name else [self.name, f"{self.name}-RELEASE"]

    @property
    def title(self) -> str:
        """``release 11.0``, ``branch point stable/11``."""
        return f"{self.get_kind_display()} {self.name}"
