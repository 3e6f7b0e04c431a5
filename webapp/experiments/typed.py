"""What a lab typed about a directory: the parts of its README. Pure.

A document is a title, bullets, and ministat blocks with prose between them. The blocks say in which
order the lab names its sets and what it calls them; the samples are those of the data.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import takewhile

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
