"""Trees and their revisions."""

from collections.abc import Collection, Iterable, Sequence
from typing import Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models import F, Func, Q, Value
from django.db.models.expressions import RawSQL
from django.urls import reverse

from webapp.labs.models import Agent
from webapp.results.bounds import wrong_with_name
from webapp.results.spellings import (
    EXAMPLES,
    HASH_PATTERN,
    Span,
    as_total,
    check_source_template,
    is_total,
    position_of,
    source_link,
    whole_history_sql,
)

MIN_HASH_PREFIX = 7
WAITING_FROM = 2**62
"""Positions from here on are no places on a tree: a revision that waits for its place is kept at
this plus its id, beyond every place that can be given. It has no points, so nothing concludes from
it."""


class Tree(models.Model):
    """One line of history of one source."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    counts_all = models.BooleanField(
        "counts all commits",
        default=False,
        db_default=False,
        help_text="Its n numbers count all commits. Otherwise, as kernels count, first parents.",
    )
    source_template = models.CharField(
        "source browser",
        max_length=500,
        blank=True,
        db_default="",
        validators=[check_source_template],
        help_text="Where a commit is, with {revision}, {number} or {hash} in it. " + EXAMPLES,
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(source_template="") | Q(source_template__regex=r"^https?://"),
                name="tree_source_is_a_web_address",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The path of the tree's commits."""
        return reverse("commits", args=[self.name])

    def clean(self) -> None:
        """Refuse a new name at which no page could be reached."""
        if self._state.adding and (fault := wrong_with_name(self.name)):
            raise ValidationError({"name": fault})

    def source_of(self, name: str, aliases: Iterable[str] = ()) -> str:
        """The address of a commit in the source browser; empty where it is not known."""
        return source_link(self.source_template, name=name, aliases=aliases)


def is_one_of(column: str, values: Iterable[int]) -> Func:
    """``column = ANY (…)``: one parameter, where an ``IN`` of thousands takes longer to write than
    to answer.
    """
    given = Value(list(values), output_field=ArrayField(models.BigIntegerField()))
    return Func(
        F(column),
        given,
        template="%(expressions)s)",
        arg_joiner=" = ANY (",
        output_field=models.BooleanField(),
    )


class RevisionQuerySet(models.QuerySet["Revision"]):
    """Revisions by name and by place on their tree."""

    def of_tree(self, tree: Tree | int) -> Self:
        """Revisions of one tree."""
        return self.filter(tree=tree)

    def placed(self) -> Self:
        """Revisions that have their place, without those that wait for one."""
        return self.filter(position__lt=WAITING_FROM)

    def waiting(self) -> Self:
        """Revisions that wait for their place."""
        return self.filter(position__gte=WAITING_FROM)

    def named(self, *, tree: Tree, name: str) -> "Revision | None":
        """The revision that ``name`` (an id, an alias or the start of a hash) means in ``tree``. A
        count that no first parents have there may be one of all commits, as directories write it.

        Of ``placed()`` or ``waiting()`` ones only, where called on those.
        """
        exact = self.filter(tree=tree, aliases__name=name).first()
        if exact is None and (total := as_total(name)):
            return self.filter(tree=tree, aliases__name=total).first()
        return exact or self.with_hash(tree=tree, start=name)

    def position_named(self, *, tree: Tree, name: str) -> int | None:
        """The position of revision ``name`` in ``tree``, else the one its name gives, if any."""
        found = self.named(tree=tree, name=name)
        return found.position if found else position_of(name)

    def positions_of(self, *, tree: Tree, names: Collection[str]) -> list[int]:
        """Where those of ``tree`` with these very names are, in one query; none without names."""
        if not names:
            return []
        return list(self.filter(tree=tree, name__in=names).values_list("position", flat=True))

    def with_hash(self, *, tree: Tree, start: str) -> "Revision | None":
        """The one revision of ``tree`` whose hash begins so; None when there are two, too."""
        if len(start) < MIN_HASH_PREFIX or not HASH_PATTERN.fullmatch(start) or is_total(start):
            return None
        found = list(self.filter(tree=tree, aliases__name__startswith=start).distinct()[:2])
        return found[0] if len(found) == 1 else None

    def named_anywhere(self, name: str) -> Self:
        """Revisions that ``name`` (an id, an alias or the start of a hash) means in any tree."""
        exact = Q(aliases__name=name)
        if HASH_PATTERN.fullmatch(name) and len(name) >= MIN_HASH_PREFIX:
            exact |= Q(aliases__name__startswith=name)
        return self.filter(exact).select_related("tree").distinct()

    def with_paths(self, tree: Tree) -> bool:
        """Whether of any commit of ``tree`` it is known which files it touched."""
        return self.filter(tree=tree, paths__isnull=False).exists()

    def tested(self) -> Self:
        """Revisions whose plain kernel has a point in any series."""
        points = apps.get_model("results", "Point").objects.plain()
        return self.filter(models.Exists(points.filter(revision=models.OuterRef("pk"))))

    def unmeasured_in(self, series: int) -> Self:
        """Revisions without a point in a series (by id)."""
        point = apps.get_model("results", "Point").objects.filter(series=series)
        return self.filter(~models.Exists(point.filter(revision=models.OuterRef("pk"))))

    def between(self, earlier: "Revision", later: "Revision") -> Self:
        """Revisions strictly between two revisions of one tree."""
        return self.filter(
            tree_id=earlier.tree_id, position__gt=earlier.position, position__lt=later.position
        ).order_by("position")

    def spans(self, ranges: Sequence[tuple[int, int, int]]) -> list[Span]:
        """What is known of each range, in one statement: the id of a tree, the position after which
        it begins, and the one that it ends with.
        """
        if not ranges:
            return []
        with connection.cursor() as cursor:
            cursor.execute(SPANS, [list(column) for column in zip(*ranges, strict=True)])
            return [Span(*row) for row in cursor.fetchall()]

    def span(self, after: "Revision", last: "Revision") -> Span:
        """What is known later than ``after`` up to ``last``, of one tree."""
        return self.spans([(after.tree_id, after.position, last.position)])[0]

    def before(self, revision: "Revision") -> Self:
        """The revisions before one on its tree, the nearest first."""
        return self.filter(tree_id=revision.tree_id, position__lt=revision.position).order_by(
            "-position"
        )

    def after(self, revision: "Revision") -> Self:
        """The revisions after one on its tree that have a place, the nearest first."""
        later = self.placed().filter(tree_id=revision.tree_id, position__gt=revision.position)
        return later.order_by("position")


SPANS = f"""
    SELECT (SELECT count(*) FROM results_revision AS revision
             WHERE revision.tree_id = wanted.tree
               AND revision.position > wanted.low AND revision.position <= wanted.high),
           {whole_history_sql(tree="wanted.tree", after="wanted.low", last="wanted.high")}
      FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])
           WITH ORDINALITY AS wanted (tree, low, high, number)
     ORDER BY wanted.number
"""  # noqa: S608 (names of our own columns; no value of a request is in this text)


class Revision(models.Model):
    """One commit of a tree. ``position`` is its order along the tree and nothing else.

    The first upload that names a commit proposes its place; an operator or imported history decides
    it (``decided``). Until then ``proposed_by`` is the agent, null where history had it. The
    place of a count of all commits is computed from other counts (``is_estimated``).

    ``paths`` are the files it touched, from the top of the tree: null is not known, empty is none.
    Of a commit that touched more than are kept, ``path_count`` states it.
    """

    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, related_name="revisions", db_index=False
    )  # revision_once_at_a_position begins with it
    name = models.CharField(max_length=64, help_text="As people write it: r303643, n302145, a hash")
    position = models.BigIntegerField()
    proposed_by = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    decided = models.BooleanField(
        default=False, help_text="Its place was given by imported history or an operator."
    )
    is_estimated = models.BooleanField(
        "place estimated", default=False, db_default=False, editable=False
    )
    author_name = models.CharField(max_length=200, blank=True)
    author_email = models.CharField(max_length=254, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    subject = models.CharField(max_length=500, blank=True)
    message = models.TextField(blank=True)
    paths = ArrayField(models.TextField(), null=True, blank=True)
    path_count = models.IntegerField(null=True, blank=True, help_text="Files that it touched.")
    parent_known = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Imported history holds the commit right before it: none lies between the two.",
    )

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
                condition=~Q(decided=True, is_estimated=True),
                name="revision_place_decided_or_estimated",
            ),
            models.CheckConstraint(
                condition=Q(paths__isnull=True, path_count__isnull=True)
                | Q(paths__isnull=False, path_count__gte=0),
                name="revision_counts_its_paths",
            ),
        ]
        indexes = [
            GinIndex(
                RawSQL("to_tsvector('simple', subject || ' ' || author_name)", ()),
                name="commits_by_words",
            ),
            models.Index(fields=["tree"], name="estimated_places", condition=Q(is_estimated=True)),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The path of the commit's page."""
        return reverse("commit", args=[self.tree.name, self.name])

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its place."""
        return self.position >= WAITING_FROM

    @property
    def is_settled(self) -> bool:
        """Whether its place is more than a proposal: decided, or had from its own id."""
        return self.decided or self.position == position_of(self.name)

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


class PlaceProposal(models.Model):
    """A place that an upload gave a revision and that was not taken: it lay far off, was another
    revision's, or the revision has another. Rows are only added.
    """

    revision = models.ForeignKey(
        Revision, on_delete=models.CASCADE, related_name="proposals", db_index=False
    )  # place_proposal_once begins with it
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["revision", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "agent", "position"], name="place_proposal_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.position} by {self.agent_id}"
