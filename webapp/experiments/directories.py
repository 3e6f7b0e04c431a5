"""A directory of a lab as an experiment: which sides its runs are (kernels, else sets of options,
else workloads), and its README's text on them.

A README is a title, bullets, and ministat blocks with prose between them. The blocks show in which
order the lab names its sets and what it calls them; the samples are those of the data.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf

from webapp.analysis.queries import MOST_SIDES, OPTION_MARK, TRAFFIC_MARK, Side
from webapp.results.models import ModeName

LEAST_SIDES = 2
PLAIN_WORDS = (
    {"default", "defaults"},
    {"base", "baseline", "stock", "generic", "vanilla", "plain"},
    {"off", "without", "no", "none", "disabled", "disable", "unpatched", "null"},
)
"""What labs call the side that others are measured against, the surest first."""

PLAIN_WORKLOADS = ("forwarding", "fastforwarding")
WORD_ENDS = re.compile(r"[^a-z0-9]+")
NUMBERS = re.compile(r"\d+(?:\.\d+)?")


class NoSides(ValueError):
    """The runs are no two to seven sides; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run measured, by names. ``configuration`` is what its lab called the setup."""

    tree: str
    revision: str
    position: float
    variant: str
    hardware: str
    mode: ModeName
    session: str
    configuration: str = ""

    @property
    def kernel(self) -> tuple[str, str, str]:
        """Tree, revision, variant."""
        return self.tree, self.revision, self.variant


@dataclass(frozen=True, slots=True)
class Way:
    """One way to take sides. ``rank`` orders them, the baseline first; runs of one ``cell`` are
    compared; ``called`` is what its sides are."""

    called: str
    side: Callable[[Measured], Side]
    cell: Callable[[Measured], Hashable]
    rank: Callable[[Measured], tuple[object, ...]]
    is_of_one_kernel: bool = True


def arrange(found: Sequence[Measured]) -> list[Side]:
    """The sides, the baseline first, in the first way that fits: the earliest kernel without a
    suffix, the set of options or the workload that is called off, default or base, the plain
    workload. Traffic is never a side: inet6 is compared with inet6.

    Raises NoSides: no way fits.
    """
    tried = [_tried(way, found) for way in WAYS]
    for sides in tried:
        if not isinstance(sides, str):
            return sides
    raise NoSides(next(filter(None, map(str, tried)), ONE_SIDE))


ONE_SIDE = "one side only: one kernel, one set of options, one workload"


def _tried(way: Way, found: Sequence[Measured]) -> list[Side] | str:
    """The sides, or why there are none; empty: there is one."""
    ranked = {way.side(one): way.rank(one) for one in sorted(found, key=way.rank, reverse=True)}
    sides = sorted(ranked, key=lambda side: ranked[side])
    if len(sides) < LEAST_SIDES or (
        way.is_of_one_kernel and len({one.kernel for one in found}) > 1
    ):
        return ""
    if len(sides) > MOST_SIDES:
        return f"{len(sides)} {way.called}, and a report has at most {MOST_SIDES} sides"
    cells = [{way.cell(one) for one in found if way.side(one) == side} for side in sides]
    if not set.intersection(*cells):
        return f"{len(sides)} {way.called}, but nothing was measured with all of them"
    return sides


def rank_of_name(name: str) -> tuple[float, ...]:
    """Lower for a name that others are measured against: one of `PLAIN_WORDS`, else one of
    `PLAIN_WORKLOADS`."""
    words = set(WORD_ENDS.split(name.lower()))
    for rank, plain in enumerate(PLAIN_WORDS):
        if words & plain:
            return (rank,)
    among = PLAIN_WORKLOADS.index(name) if name in PLAIN_WORKLOADS else inf
    return (len(PLAIN_WORDS), among)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(one) for one in NUMBERS.findall(text))


def _kernel(one: Measured) -> Side:
    return Side(one.tree, one.revision, variant=one.variant, session=one.session)


def _with_options(one: Measured) -> Side:
    options = "".join(f"{OPTION_MARK}{option}" for option in sorted(one.mode.options))
    return Side(one.tree, one.revision, mode=options, variant=one.variant, session=one.session)


def _workload(one: Measured) -> Side:
    """In every traffic, where it names one."""
    any_traffic = ModeName(one.mode.workload + TRAFFIC_MARK, None, one.mode.options)
    mode = str(any_traffic if one.mode.traffic else one.mode)
    return Side(one.tree, one.revision, mode=mode, variant=one.variant, session=one.session)


def _of_kernel(one: Measured) -> tuple[object, ...]:
    """A branch by its version, one without (head) last; then the commit, the plain kernel."""
    branch = _numbers(one.tree) or (inf,)
    return branch, one.tree, one.position, one.variant.count("+") + bool(one.variant), one.variant


def _of_options(one: Measured) -> tuple[object, ...]:
    options = " ".join(sorted(one.mode.options))
    return rank_of_name(one.configuration), len(one.mode.options), _numbers(options), options


def _of_workload(one: Measured) -> tuple[object, ...]:
    name = one.mode.workload
    return rank_of_name(name), _numbers(name), name, str(one.mode)


WAYS = (
    Way(
        "kernels", _kernel, lambda one: (one.hardware, one.mode), _of_kernel, is_of_one_kernel=False
    ),
    Way(
        "sets of options",
        _with_options,
        lambda one: (one.hardware, one.mode.workload, one.mode.traffic),
        _of_options,
    ),
    Way("workloads", _workload, lambda one: (one.hardware, one.mode.traffic), _of_workload),
)


def index_of(sides: Sequence[Side], name: str, labels: Sequence[str] = ()) -> int | None:
    """Which of the sides somebody calls ``name``: its label, one of its parts, else a word that no
    other side has; None: none or several."""
    parts = [set(_parts(side)) for side in sides]
    for own, label in zip(parts, labels, strict=False):
        own |= {label}
    words = [{word for part in own for word in WORD_ENDS.split(part.lower())} for own in parts]
    for named, sought in ((parts, name), (words, name.lower())):
        found = [index for index, own in enumerate(named) if sought in own]
        if len(found) == 1:
            return found[0]
    return None


def _parts(side: Side) -> Iterator[str]:
    """By which a side is called."""
    yield from filter(None, (str(side), side.revision, side.kernel, side.variant, *side.options))
    if name := side.workload or (ModeName.parse(side.mode_name) if side.mode_name else None):
        yield from (name.workload, str(name), *name.options)


SYMBOLS = "x+*%#@O"
LONGEST_LABEL = 200
LEAST_TO_SHARE = 2
"""Cells from which on what the labels of a side begin with alike is the name of the side."""

_FENCE = re.compile(r"\s*(```|~~~)")
_BULLET = re.compile(r"\s*[-*+] +(.+)")
_PICTURE = re.compile(r"\s*!\[.*\]\(.*\)\s*")
_NAME = re.compile(rf"([{re.escape(SYMBOLS)}]) (.+)")
_NUMBER = r"[-+.\de]+|-?nan"
_FIGURES = re.compile(
    rf"([{re.escape(SYMBOLS)}])\s+(\d+)\s+({_NUMBER})\s+({_NUMBER})(?:\s+(?:{_NUMBER})){{3}}\s*"
)
_WORD_END = re.compile(r"[\w-]*$")
_SEPARATORS = " .:,_-(+~"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a block prints of one set, as text: enough to know the set again."""

    n: str
    least: str
    most: str

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Figures":
        """As ministat prints those of ``samples``."""
        return cls(str(len(samples)), f"{min(samples):.8g}", f"{max(samples):.8g}")


@dataclass(frozen=True, slots=True)
class TypedBlock:
    """A ministat block as it was pasted: its sets in their order, and the prose above it."""

    heading: str
    names: tuple[str, ...]
    figures: tuple[Figures, ...]
    text: str

    def order_among(self, sets: Sequence[Figures]) -> tuple[int, ...] | None:
        """For each set of the block which of ``sets`` it is; None where it is not of just these."""
        if len(sets) != len(self.figures) or len(set(sets)) != len(sets):
            return None
        if set(sets) != set(self.figures):
            return None
        return tuple(list(sets).index(one) for one in self.figures)


@dataclass(frozen=True, slots=True)
class Typed:
    """A whole README. ``heading`` is its first line, ``closing`` the prose behind the last
    block; of one without blocks, all of it."""

    heading: str = ""
    bullets: tuple[str, ...] = ()
    blocks: tuple[TypedBlock, ...] = ()
    closing: str = ""

    @property
    def title(self) -> str:
        """The heading without its signs."""
        return self.heading.strip("# \t")


def read_typed(text: str) -> Typed:
    """The parts of a README. Pictures are left out: a report has its own."""
    lines = text.splitlines()
    at, heading = _title(lines)
    bullets: list[str] = []
    while at < len(lines) and (not lines[at].strip() or _BULLET.fullmatch(lines[at])):
        found = _BULLET.fullmatch(lines[at])
        bullets += [" ".join(found[1].split())] if found else []
        at += 1
    blocks: list[TypedBlock] = []
    prose: list[str] = []
    while at < len(lines):
        inside, after = _fenced(lines, at)
        block = _block(inside, _joined(prose))
        if block is not None:
            blocks.append(block)
            prose = []
        else:
            prose += [line for line in lines[at:after] if not _PICTURE.fullmatch(line)]
        at = after
    return Typed(heading, tuple(bullets), tuple(blocks), _joined(prose))


def shared_label(labels: Sequence[str]) -> str:
    """What the labels of one side begin with alike, up to the end of a word; empty where that is
    nothing, or where there is one label only."""
    if len(labels) < LEAST_TO_SHARE or len(set(labels)) < LEAST_TO_SHARE:
        return ""
    columns = zip(*labels, strict=False)
    found = labels[0][: len(list(takewhile(lambda column: len(set(column)) == 1, columns)))]
    if any(label[len(found) :][:1].isalnum() for label in labels):
        found = _WORD_END.sub("", found)
    return found.strip(_SEPARATORS)


def same_text(one: str, other: str) -> bool:
    """Whether two blocks are the same but for white space and blank lines."""
    return key_of(one) == key_of(other)


def key_of(text: str) -> Hashable:
    """What is the same of such blocks."""
    return tuple(tuple(line.split()) for line in text.splitlines() if line.strip())


def _title(lines: Sequence[str]) -> tuple[int, str]:
    """The number of the line after the title, and the title: the first line that is not blank,
    where it belongs to no list and no code block; else its own number, and no title.
    """
    for number, line in enumerate(lines):
        if line.strip():
            is_title = not (_BULLET.fullmatch(line) or _FENCE.match(line))
            return (number + 1, line.strip()) if is_title else (number, "")
    return len(lines), ""


def _fenced(lines: Sequence[str], start: int) -> tuple[Sequence[str], int]:
    """The lines of the code block that begins at ``start`` and where it has ended; without one,
    nothing and the next line."""
    if not _FENCE.match(lines[start]):
        return (), start + 1
    for end in range(start + 1, len(lines)):
        if _FENCE.match(lines[end]):
            return lines[start + 1 : end], end + 1
    return lines[start + 1 :], len(lines)


def _block(lines: Sequence[str], heading: str) -> TypedBlock | None:
    """The ministat block that the lines are; None: they are something else."""
    names: dict[str, str] = {}
    figures: dict[str, Figures] = {}
    for line in lines:
        found = _FIGURES.fullmatch(line)
        name = _NAME.fullmatch(line)
        if found:
            figures[found[1]] = Figures(found[2], found[3], found[4])
        elif name and not figures:
            names.setdefault(name[1], name[2].strip()[:LONGEST_LABEL])
    if not names or names.keys() != figures.keys():
        return None
    text = "\n".join(lines)
    return TypedBlock(heading, tuple(names.values()), tuple(figures[one] for one in names), text)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")
