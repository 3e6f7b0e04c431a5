"""Two releases as sides of a comparison, each by the nearest measured revision of its branch.

A release is written ``[tree:]name[~variant]``, the name being that of a release, of a branch point
or of a tree (its newest measured revision), behind a tree also of any revision. A pair of them is
written ``A...B``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from django.db.models import Exists, OuterRef, Subquery

from webapp.analysis.queries.links import PAIR_MARK
from webapp.analysis.queries.named import revisions_of
from webapp.analysis.queries.range_values import measured
from webapp.analysis.queries.sides import Side, SideError
from webapp.events.queries import ReleaseName, names_called, names_with, release_names
from webapp.results.models import WAITING_FROM, Measurement, Point, Revision, Tree

WRITTEN = "A...B, for example 11.0...11.1 or freebsd-head:11.0...freebsd-stable-11"
NAMES_OFFERED = 6
REPEATED = 80
"""Characters of a name that a message repeats."""


@dataclass(frozen=True, slots=True)
class MeasuredRelease:
    """What a release or a tree is called (``name``), and the ``measured`` revision (with its tree)
    that stands for it; ``at`` names the revision that the release is of, empty for a tree.
    """

    name: str
    at: str
    position: int | None
    measured: Revision
    variant: str

    @property
    def side(self) -> Side:
        """What is compared."""
        return Side(self.measured.tree.name, self.measured.name, variant=self.variant)

    @property
    def title(self) -> str:
        """The name, with the variant where one is asked for."""
        return f"{self.name}~{self.variant}" if self.variant else self.name

    @property
    def sorting_position(self) -> int:
        """Its position on the tree; of a tree that of its newest measured revision."""
        return self.measured.position if self.position is None else self.position

    @property
    def note(self) -> str:
        """Which revision stands for it where it is not its own; empty: its own."""
        if not self.at:
            return f"{self.name}: its newest measured revision, {self.measured}"
        if self.at == self.measured.name:
            return ""
        return (
            f"{self.name} ({self.at}) was not measured: {self.measured} is the nearest measured "
            f"revision of {self.measured.tree}"
        )


def release_pair(text: str) -> tuple[str, str]:
    """The two names of ``A...B``. Raises SideError for anything else."""
    a, mark, b = text.partition(PAIR_MARK)
    is_pair = mark and a.strip() and b.strip() and not b.startswith(".") and PAIR_MARK not in b
    if not (is_pair and text.isprintable()):
        raise SideError(f"{text[:REPEATED]!r} is not a pair of releases: write {WRITTEN}")
    return a.strip(), b.strip()


def measured_releases(
    texts: Sequence[str], asof: datetime | None = None
) -> tuple[MeasuredRelease, MeasuredRelease]:
    """The two releases of that name, by what had been received ``asof``.

    Raises:
        SideError: other than two, one that is not known or by which several are called, of whose
            tree nothing was measured, the same twice, or the later before the earlier.
    """
    if len(texts) != 2 or not all(texts):
        raise SideError(f"name two releases: {WRITTEN}")
    known = release_names()
    a, b = (_measured_release(text, known, asof) for text in texts)
    if texts[0] == texts[1]:
        raise SideError(f"{a.title} stands on both sides: name two releases")
    if a.side == b.side:
        raise SideError(
            f"{a.measured} stands for both {a.title} and {b.title}: name two others, or measure "
            f"revisions nearer to them"
        )
    if a.measured.tree_id == b.measured.tree_id and a.sorting_position > b.sorting_position:
        raise SideError(f"{a.title} comes after {b.title}: write {texts[1]}{PAIR_MARK}{texts[0]}")
    return a, b


def _measured_release(
    text: str, known: Sequence[ReleaseName], asof: datetime | None
) -> MeasuredRelease:
    written, _, variant = text.replace("\0", "").partition("~")
    one = _named(written, known)
    position = WAITING_FROM - 1 if one.position is None else one.position
    nearest = _nearest(one.tree, position, variant, asof)
    if nearest is None:
        kernel = f"variant {variant[:REPEATED]!r}" if variant else "no revision"
        verb = "was not measured" if variant else "was measured"
        by_then = f" by {asof.isoformat()}" if asof else ""
        raise SideError(f"{kernel} of {one.tree} {verb}{by_then}: name another release than {text}")
    return MeasuredRelease(one.name, one.revision, one.position, nearest, variant)


def _named(written: str, known: Sequence[ReleaseName]) -> ReleaseName:
    tree, colon, name = written.partition(":")
    its = [one for one in known if not colon or one.tree == tree]
    if not its:
        trees = ", ".join(one.tree for one in known if one.is_tree)
        raise SideError(f"no tree {tree[:REPEATED]!r}: the trees are {trees or 'none yet'}")
    found = names_called(name if colon else written, its)
    if len(found) > 1:
        ways = " or ".join(f"{one.tree}:{one.name}" for one in found[:NAMES_OFFERED])
        raise SideError(f"several are called {written[:REPEATED]!r}: write {ways}")
    if found:
        return found[0]
    if colon and name:
        (revision,) = revisions_of([Side(tree, name)])
        return ReleaseName(tree, revision.name, "revision", revision.name, revision.position, True)
    raise SideError(f"no release, branch or tree {written[:REPEATED]!r}; {_remedy(written, known)}")


def _remedy(written: str, known: Sequence[ReleaseName]) -> str:
    """Names that are nearly like it, else any, and how a revision is named."""
    near = names_with([written], known)
    close = get_close_matches(written, [one.name for one in known], NAMES_OFFERED)
    offered = near or [one for one in known if one.name in close] or known
    named = ", ".join(one.written for one in offered[:NAMES_OFFERED]) or "none yet"
    return f"known are {named}; a revision stands behind its tree, as freebsd-head:r303643"


def _nearest(tree: str, position: int, variant: str, asof: datetime | None) -> Revision | None:
    """The measured revision nearest to ``position``; of a plain kernel, unless nothing but variants
    was measured.
    """
    of_kernel = measured(Side(tree, "", variant=variant), OuterRef("pk"), asof)
    found = _nearest_that(of_kernel, tree, position)
    return found if found or variant else _nearest_that(_of_any_kernel(asof), tree, position)


def _nearest_that(is_measured: Exists, tree: str, position: int) -> Revision | None:
    """The one before of two as near."""
    # The id, for the index along a tree begins with it.
    its = Subquery(Tree.objects.filter(name=tree).values("pk"))
    found = Revision.objects.placed().filter(is_measured, tree=its)
    found = found.select_related("tree").defer("message", "paths")
    before = found.filter(position__lte=position).order_by("-position").first()
    if before is not None and before.position == position:
        return before
    after = found.filter(position__gt=position).order_by("position").first()
    near = [one for one in (before, after) if one is not None]
    return min(near, key=lambda one: abs(one.position - position), default=None)


def _of_any_kernel(asof: datetime | None) -> Exists:
    if asof is None:
        return Exists(Point.objects.filter(revision=OuterRef("pk")))
    return Exists(Measurement.objects.counted_at(asof).filter(run__revision=OuterRef("pk")))
