"""What the names of directories and images state: revision, branch, and the options of a mode.

What remains of a name once version, branch and revision are read is what was changed: a patch
under review (`D12685`, `D27401v4`) or a word (`VIMAGE`, `mbuf`, `option-RSS.net.isr`).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from labagent.model import KNOB
from labagent.readers.benchlab.kernel import DAY, release_id, tree_of

PATCH = re.compile(r"D[0-9]{4,6}(?:v[0-9]+)?(?![0-9])")
SEPARATORS = "-._+ "

_BRANCH_TREES = {"head": "freebsd-head", "main": "freebsd-head", "current": "freebsd-head"}
_PROJECTS = frozenset({"routing"})
_STABLE = re.compile(r"^stable([0-9]*)$")

_GIT_HASH = re.compile(r"^[-_.]?g?[0-9a-f]{7,12}(?![0-9A-Za-z])")


def is_patch(token: str) -> bool:
    """Whether a part of a label is the identifier of a patch."""
    return PATCH.fullmatch(token) is not None


def split_tokens(text: str) -> tuple[str, ...]:
    """The patches and the words in `text`: `yandexD12685` → `yandex`, `D12685`."""
    words = [word.strip(SEPARATORS) for word in PATCH.split(text)]
    return (*(word for word in words if word), *PATCH.findall(text))


def numbered(style: str | None, number: str) -> str:
    """A revision as people write it; a bare number is of svn."""
    return f"{style or 'r'}{number}"


def tree_of_branch(branch: str, major: int | None) -> str | None:
    """The tree a branch's name stands for: `head`, `main`, `stable` (of `major`, or with its own
    number), or a project branch; None for a word that is no branch."""
    name = branch.lower()
    if name in _BRANCH_TREES:
        return _BRANCH_TREES[name]
    if name in _PROJECTS:
        return f"freebsd-projects-{name}"
    if match := _STABLE.match(name):
        number = match.group(1) or major
        return f"freebsd-stable-{number}" if number else None
    return None


def overlaps(token: str, others: Iterable[str]) -> bool:
    """Whether `token` and one of `others` name the same thing, one perhaps at greater length."""
    name = token.casefold()
    return any(_contains(name, other.casefold()) for other in others)


def _contains(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= 3 and (one in other or other in one))


_NUMBERED = re.compile(r"^(?:([A-Za-z]+[0-9]*)[_-])?([rnc])?([0-9]{6})(?![0-9])(.*)$")
_IMAGE_HASHED = re.compile(r"^(?=[0-9]*[a-f])([0-9a-f]{11,12})(?![0-9a-f])(.*)$")
_IMAGE_BRANCH = re.compile(
    r"^(HEAD|MAIN|CURRENT|STABLE|RELEASE|RELENG)([0-9]*)(?:\.[0-9]+)?(?=[^a-z]|$)(.*)$"
)
_IMAGE_STAGE = r"(?:-?(?:ALPHA|BETA|RC|RELEASE|PRERELEASE|STABLE|CURRENT)[0-9]*)?(?:-?p[0-9]+)?"
_IMAGE_VERSION = re.compile(rf"^[0-9]{{1,2}}\.[0-9]{{1,2}}{_IMAGE_STAGE}(.*)$")
_CONFIGURATION = re.compile(r"^(GENERIC)[0-9]*(.*)$")

_IN_PREFIX = re.compile(
    r"^(?:[A-Za-z]+[0-9]*_)?[rnc]?[0-9]{6}(?![0-9])[^.]*|^[0-9a-f]{11,12}(?![0-9a-f])[^.]*"
    rf"|^(?:HEAD|MAIN|STABLE|RELEASE|GENERIC)[0-9]+[^.]*|^1[0-9]\.[0-9]{_IMAGE_STAGE}(?=\.)"
)


@dataclass(frozen=True)
class Image:
    """`tokens` are what distinguishes this image from a plain build of `revision` on `tree`."""

    name: str
    revision: str | None = None
    tree: str | None = None
    tokens: tuple[str, ...] = ()


def parse_image(name: str) -> Image:
    """`317849VIMAGE`, `r368606D27401v4`, `MAIN_n268154`, a hash, or a name (`11.1BETA1`, `HEAD120`,
    `GENERIC111yandex`) that has the version, which the kernel knows better, and what was changed.
    """
    if match := _IMAGE_HASHED.match(name):  # it may begin with six digits
        return Image(name, match.group(1), None, split_tokens(match.group(2)))
    if match := _NUMBERED.match(name):
        return _numbered(name, *match.groups())
    if match := _IMAGE_BRANCH.match(name):
        branch, version, rest = match.groups()
        return Image(name, None, _branch_tree(branch, version), split_tokens(rest))
    if match := _IMAGE_VERSION.match(name):
        return Image(name, tokens=split_tokens(match.group(1)))
    if match := _CONFIGURATION.match(name):
        return Image(name, tokens=(match.group(1), *split_tokens(match.group(2))))
    return Image(name, tokens=split_tokens(name))


def _numbered(name: str, branch: str | None, style: str | None, number: str, rest: str) -> Image:
    known = _IMAGE_BRANCH.match(branch or "")
    tree = _branch_tree(known.group(1), known.group(2)) if known else None
    words = split_tokens(branch) if branch and not known else ()
    return Image(name, numbered(style, number), tree, words + split_tokens(_GIT_HASH.sub("", rest)))


def _branch_tree(branch: str, version: str) -> str | None:
    """`STABLE13` and `STABLE131` are stable/13; the version in `HEAD120` adds nothing."""
    return tree_of_branch(branch, int(version[:2]) if version else None)


def leading_image(prefix: str) -> str:
    """The image at the start of a file's prefix, by its look alone; empty when there is none."""
    match = _IN_PREFIX.match(prefix)
    return match.group() if match else ""


_STAGE = r"(?:-?(?:ALPHA|BETA|RC|RELEASE|PRERELEASE)[0-9]*)?(?:-?p[0-9]+)?"
_SYSTEM = re.compile(r"^f(?:ree)?bsd", re.IGNORECASE)
_VERSION = re.compile(rf"^([0-9]{{1,6}})(?:\.([0-9]+))?({_STAGE})(?=[^A-Za-z0-9]|vs|$)")
_VERSUS = re.compile(rf"^(?:-?vs-?[0-9]+(?:\.[0-9]+)?{_STAGE})+(?=[^A-Za-z0-9]|$)")
_BRANCH = re.compile(r"^[-.]([A-Za-z]+[0-9]*)(?=[-._]|$)")
_HASHED = r"(?=[0-9a-f]*[a-f])[0-9a-f]{11,12}(?![A-Za-z0-9])"
_HASH = re.compile(rf"(?<![A-Za-z0-9])({_HASHED})")
_REVISION = re.compile(rf"(?<![A-Za-z0-9])(?!{_HASHED})([rnc])?([0-9]{{6}})(?![0-9])")
_COUNTED_HASH = re.compile(r"(?<=[nc][0-9]{6}-)[0-9a-f]{7,12}(?![A-Za-z0-9])")
"""Behind a count even digits alone are the hash of its commit, however short."""

_YEAR = re.compile(r"(?<![A-Za-z0-9])20[0-9][0-9](?![A-Za-z0-9])")


@dataclass(frozen=True)
class Label:
    """`segments` is what version, branch, revision and year leave over, as names of what was
    changed. `tree` is the branch the label names, `release_tree` what its version alone suggests,
    `release` the release that this version is.
    """

    name: str
    revision: str | None = None
    tree: str | None = None
    release_tree: str | None = None
    release: str | None = None
    segments: tuple[str, ...] = ()


def parse_label(name: str, *, is_dated: bool = False) -> Label:
    """The parts of a label; one of another making is all segments. `is_dated`: a day in it is what
    names the revision, and nothing that was changed."""
    rest = _SYSTEM.sub("", name)
    version = _VERSION.match(rest) if rest != name else None
    rest = rest[version.end() :] if version else rest
    versus = _VERSUS.match(rest)
    rest = rest[versus.end() :] if versus else rest
    tree, rest = _branch(rest, int(version.group(1)) if version else None)
    return Label(
        name,
        _revision(name),
        tree,
        _release_tree(version) if not versus else None,
        _release(version) if version and not versus and tree is None else None,
        tuple(token for text in _leftovers(rest, is_dated) for token in split_tokens(text)),
    )


def _revision(name: str) -> str | None:
    if match := _REVISION.search(name):
        return numbered(*match.groups())
    match = _HASH.search(name)
    return match.group(1) if match else None


def _branch(rest: str, major: int | None) -> tuple[str | None, str]:
    """The tree of the branch at the start of `rest`, and what follows it.

    `-main-vs-stable13` names what was compared, so it names no branch.
    """
    match = _BRANCH.match(rest)
    tree = tree_of_branch(match.group(1), major) if match else None
    if match is None or tree is None or rest[match.end() :].startswith("-vs-"):
        return None, rest
    return tree, rest[match.end() :]


def _release_tree(version: re.Match[str] | None) -> str | None:
    """`10.1` alone is a release; a bare major names which head it was when measured."""
    if version is None:
        return None
    major, minor, stage = version.groups()
    if minor is None:
        return "freebsd-head"
    return tree_of(int(major), int(minor), stage.lstrip("-") or "RELEASE")


def _release(version: re.Match[str]) -> str | None:
    """A version with a minor number is a release."""
    major, minor, stage = version.groups()
    return release_id(major, minor, stage) if minor is not None else None


def _leftovers(rest: str, is_dated: bool) -> list[str]:
    days = (DAY,) if is_dated else ()
    for known in (*days, _COUNTED_HASH, _REVISION, _HASH, _YEAR):
        rest = known.sub("\0", rest)
    return [part.strip(SEPARATORS) for part in rest.split("\0")]


DEFAULT_TOPIC = "firewalls"
DEFAULT_WORKLOAD = "forwarding"

_FIREWALL_CFG = re.compile(r"^(?:(?:fast)?forwarding|(?:ipfw|ipf|pf)(?:-state\w*)?)$")
_SYSCTL = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
_VALUE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:[-_.]default)?")
_BETWEEN_VERSIONS = re.compile(r"[-._]?vs[-._]?")


@dataclass(frozen=True)
class Siblings:
    """What the runs of one label directory have between them."""

    images: tuple[Image, ...] = ()
    cfgs: tuple[str, ...] = ()

    @property
    def image_tokens(self) -> tuple[str, ...]:
        """The parts of the names of all images, in order."""
        return tuple(token for image in self.images for token in image.tokens)

    @property
    def images_differ(self) -> bool:
        """Whether the images have different tokens in their names."""
        return len({image.tokens for image in self.images}) > 1


def label_options(label: Label, siblings: Siblings) -> tuple[str, ...]:
    """The parts of the label that hold for every run below it.

    A label often names what was put to the test: then some image or configuration of the directory
    carries it and another does not, and it shows nothing of the other.
    """
    return tuple(token for token in label.segments if not _tested(token, siblings))


def _tested(token: str, siblings: Siblings) -> bool:
    tokens = siblings.image_tokens
    if overlaps(token, tokens):
        return True
    if is_patch(token):
        return siblings.images_differ or any(map(is_patch, tokens))
    return _pairs_configurations(token, siblings.cfgs) or _compares(token, siblings.images)


def _pairs_configurations(token: str, cfgs: Sequence[str]) -> bool:
    """`fastio`, where both `null` and `null-fastio` were measured."""
    part = re.compile(rf"[-._]{re.escape(token)}$|^{re.escape(token)}[-._]")
    return any((base := part.sub("", cfg)) != cfg and base in cfgs for cfg in cfgs)


def _compares(token: str, images: Sequence[Image]) -> bool:
    """`main-vs-stable13`, where the sides are branches or images."""
    sides = _BETWEEN_VERSIONS.split(token)
    return len(sides) > 1 and all(
        tree_of_branch(side, None) is not None or overlaps(side, (i.name for i in images))
        for side in sides
    )


def knob_value(cfg: str, topic: str | None) -> str:
    """The number that a knob had, where the topic is one (named as sysctls are:
    `hw.igb.num_queues`) and the configuration its value (`8000`, `8000-default`); else empty. What
    was measured then is forwarding."""
    found = _VALUE.fullmatch(cfg) if topic and _SYSCTL.fullmatch(topic) else None
    return found[1] if found else ""


def workload_of(cfg: str, topic: str | None) -> str:
    """The configuration; without one the topic, which for firewalls means plain forwarding."""
    return DEFAULT_WORKLOAD if knob_value(cfg, topic) else former_workload(cfg, topic)


def topic_options(cfg: str, topic: str | None) -> tuple[str, ...]:
    """The topic with its value, where it is a knob; else what `former_topic_options` gives."""
    value = knob_value(cfg, topic)
    return (f"{topic}{KNOB}{value}",) if value else former_topic_options(cfg, topic)


def former_workload(cfg: str, topic: str | None) -> str:
    """The workload as agents read it that knew no knobs."""
    if cfg:
        return cfg
    return DEFAULT_WORKLOAD if topic == DEFAULT_TOPIC else topic or ""


def former_topic_options(cfg: str, topic: str | None) -> tuple[str, ...]:
    """The topic, where a configuration's name means something only within it: `null` of ipsec and
    `null` of openvpn are two configurations. To agents that knew no knobs it was also `1` under
    `hw.igb.num_queues`, a number of queues.

    A topic that stands in for the configuration is the workload itself; one that is also the name
    of a firewall's configuration is marked, so that it is not taken for that one.
    """
    if not topic or topic == DEFAULT_TOPIC:
        return ()
    if cfg:
        return (topic,)
    return (f"topic-{topic}",) if _FIREWALL_CFG.match(topic) else ()


def indistinct(keys: Iterable[tuple[Image, object]]) -> Collection[Image]:
    """The images that are not distinguished: different names, no number that identifies the build,
    yet the same key (tree, revision, mode). Their name has to become an option."""
    names: dict[object, set[Image]] = {}
    for image, key in keys:
        names.setdefault(key, set()).add(image)
    return {
        image
        for images in names.values()
        if len(images) > 1
        for image in images
        if image.name and image.revision is None
    }
