"""Two releases as sides of a comparison, each by the nearest revision of its branch that was
measured on a machine in a mode.

A release is written ``[tree:]name[~variant]``, the name being that of a release, of a branch point
or of a tree (its newest measured revision), behind a tree also of any revision. A pair of them is
written ``A...B``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from webapp.analysis.queries.links import PAIR_MARK
from webapp.analysis.queries.sides import Side, SideError, revisions_of
from webapp.events.queries import RELEASE, ReleaseName, names_called, names_with, release_names
from webapp.results.models import WAITING_FROM, Revision, Tree
from webapp.results.queries import rows_of

WRITTEN = "A...B, for example 11.0...11.1 or freebsd-head:11.0...freebsd-stable-11"
# For each machine and mode of the tree the measured revision nearest to a position, the earlier of
# two, within bounds (exclusive); of the kernel that is asked for before any other.
NEAREST = """
SELECT DISTINCT ON (machine.name, mode.name) machine.name, mode.name, series.tree_id,
       revision.id, revision.name, revision.position, revision.author_name,
       revision.committed_at, revision.subject,
       COALESCE(variant.name, '') = %(variant)s
  FROM results_series AS series
  JOIN results_hardware AS machine ON machine.id = series.hardware_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
 CROSS JOIN LATERAL (
       (SELECT revision_id, position FROM results_point
         WHERE series_id = series.id AND position <= %(at)s AND position > %(after)s
         ORDER BY position DESC LIMIT 1)
       UNION ALL
       (SELECT revision_id, position FROM results_point
         WHERE series_id = series.id AND position > %(at)s AND position < %(before)s
         ORDER BY position LIMIT 1)) AS near
  JOIN results_revision AS revision ON revision.id = near.revision_id
 WHERE series.tree_id = (SELECT id FROM results_tree WHERE name = %(tree)s)
 ORDER BY machine.name, mode.name, COALESCE(variant.name, '') <> %(variant)s,
          abs(near.position - %(at)s), near.position
"""

# The same of runs that had been received by a time.
NEAREST_THEN = """
SELECT DISTINCT ON (machine.name, mode.name) machine.name, mode.name, series.tree_id,
       revision.id, revision.name, revision.position, revision.author_name,
       revision.committed_at, revision.subject,
       COALESCE(variant.name, '') = %(variant)s
  FROM results_series AS series
  JOIN results_hardware AS machine ON machine.id = series.hardware_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
  JOIN results_measurement AS measurement ON measurement.series_id = series.id
  JOIN results_run AS run ON run.id = measurement.run_id
  JOIN results_revision AS revision ON revision.id = run.revision_id
 WHERE series.tree_id = (SELECT id FROM results_tree WHERE name = %(tree)s)
   AND revision.position > %(after)s AND revision.position < %(before)s
   AND run.received_at <= %(asof)s
   AND (run.withdrawn_at IS NULL OR run.withdrawn_at > %(asof)s)
 ORDER BY machine.name, mode.name, COALESCE(variant.name, '') <> %(variant)s,
          abs(revision.position - %(at)s), revision.position
"""
FIRST = -(2**62)
NAMES_OFFERED = 6
REPEATED = 80
"""Characters of a name that a message repeats."""


@dataclass(frozen=True, slots=True)
class MeasuredRelease:
    """What a release or a tree is called (``name``), and the ``measured`` revision (with its tree)
    that is nearest to it on any machine, and on each in each mode (``nearest``, by their names);
    ``at`` names the revision that the release is of, empty for a tree.
    """

    name: str
    at: str
    position: int | None
    measured: Revision
    nearest: Mapping[tuple[str, str], Revision]
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
        """The release's position on the tree; of a tree that of its newest measured revision."""
        return self.measured.position if self.position is None else self.position

    def distance(self, names: tuple[str, str]) -> int:
        """How far the revision that stands for it on a machine in a mode is."""
        return abs(self.nearest[names].position - self.sorting_position)

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
    """The two releases of that name, by what had been received ``asof``. Raises SideError: other
    than two, one that is not known or by which several are called, of whose tree nothing was
    measured, the same twice, or the later before the earlier.
    """
    if len(texts) != 2 or not all(texts):
        raise SideError(f"name two releases: {WRITTEN}")
    known = release_names()
    a, b = (_measured_release(text, known, asof) for text in texts)
    if texts[0] == texts[1]:
        raise SideError(f"{a.title} stands on both sides: name two releases")
    is_one_tree = a.measured.tree_id == b.measured.tree_id
    if is_one_tree and a.sorting_position > b.sorting_position:
        raise SideError(f"{a.title} comes after {b.title}: write {texts[1]}{PAIR_MARK}{texts[0]}")
    if a.side == b.side and a.nearest == b.nearest:
        raise SideError(
            f"{a.measured} stands for both {a.title} and {b.title}: name two others, or measure "
            f"revisions nearer to them"
        )
    return a, b


def _measured_release(
    text: str, known: Sequence[ReleaseName], asof: datetime | None
) -> MeasuredRelease:
    written, _, variant = text.replace("\0", "").partition("~")
    one = _named(written, known)
    position = WAITING_FROM - 1 if one.position is None else one.position
    bounds = _bounds(one, known)
    found = _nearest(one.tree, position, bounds, variant, asof)
    wanted = [its for its, is_wanted in found.values() if is_wanted]
    if not found or (variant and not wanted):
        raise SideError(_not_measured(text, one, variant, bounds, asof))
    # Where other kernels alone were measured the table has the reason.
    nearest = {names: its for names, (its, _) in found.items()}
    measured = min(
        wanted or nearest.values(), key=lambda its: (abs(its.position - position), its.position)
    )
    return MeasuredRelease(one.name, one.revision, one.position, measured, nearest, variant)


def _bounds(one: ReleaseName, known: Sequence[ReleaseName]) -> tuple[int, int]:
    """Between which positions a revision stands for ``one``: the releases beside it on its tree. Of
    a tree any revision that has a place.
    """
    if one.position is None:
        return FIRST, WAITING_FROM
    beside = [
        its.position
        for its in known
        if its.tree == one.tree and its.kind == RELEASE and its.position is not None
    ]
    before = max((its for its in beside if its < one.position), default=FIRST)
    return before, min((its for its in beside if its > one.position), default=WAITING_FROM)


def _not_measured(
    text: str, one: ReleaseName, variant: str, bounds: tuple[int, int], asof: datetime | None
) -> str:
    kernel = f"variant {variant[:REPEATED]!r}" if variant else "no revision"
    verb = "was not measured" if variant else "was measured"
    by_then = f" by {asof.isoformat()}" if asof else ""
    between = "" if bounds == (FIRST, WAITING_FROM) else " between the releases beside it"
    return f"{kernel} of {one.tree} {verb}{by_then}{between}: name another release than {text}"


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


def _nearest(
    tree: str, at: int, bounds: tuple[int, int], variant: str, asof: datetime | None
) -> dict[tuple[str, str], tuple[Revision, bool]]:
    """By machine and mode the measured revision nearest to a position, without message and paths,
    and whether the kernel that is asked for was; one statement.
    """
    asked: dict[str, Any] = {"tree": tree, "at": at, "variant": variant, "asof": asof}
    asked |= dict(zip(("after", "before"), bounds, strict=True))
    rows = rows_of(NEAREST_THEN if asof else NEAREST, asked)
    fields = ("pk", "name", "position", "author_name", "committed_at", "subject")
    return {
        (machine, mode): (
            Revision(tree=Tree(pk=pk, name=tree), **dict(zip(fields, columns, strict=True))),
            is_wanted,
        )
        for machine, mode, pk, *columns, is_wanted in rows
    }
