"""How a mode is written: ``workload[@traffic][+option…]``, options sorted, and what the parts of
labels, topics and image names are, which agents send as options. An option is a word, or a knob and
its value (``hw.cxgbe.nXxq=5``).

A patch, an image or a vendor's branch is a variant of the kernel that was measured, not an option
of what it was asked to do. The name of a release or a date says which kernel it was, which the
revision says better. A number beside a word may be the value of a knob. Rules tell which is which:
the first that fits a part decides, and a part that none fits stays an option.

Everything here is a function of its arguments; `webapp.results.services.label_rules` reads the
rules.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from webapp.results.bounds import HALVES, INVISIBLE

PART_PATTERN = rf"[^\s@+/?#&{INVISIBLE}]+"
MODE_PATTERN = rf"{PART_PATTERN}(@{PART_PATTERN})?(\+{PART_PATTERN})*"
PART = re.compile(rf"[^\s@+/?#&{INVISIBLE}{HALVES}]+")
PART_MAX = 100
NAME_MAX = 400

Kind = Literal["option", "knob", "workload", "traffic", "patch", "image", "vendor", "release"]
VARIANTS: Final[frozenset[Kind]] = frozenset({"vendor", "image", "patch"})
_BASE_FIRST: Final[tuple[Kind, ...]] = ("vendor", "image", "patch")
"""A patch is put on a tree that a vendor or a build made."""

DEFAULT_WORKLOAD: Final = "forwarding"
CHECKSUM_SHOWN: Final = 8
_PATCH: Final = re.compile(r"D[0-9]{4,6}(?:v[0-9]+)?(?![0-9])")


@dataclass(frozen=True)
class ModeName:
    """The parts of a mode's name, in their canonical form (options unique and sorted)."""

    workload: str
    traffic: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, workload: str, traffic: str | None, options: Iterable[str]) -> "ModeName":
        """The name with its options sorted, each once."""
        return cls(workload, traffic or None, tuple(sorted(set(options))))

    @classmethod
    def parse(cls, text: str) -> "ModeName":
        """The parts of ``text``. Raises ValueError that says what is wrong."""
        head, *options = text.split("+")
        workload, _, traffic = head.partition("@")
        for part in [workload, *options, *([traffic] if "@" in head else [])]:
            if len(part) > PART_MAX or not PART.fullmatch(part):
                raise ValueError(
                    f"{text[:NAME_MAX]!r} is not a mode: write workload[@traffic][+option…], "
                    f"each part 1 to {PART_MAX} characters without spaces, @, +, /, ?, #, &"
                )
        return cls.of(workload, traffic, options)

    def at_knob(self, knob: str) -> "tuple[ModeName, str] | None":
        """The mode without this knob, and the value that it has here; None: it is not set."""
        for option in self.options:
            name, _, value = option.partition("=")
            if name == knob and value:
                rest = tuple(one for one in self.options if one != option)
                return ModeName(self.workload, self.traffic, rest), value
        return None

    def without(self, option: str) -> "ModeName":
        """The mode without this option."""
        rest = tuple(one for one in self.options if one != option)
        return ModeName(self.workload, self.traffic, rest)

    def __str__(self) -> str:
        traffic = f"@{self.traffic}" if self.traffic else ""
        return self.workload + traffic + "".join(f"+{option}" for option in self.options)


@dataclass(frozen=True, slots=True)
class PartRule:
    """``pattern`` is matched against a whole part, capitals and all: ``*`` stands for anything,
    ``[0-9]`` for a digit. ``of_image``: only for parts that the image's name holds. ``name`` is
    what a part that fits is called; for a knob its name, the value being what ``*`` stands for.
    """

    pattern: str
    kind: Kind
    name: str = ""
    of_image: bool = False

    def fits(self, part: str, image: str) -> bool:
        """Whether it decides about ``part`` of a run of ``image``."""
        return fnmatchcase(part, self.pattern) and (not self.of_image or is_of_image(part, image))


@dataclass(frozen=True, slots=True, order=True)
class VariantPart:
    """One thing by which a kernel differs from its revision's. Two files of one patch's name are
    told apart by their ``checksum`` (hexadecimal digits), where it is known.
    """

    kind: Kind
    name: str
    checksum: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.checksum[:CHECKSUM_SHOWN]}" if self.checksum else self.name

    def to_data(self) -> dict[str, str]:
        """What is stored of it."""
        return {"kind": self.kind, "name": self.name, "checksum": self.checksum}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "VariantPart":
        """What ``to_data`` gave."""
        return cls(data["kind"], data["name"], data["checksum"])


@dataclass(frozen=True, slots=True)
class ModeAndVariant:
    """A mode without what is no part of it, and the variant: its parts in the order in which they
    were put on; none: the plain kernel.
    """

    mode: ModeName
    parts: tuple[VariantPart, ...] = ()

    @property
    def variant(self) -> str:
        """The name of the variant; empty: the plain kernel."""
        return "+".join(map(str, self.parts))


BUILTIN_RULES: Final[tuple[PartRule, ...]] = (
    PartRule("VIMAGE", "option"),
    PartRule("RSS*", "option"),
    PartRule("option-*", "option"),
    PartRule("GENERIC*", "option"),
    PartRule("NODEBUG", "option"),
    PartRule("INVARIANTS", "option"),
    PartRule("D[0-9][0-9][0-9][0-9]*", "patch"),
    PartRule("PR[0-9][0-9][0-9][0-9]*", "patch"),
    PartRule("BSDRP*", "image"),
    PartRule("mbuf*", "image"),
    PartRule("[Yy][Aa][Nn][Dd][Ee][Xx]*", "vendor"),
    PartRule("[rnc][0-9][0-9][0-9][0-9][0-9][0-9]", "release"),
    PartRule("[1-9][0-9]-[rnc][0-9][0-9][0-9][0-9][0-9][0-9]", "release"),
    PartRule("20[12][0-9]", "release"),
    PartRule("20[0-9][0-9][01][0-9][0-3][0-9]", "release"),
    PartRule("20[0-9][0-9]-[01][0-9]-[0-3][0-9]", "release"),
    PartRule("20[0-9][0-9].[01][0-9].[0-3][0-9]", "release"),
    PartRule("*", "image", of_image=True),
)
"""In their order. The last one: what only the image's name tells is an image."""


def tell(
    sent: ModeName, rules: Sequence[PartRule], *, image: str = "", parts: Iterable[VariantPart] = ()
) -> ModeAndVariant:
    """What the options of ``sent`` are, for a run of ``image``; ``parts`` of its variant that the
    document names itself come first and in their order.
    """
    workload, traffic = sent.workload, sent.traffic
    options: list[str] = []
    found: list[VariantPart] = []
    for part in sent.options:
        rule = next((rule for rule in rules if rule.fits(part, image)), None)
        kind, name = (rule.kind, rule.name or part) if rule else ("option", part)
        if kind in VARIANTS:
            found.append(VariantPart(kind, name))
        elif kind == "workload":
            if workload not in (DEFAULT_WORKLOAD, name):
                options.append(workload)
            workload = name
        elif kind == "traffic" and traffic in (None, name):
            traffic = name
        elif kind == "knob" and rule:
            options.append(_knob(rule, part))
        elif kind != "release":
            options.append(name)
    named = list(dict.fromkeys(parts))
    known = {one.name for one in named}
    found = sorted(set(found), key=lambda one: (_BASE_FIRST.index(one.kind), one))
    told = ModeAndVariant(
        ModeName.of(workload, traffic, options),
        (*named, *(one for one in found if one.name not in known)),
    )
    fits = len(str(told.mode)) <= NAME_MAX and len(told.variant) <= NAME_MAX
    return told if fits else ModeAndVariant(sent, tuple(named))


def is_of_image(part: str, image: str) -> bool:
    """Whether the image's name holds ``part``: as a whole word, capitals and all, at the border of
    digits and letters too (``mbuf`` in ``295150mbuf``), patches apart."""
    if not image or len(part) < 3:
        return False
    if part == image:
        return True
    word = re.escape(part)
    before = r"(?<![A-Za-z])" if part[0].isalpha() else r"(?<![A-Za-z0-9])"
    after = r"(?![A-Za-z])" if part[-1].isalpha() else r"(?![A-Za-z0-9])"
    return re.search(before + word + after, _PATCH.sub(" ", image)) is not None


def wrong_with_rule(rule: PartRule) -> str:
    """What is wrong with a rule that somebody wrote; empty: nothing."""
    if not rule.pattern.strip():
        return "write a pattern; * stands for anything"
    if rule.name and (len(rule.name) > PART_MAX or not PART.fullmatch(rule.name)):
        return f"{rule.name!r} is no part of a mode: no spaces, @, +, /, ?, # and &"
    if rule.kind == "knob" and (rule.pattern.count("*") != 1 or {*"[?"} & {*rule.pattern}):
        return "a knob's value is what * stands for: write one *, no ? and no [ ], as *nxq10g"
    return ""


def _knob(rule: PartRule, part: str) -> str:
    """``nxq10g=4`` for ``4nxq10g`` by ``*nxq10g``; a part that is a knob with its value stays."""
    before, _, after = rule.pattern.partition("*")
    value = part.removeprefix(before).removesuffix(after)
    name = rule.name or (before + after).strip("-._")
    return f"{name}={value}" if value and name and "=" not in part else part
