"""How modes and revisions are written, and what can be read from that alone.

A mode is ``workload[@traffic][+option…]``, options sorted; agents send the parts of labels, topics
and image names as options. An option is a word, or a knob and its value (``hw.cxgbe.nXxq=5``). A
patch, an image or a vendor's branch is a variant of the kernel that was measured, not an option of
what it was asked to do. The name of a release or a date names the kernel that it was, which the
revision does better. A number beside a word may be the value of a knob. Rules, which
`webapp.results.services.label_rules` reads, decide which is which: the first that fits a part
decides, and a part that none fits stays an option.

A Subversion number or a first-parent commit count places a revision on its tree by itself. On one
tree every Subversion revision precedes every revision counted in git, because the tree moved from
the one to the other; hence the offset. ``c255632`` counts all commits, merged ones too, so that it
does not lie on that scale; where counts of both kinds are known of one commit, its place is
estimated. Any other id needs imported history, and its revision waits until that, or somebody,
gives it a place.

A revision that nobody imported may stand for any number of commits. None lies between two where
imported history goes from parent to child across them (`Revision.parent_known`), or where their ids
are numbers along the tree (`r303643`, `n302145`) and every number between is known. Places alone
prove nothing: operators number what was measured as they like.

The address of a commit in a source browser is a template with ``{revision}`` (the name as it is),
``{number}`` (the digits of a name like r303643) or ``{hash}`` (by which the commit is known).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError

from webapp.results.bounds import HALVES, INVISIBLE, wrong_with_name

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
        """The parts of ``text``. Raises ValueError that names what is wrong."""
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
    distinguished by their ``checksum`` (hexadecimal digits), where it is known.
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
"""In their order. The last one: what only the image's name has is an image."""


def read_options(
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
    read = ModeAndVariant(
        ModeName.of(workload, traffic, options),
        (*named, *(one for one in found if one.name not in known)),
    )
    fits = len(str(read.mode)) <= NAME_MAX and len(read.variant) <= NAME_MAX
    return read if fits else ModeAndVariant(sent, tuple(named))


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
    if fault := wrong_with_name(rule.name):
        return fault
    if rule.kind == "knob" and (rule.pattern.count("*") != 1 or {*"[?"} & {*rule.pattern}):
        return "a knob's value is what * stands for: write one *, no ? and no [ ], as *nxq10g"
    return ""


def _knob(rule: PartRule, part: str) -> str:
    """``nxq10g=4`` for ``4nxq10g`` by ``*nxq10g``; a part that is a knob with its value stays."""
    before, _, after = rule.pattern.partition("*")
    value = part.removeprefix(before).removesuffix(after)
    name = rule.name or (before + after).strip("-._")
    return f"{name}={value}" if value and name and "=" not in part else part


GIT_COUNT_OFFSET = 10**9
SVN_PATTERN = re.compile(r"r(\d{1,9})")
COUNT_PATTERN = re.compile(r"n(\d{1,9})")
TOTAL_PATTERN = re.compile(r"c(\d{6})")
"""A count of all commits, as kernels of FreeBSD named it for some weeks."""

HASH_PATTERN = re.compile(r"[0-9a-f]{4,40}")
DAY_PATTERN = re.compile(r"((?:19|20)\d\d)(-?)([01]\d)\2([0-3]\d)")

_DETAILED = "(one.committed_at IS NOT NULL OR one.author_name <> '' OR one.subject <> '')"

# Revisions that uploads made among imported ones break nothing: the imported one that follows the
# end of the range decides for it.
_WHOLE = """(
    EXISTS (
        SELECT FROM (SELECT one.position FROM results_revision AS one
                      WHERE one.tree_id = {tree} AND one.position >= {last} AND one.parent_known
                      ORDER BY one.position LIMIT 1) AS upto
         WHERE NOT EXISTS (
               SELECT FROM results_revision AS one
                WHERE one.tree_id = {tree} AND one.position > {after}
                  AND one.position <= upto.position AND NOT one.parent_known AND {detailed}))
    OR {last} - {after} = (
        SELECT count(*) FROM results_revision AS one
         WHERE one.tree_id = {tree} AND one.position > {after} AND one.position <= {last})
       AND 2 = (
        SELECT count(DISTINCT one.position) FROM results_revision AS one
          JOIN results_revisionalias AS alias ON alias.revision_id = one.id
         WHERE one.tree_id = {tree} AND one.position IN ({after}, {last})
           AND alias.name IN ('r' || one.position, 'n' || (one.position - {offset}))))"""

MIN_HASH = 7
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
TEMPLATE_PARTS = ("revision", "number", "hash")

PRESETS = {
    "cgit": "https://HOST/REPOSITORY/commit/?id={hash}",
    "Phabricator": "https://HOST/rS{number}",
    "GitHub": "https://github.com/OWNER/REPOSITORY/commit/{hash}",
}
"""What to start from: HOST, OWNER and REPOSITORY are to be filled in."""

EXAMPLES = "; ".join(f"{name}: {template}" for name, template in PRESETS.items())


def position_of(name: str) -> int | None:
    """The position that the id ``name`` has by itself, or None when history is needed.

    ``r303643`` is 303643; ``n302145`` is 10⁹ + 302145.
    """
    if svn := SVN_PATTERN.fullmatch(name):
        return int(svn[1])
    if count := COUNT_PATTERN.fullmatch(name):
        return GIT_COUNT_OFFSET + int(count[1])
    return None


def is_total(name: str) -> bool:
    """Whether ``name`` is a count of all commits."""
    return TOTAL_PATTERN.fullmatch(name) is not None


def as_total(name: str) -> str:
    """The count of all commits that is written ``name``, as directories do (``n277567``); empty for
    what is no such number."""
    total = f"c{name[1:]}"
    return total if COUNT_PATTERN.fullmatch(name) and is_total(total) else ""


def day_of(name: str) -> date | None:
    """The day that ``name`` is: ``2016-05-01`` or ``20160501``. None: it is none."""
    found = DAY_PATTERN.fullmatch(name)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return None


class Span(NamedTuple):
    """How many revisions are ``known`` in a range of a tree; ``is_whole``: it has no others."""

    known: int
    is_whole: bool


def whole_history_sql(*, tree: str, after: str, last: str) -> str:
    """Whether every commit later than position ``after`` up to ``last`` is known, as an expression
    of the columns given.
    """
    return _WHOLE.format(
        tree=tree, after=after, last=last, detailed=_DETAILED, offset=GIT_COUNT_OFFSET
    )


def check_source_template(text: str) -> None:
    """Raise ValidationError, with the remedy, for what is no template of a web address."""
    placeholders = PLACEHOLDER.findall(text)
    wrong = [name for name in placeholders if name not in TEMPLATE_PARTS]
    if wrong or not placeholders or PLACEHOLDER.sub("", text).count("{"):
        raise ValidationError(
            "Write {revision}, {number} or {hash} where the commit goes, and no other braces. "
            + EXAMPLES
        )
    try:
        parts = urlsplit(PLACEHOLDER.sub("x", text))
    except ValueError as error:
        raise ValidationError(f"This is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text):
        raise ValidationError("Give a whole address that begins with https:// or http://.")
    if "{" in text.partition("//")[2].partition("/")[0]:
        raise ValidationError("The host must be a fixed name: no braces before the first slash.")


def source_link(template: str, *, name: str, aliases: Iterable[str] = ()) -> str:
    """Where the commit ``name``, known by ``aliases`` too, is in the source browser; empty without
    a template, or where it asks for a hash or a number that nobody gave.
    """
    hashes = (
        one for one in (name, *aliases) if len(one) >= MIN_HASH and HASH_PATTERN.fullmatch(one)
    )
    numbered = SVN_PATTERN.fullmatch(name) or COUNT_PATTERN.fullmatch(name)
    values = {
        "revision": name,
        "number": numbered[1] if numbered else "",
        "hash": max(hashes, key=len, default=""),
    }
    asked = set(PLACEHOLDER.findall(template))
    if not asked or not all(values.get(one) for one in asked):
        return ""
    return PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template)
