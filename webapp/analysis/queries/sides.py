"""How one side of a comparison is written in an address, which revision it names, and how a
ministat block is asked for: the options of the command as parts of the address.

``tree:revision[~variant]:hardware:mode:metric:session``: trailing parts are optional, an empty part
means all. No variant means the plain kernel, no session those of all sessions; several are written
with ``|`` between them. A mode that begins with ``+`` means every mode with these options:
``tree:r1`` against ``tree:r1::+VIMAGE`` compares each mode with itself and the option; one with
``@`` and no traffic means a workload in every traffic: ``tree:r1::forwarding@`` against
``tree:r1::pf@`` compares inet4 with inet4, and inet6 with inet6. ``%`` and ``:`` inside a part are
percent-encoded, and ``~`` in a revision or variant.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, cast, get_args
from urllib.parse import unquote

from webapp.events.models import Release
from webapp.results.models import WAITING_FROM, ModeName, Revision, Tree
from webapp.results.queries import rows_of
from webapp.stats import ministat
from webapp.stats.ministat.block import DEFAULT_WIDTH, LEAST_WIDTH, Flavour

FREE_PARTS = ("hardware", "mode", "metric")
SHOWN_PARTS = ("tree", "kernel", *FREE_PARTS, "session")
"""The parts by which sides differ: revision and variant are one."""

MODE = "mode"
OPTION_MARK = "+"
TRAFFIC_MARK = "@"
NO_TRAFFIC = "traffic not named"
SESSION_MARK = "|"
MOST_SIDES = 7
AROUND = re.compile(r"(?P<name>.+)(?:±|\+-)(?P<count>.*)", re.DOTALL)
BETWEEN, AROUND_MARKS = "..", ("±", "+-")

_COUNT = 6
_WRITTEN = "tree:revision[~variant][:hardware[:mode[:metric[:session]]]]"
_BEHIND = str.maketrans({"%": "%25", ":": "%3A"})
_INSIDE = str.maketrans({"%": "%25", ":": "%3A", "~": "%7E"})

NUMBERED = re.compile(r"[A-Za-z]?([0-9]{1,18})")
# By id or alias, which nearly every address is written with, all sides in one statement.
NAMED = """
SELECT tree.id, tree.name, revision.id, revision.name, revision.position, revision.author_name,
       revision.committed_at, revision.subject
  FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS side (tree, name, number)
  LEFT JOIN results_tree AS tree ON tree.name = side.tree
  LEFT JOIN results_revisionalias AS alias ON alias.tree_id = tree.id AND alias.name = side.name
  LEFT JOIN results_revision AS revision
    ON revision.id = alias.revision_id AND revision.position < %s
 ORDER BY side.number
"""

FLAVOURS: tuple[str, ...] = get_args(Flavour)
LEVELS = tuple(f"{level:g}" for level in ministat.LEVELS)
WIDEST = 400
BARS = ("separate", "shared")
SWITCHES = ("plot", "comparison", "names")
"""What can be left out: ``-A``, ``-n``, ``-q``."""

YES, NO = "yes", "no"


class SideError(ValueError):
    """A side that cannot be read or found; the message names it and the remedy."""


@dataclass(frozen=True)
class Side:
    """Which samples one side of a comparison takes; without a ``session`` (or several, as this
    module has it) those of all, without a ``variant`` those of the plain kernel.
    """

    tree: str
    revision: str
    hardware: str = ""
    mode: str = ""
    metric: str = ""
    session: str = ""
    variant: str = ""

    @classmethod
    def parse(cls, text: str) -> "Side":
        """Read a side in the notation of this module. Raises SideError."""
        tree, _, rest = text.partition(":")
        kernel, *others = rest.split(":")
        revision, tilde, variant = kernel.partition("~")
        if not tree or not revision or len(others) > _COUNT - 2:
            raise SideError(
                f"{text!r} is not a side: write {_WRITTEN}, "
                "for example freebsd-head:r303643, and %3A for a : inside a part"
            )
        if "~" in variant or (tilde and not variant):
            raise SideError(
                f"{text!r} is not a side: behind the revision stands one ~ and the variant's name, "
                "for example freebsd-head:r303643~D12685; write %7E for a ~ inside that name, and "
                "no ~ for the plain kernel"
            )
        parts = [unquote(part, errors="replace") for part in (tree, revision, *others)]
        named = unquote(variant, errors="replace")
        if any("\0" in part for part in [*parts, named]):
            raise SideError(f"{text!r} is not a side: no name holds the character U+0000")
        return replace(cls(*parts), variant=named)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that a mode written ``+option…`` asks for; empty: it is a name, or open."""
        if not self.mode.startswith(OPTION_MARK):
            return ()
        return tuple(sorted(set(filter(None, self.mode.split(OPTION_MARK)))))

    @property
    def workload(self) -> ModeName | None:
        """The workload, with its options, that is asked for in every traffic; None: none is so."""
        name, *options = self.mode.split(OPTION_MARK)
        if not name.endswith(TRAFFIC_MARK):
            return None
        return ModeName.of(name.rstrip(TRAFFIC_MARK), None, filter(None, options))

    @property
    def mode_name(self) -> str:
        """The one mode that it takes; empty: those of several names."""
        return "" if self.options or self.workload else self.mode

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that the side takes runs of, and the one that bears just this name; empty:
        all.
        """
        several = self.session.split(SESSION_MARK)
        return tuple(dict.fromkeys(filter(None, (self.session, *several))))

    @property
    def is_whole_revision(self) -> bool:
        """Whether it takes all that was measured of a plain kernel."""
        return not (self.hardware or self.mode or self.metric or self.session or self.variant)

    def is_open(self, part: str) -> bool:
        """Whether rows are matched over ``part`` (of `FREE_PARTS`)."""
        return not getattr(self, part) or (part == MODE and not self.mode_name)

    def is_apart_from(self, other: "Side") -> bool:
        """Whether no run of one revision is of both sides."""
        named = ("variant", "hardware", "options", "workload", "mode_name", "metric")
        if any(getattr(self, part) != getattr(other, part) for part in named):
            return True
        return bool(self.sessions and other.sessions) and not {*self.sessions} & {*other.sessions}

    @property
    def kernel(self) -> str:
        """Revision and variant, for people."""
        return f"{self.revision}~{self.variant}" if self.variant else self.revision

    def __str__(self) -> str:
        kernel = written_revision(self.revision)
        if self.variant:
            kernel = f"{kernel}~{self.variant.translate(_INSIDE)}"
        behind = (self.tree, self.hardware, self.mode, self.metric, self.session)
        tree, *parts = map(written_part, behind)
        return ":".join([tree, kernel, *parts]).rstrip(":")


def written_part(part: str) -> str:
    """A part of a side as it is written in one."""
    return part.translate(_BEHIND)


def written_revision(revision: str) -> str:
    """The same of a revision, behind which a variant may stand."""
    return revision.translate(_INSIDE)


def differing_parts(sides: Sequence[Side]) -> tuple[str, ...]:
    """Parts of `SHOWN_PARTS` that distinguish the sides."""
    return tuple(part for part in SHOWN_PARTS if len({getattr(side, part) for side in sides}) > 1)


def require_sides(sides: Sequence[Side]) -> None:
    """Raises SideError for fewer than two or more than `MOST_SIDES`."""
    if not 2 <= len(sides) <= MOST_SIDES:
        raise SideError(f"give 2 to {MOST_SIDES} sides, a and b; these are {len(sides)}")


def require_no_shared_runs(sides: Sequence[Side], revisions: Sequence[Revision]) -> None:
    """Raises SideError where a run of the first side is of another too, for their comparison takes
    them for independent; ``revisions`` are those that the sides name.
    """
    base, *others = zip(sides, revisions, strict=True)
    for side, revision in others:
        if revision == base[1] and not side.is_apart_from(base[0]):
            raise SideError(
                f"{base[0]} and {side} share their runs, and runs cannot differ from themselves: "
                "give another revision, or another session on either side"
            )


def free_parts(sides: Sequence[Side]) -> tuple[str, ...]:
    """Parts of `FREE_PARTS` over which rows are matched. Raises SideError where sides leave
    different ones open.
    """
    shapes = {tuple(part for part in FREE_PARTS if side.is_open(part)) for side in sides}
    if len(shapes) > 1:
        raise SideError(
            "every side must leave the same parts open; give hardware, mode and metric "
            "in all sides or in none: " + " / ".join(str(side) for side in sides)
        )
    return shapes.pop()


def options_of(sides: Sequence[Side]) -> frozenset[str]:
    """The options that the comparison is about: those that any side asks for."""
    return frozenset(option for side in sides for option in side.options)


def matched_mode(side: Side, mode: ModeName, compared: Collection[str]) -> str | None:
    """What ``mode`` is without what ``side`` asks for, options or a workload: its name among the
    modes of the other sides. None: it is none of this side's, for it lacks one of those options,
    or has one that another side is about (``compared`` are those of all sides).
    """
    if (workload := side.workload) is not None:
        is_it = ModeName(mode.workload, None, mode.options) == workload
        return (mode.traffic or NO_TRAFFIC) if is_it else None
    wanted, given = set(side.options), set(mode.options)
    if not given >= wanted or given & set(compared) != wanted:
        return None
    return str(ModeName.of(mode.workload, mode.traffic, given - wanted)) if wanted else str(mode)


class AskedKernel(NamedTuple):
    """What a side (by its ``number``) asks for of one revision, on one machine or on all; ``modes``
    are the names of those for which the revision stands, empty: all.
    """

    number: int
    side: Side
    revision: Revision
    modes: frozenset[str] = frozenset()


def kernels_of(
    sides: Sequence[Side],
    revisions: Sequence[Revision],
    nearest: Sequence[Mapping[tuple[str, str], Revision]] | None,
) -> list[AskedKernel]:
    """One a side, or where ``nearest`` names revisions, one a machine and revision."""
    if nearest is None:
        pairs = zip(sides, revisions, strict=True)
        return [AskedKernel(number, *pair) for number, pair in enumerate(pairs)]
    modes: dict[tuple[int, str, Revision], set[str]] = {}
    for number, its in enumerate(nearest):
        for (name, mode), revision in its.items():
            modes.setdefault((number, name, revision), set()).add(mode)
    return [
        AskedKernel(number, replace(sides[number], hardware=name), revision, frozenset(its))
        for (number, name, revision), its in modes.items()
    ]


class _Row(NamedTuple):
    tree_id: int | None
    tree: str
    revision_id: int | None
    name: str
    position: int
    author_name: str
    committed_at: datetime | None
    subject: str


def revisions_of(sides: Sequence[Side]) -> tuple[Revision, ...]:
    """The revision that each side names, with its tree: by id, alias or the start of a hash, or the
    one that a release of that name is of. Without message and paths. One statement where all are
    ids or aliases. Raises SideError: a tree or a revision is not known.
    """
    names = [side.tree for side in sides], [side.revision for side in sides]
    rows = map(_Row._make, rows_of(NAMED, [*names, WAITING_FROM]))
    return tuple(_revision(side, row) for side, row in zip(sides, rows, strict=True))


def _revision(side: Side, row: _Row) -> Revision:
    if row.tree_id is None:
        raise SideError(f"no tree {side.tree!r} (in {side})")
    tree = Tree(pk=row.tree_id, name=row.tree)
    if row.revision_id is None:
        return _by_hash_or_release(side, tree)
    return Revision(
        pk=row.revision_id,
        tree=tree,
        name=row.name,
        position=row.position,
        author_name=row.author_name,
        committed_at=row.committed_at,
        subject=row.subject,
    )


def _by_hash_or_release(side: Side, tree: Tree) -> Revision:
    found = Revision.objects.placed().named(tree=tree, name=side.revision)
    if found is None:
        release = Release.objects.of_tree(tree).filter(name=side.revision).first()
        found = release.revision if release else None
    if found is None:
        raise SideError(
            f"no revision {side.revision!r} in {side.tree} (in {side}){_nearest(side, tree)}"
        )
    found.tree = tree
    return found


def _nearest(side: Side, tree: Tree) -> str:
    """The revisions beside the place that a name with a number speaks of, as a remedy."""
    numbered = NUMBERED.fullmatch(side.revision)
    if numbered is None:
        return ""
    at = int(numbered[1])
    known = Revision.objects.placed().filter(tree=tree).only("name", "tree_id")
    before = known.filter(position__lt=at).order_by("-position")[:1]
    after = known.filter(position__gt=at).order_by("position")[:1]
    names = [one.name for one in (*before, *after)]
    return f"; the nearest known are {' and '.join(names)}" if len(names) == 2 else ""


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """The options of one block. ``separate_bars`` is ``-s``; without ``plot`` ``-A``, without
    ``comparison`` ``-n``, without ``names`` ``-q``; ``confidence`` is ``-c``, ``width`` ``-w``.
    """

    flavour: str = FLAVOURS[0]
    confidence: float = 95.0
    width: int = DEFAULT_WIDTH
    separate_bars: bool = True
    plot: bool = True
    comparison: bool = True
    names: bool = True

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "BlockOptions":
        """The options of an address; what is not given, or empty, is as by default.

        Raises SideError that names the part and what it may be.
        """
        switches = {name: _one_of(given, name, (YES, NO)) == YES for name in SWITCHES}
        return cls(
            flavour=_one_of(given, "flavour", FLAVOURS),
            confidence=float(_one_of(given, "confidence", LEVELS, "95")),
            width=_width(given.get("width", "")),
            separate_bars=_one_of(given, "bars", BARS) == BARS[0],
            **switches,
        )

    def render(self, sets: Sequence[tuple[str, Sequence[float]]]) -> str:
        """What the command prints. Raises webapp.stats.TooFewSamplesError."""
        return ministat.render(
            sets,
            confidence=self.confidence,
            width=self.width,
            plot=self.plot,
            separate_bars=self.separate_bars,
            brief=not self.comparison,
            quiet=not self.names,
            flavour=cast("Flavour", self.flavour),
        )

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parts of an address that mean the same; none for what is as by default."""
        given = {
            "flavour": self.flavour,
            "confidence": f"{self.confidence:g}",
            "width": str(self.width),
            "bars": BARS[0] if self.separate_bars else BARS[1],
            **{name: YES if getattr(self, name) else NO for name in SWITCHES},
        }
        usual = dict(PLAIN_QUERY)
        return [(name, value) for name, value in given.items() if value != usual[name]]


PLAIN_QUERY = (
    ("flavour", FLAVOURS[0]),
    ("confidence", "95"),
    ("width", str(DEFAULT_WIDTH)),
    ("bars", BARS[0]),
    *((name, YES) for name in SWITCHES),
)
PLAIN_BLOCK = BlockOptions()


def _one_of(given: Mapping[str, str], name: str, offered: Sequence[str], usual: str = "") -> str:
    value = given.get(name, "") or usual or offered[0]
    if value not in offered:
        raise SideError(f"{name}={value[:40]!r} is none of {', '.join(offered)}")
    return value


def _width(text: str) -> int:
    if not text:
        return DEFAULT_WIDTH
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise SideError(f"width={text[:40]!r} is no whole number")
    if not LEAST_WIDTH <= int(text) <= WIDEST:
        raise SideError(f"width={text}: from {LEAST_WIDTH} to {WIDEST} columns")
    return int(text)


def is_range(text: str) -> bool:
    """Whether a side is written as a range of revisions."""
    kernel = text.partition(":")[2].split(":")[0]
    return BETWEEN in kernel or AROUND.fullmatch(kernel.partition("~")[0]) is not None
