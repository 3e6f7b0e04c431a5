"""Trees and their revisions."""

from typing import Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.results.revision_ids import HASH_PATTERN

MIN_HASH_PREFIX = 7


class Tree(models.Model):
    """One line of history of one source."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("commits", args=[self.name])


class RevisionQuerySet(models.QuerySet["Revision"]):
    def of_tree(self, tree: Tree | int) -> Self:
        return self.filter(tree=tree)

    def named(self, *, tree: Tree, name: str) -> "Revision | None":
        """The revision that ``name`` (an id, an alias or the start of a hash) means in ``tree``."""
        exact = self.filter(tree=tree, aliases__name=name).first()
        return exact or self.with_hash(tree=tree, start=name)

    def with_hash(self, *, tree: Tree, start: str) -> "Revision | None":
        """The one revision of ``tree`` whose hash begins so; None when there are two, too."""
        if len(start) < MIN_HASH_PREFIX or not HASH_PATTERN.fullmatch(start):
            return None
        found = list(self.filter(tree=tree, aliases__name__startswith=start).distinct()[:2])
        return found[0] if len(found) == 1 else None

    def named_anywhere(self, name: str) -> Self:
        """Those that ``name`` (an id, an alias or the start of a hash) means in any tree."""
        exact = Q(aliases__name=name)
        if HASH_PATTERN.fullmatch(name) and len(name) >= MIN_HASH_PREFIX:
            exact |= Q(aliases__name__startswith=name)
        return self.filter(exact).select_related("tree").distinct()

    def tested(self) -> Self:
        """Those with a point in any series."""
        point = apps.get_model("results", "Point")
        return self.filter(models.Exists(point.objects.filter(revision=models.OuterRef("pk"))))

    def unmeasured_in(self, series: int) -> Self:
        """Those without a point in a series (by id)."""
        point = apps.get_model("results", "Point").objects.filter(series=series)
        return self.filter(~models.Exists(point.filter(revision=models.OuterRef("pk"))))

    def between(self, earlier: "Revision", later: "Revision") -> Self:
        """Those strictly between two revisions of one tree."""
        return self.filter(
            tree_id=earlier.tree_id,
            position__gt=earlier.position,
            position__lt=later.position,
        ).order_by("position")

    def before(self, revision: "Revision") -> Self:
        return self.filter(tree_id=revision.tree_id, position__lt=revision.position).order_by(
            "-position"
        )

    def after(self, revision: "Revision") -> Self:
        return self.filter(tree_id=revision.tree_id, position__gt=revision.position).order_by(
            "position"
        )


class Revision(models.Model):
    """One commit of a tree. ``position`` is its order along the tree and nothing else.

    ``paths`` are the files it touched, from the top of the tree: null is not known, empty is none.
    Of a commit that touched more than are kept, ``path_count`` tells it.
    """

    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, related_name="revisions", db_index=False
    )  # revision_once_at_a_position begins with it
    name = models.CharField(max_length=64, help_text="As people write it: r303643, n302145, a hash")
    position = models.BigIntegerField()
    author_name = models.CharField(max_length=200, blank=True)
    author_email = models.CharField(max_length=254, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    subject = models.CharField(max_length=500, blank=True)
    message = models.TextField(blank=True)
    paths = ArrayField(models.TextField(), null=True, blank=True)
    path_count = models.IntegerField(null=True, blank=True, help_text="Files that it touched.")

    objects = RevisionQuerySet.as_manager()

    class Meta:
        ordering = ["tree", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["tree", "position"], name="revision_once_at_a_position"
            ),
            models.UniqueConstraint(fields=["tree", "name"], name="revision_name_once_in_a_tree"),
            models.CheckConstraint(condition=Q(position__gte=0), name="revision_position_from_0"),
            models.CheckConstraint(
                condition=Q(paths__isnull=True, path_count__isnull=True)
                | Q(paths__isnull=False, path_count__gte=0),
                name="revision_counts_its_paths",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("commit", args=[self.tree.name, self.name])

    @property
    def has_all_paths(self) -> bool:
        """Whether ``paths`` are known and none was left out."""
        return self.paths is not None and len(self.paths) == self.path_count


class RevisionAlias(models.Model):
    """Every name a revision answers to, its own included: one look-up finds it by any."""

    tree = models.ForeignKey(
        Tree, on_delete=models.CASCADE, related_name="+", db_index=False
    )  # revision_alias_once_in_a_tree begins with it
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=64)

    class Meta:
        ordering = ["tree", "name"]
        verbose_name_plural = "revision aliases"
        constraints = [
            models.UniqueConstraint(fields=["tree", "name"], name="revision_alias_once_in_a_tree")
        ]
        indexes = [
            models.Index(
                fields=["tree", "name"],
                name="revision_by_hash_prefix",
                opclasses=["int8_ops", "varchar_pattern_ops"],
            )
        ]

    def __str__(self) -> str:
        return self.name
