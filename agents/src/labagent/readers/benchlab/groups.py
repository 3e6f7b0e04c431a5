"""The files of one variant by their names: the logs of each run, its value files and profiles.

Some names lack `bench.`; `.stack`, `.folded` and `.folded.txt` hold folded stacks, and now and then
a `.svg` does.
"""

import hashlib
import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labagent.files import MAX_TEXT_BYTES, UnreadFileError, read_file
from labagent.limits import LARGEST_SAMPLE
from labagent.model import ProfileFile
from labagent.readers.benchlab.layout import Variant
from labagent.readers.logs import FORMATS

FIRST = "1"
"""The iteration that is profiled where the name of a profile tells none."""

GRAPH = ".graph"
PICTURE = ".svg"
BINARY = ".pmc.out"
FOLDED = (".folded.txt", ".folded", ".stack")
_ADDED = frozenset({"pmc", "manual"})


@dataclass(frozen=True)
class ProfileName:
    """A name taken apart: `stem` without what says the format, `parts` without what says that it is
    a profile, `suffix` what says the format. `manual`: taken by hand, at a time of its own."""

    stem: str
    parts: tuple[str, ...]
    suffix: str
    manual: bool = False

    def owner(self, prefixes: Container[str]) -> tuple[str, str | None] | None:
        """The prefix of the run, and the iteration where the name tells it; None: of none of these.

        A configuration may be a number: bench.pf.2.graph is of the run pf.2 where there is no pf.
        """
        before, last = ".".join(self.parts[:-1]), self.parts[-1] if self.parts else ""
        if last.isascii() and last.isdecimal() and before in prefixes:
            return before, last
        whole = ".".join(self.parts)
        return (whole, None) if whole in prefixes else None


def profile_name(name: str) -> ProfileName | None:
    """The parts of a profile's name, None for a file that is not named like one."""
    lower = name.lower()
    found = (one for one in (GRAPH, *FOLDED, PICTURE, BINARY) if lower.endswith(one))
    suffix = next(found, None)
    if suffix is None:
        return None
    stem = name[: -len(suffix)]
    parts = stem.split(".")
    if parts[0] == "bench":
        del parts[0]
    added = set()
    while parts and parts[-1].lower() in _ADDED:
        added.add(parts.pop().lower())
    return ProfileName(stem, tuple(parts), suffix, "manual" in added)


_LOG = re.compile(r"^bench\.(?:(.+)\.)?([0-9]+)\.(receiver|sender(?:_\w+)?)\Z", re.ASCII)
_INFO = re.compile(r"^bench\.(?:(.+)\.)?info\Z")
_CONSOLE = re.compile(r"^bench\.(.+)\.([0-9]+)\Z", re.ASCII)
_PACKED = re.compile(r"\.(?:gz|xz|bz2|zst)\Z")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,18})?(?:[eE][-+]?\d{1,2})?", re.ASCII)
_PROFILED = re.compile(r"(?:^|\.)pmc(?:\.|$)", re.IGNORECASE)
_OLD_VALUES = re.compile(r"^(?:pps|none)\.(.+)$")
_NUMBERED_VALUES = re.compile(r"^[rnc]?[0-9]{6}(?![0-9])[^.]*\..+$")
_OTHER_FILES = frozenset(
    {"data", "plt", "png", "svg", "graph", "stack", "folded", "txt", "md", "log", "out", "conf"}
    | {"gz", "xz", "max", "gnuplot", "eps", "pdf"}
)


@dataclass
class Group:
    """The logs of one run: `logs[kind][iteration]`; `console` are captures without a kind, `twice`
    the names that lie in two directories of the variant. `profiles` has the name of the profile
    that lies beside an iteration's log, `taken` the profiles of the run."""

    prefix: str
    variant: Variant
    logs: dict[str, dict[str, Path]] = field(default_factory=dict)
    console: list[Path] = field(default_factory=list)
    info: Path | None = None
    twice: list[str] = field(default_factory=list)
    profiles: dict[str, str] = field(default_factory=dict)
    taken: list[ProfileFile] = field(default_factory=list)

    @property
    def paths(self) -> list[Path]:
        """Every file of the group."""
        logs = [path for logs in self.logs.values() for path in logs.values()]
        return [*logs, *self.console, *([self.info] if self.info else [])]


@dataclass
class ValueFile:
    """A file of one value a line, as the lab's script left it; `cut` where its last line lacks
    the newline."""

    prefix: str
    metric: str
    path: Path
    variant: Variant
    values: tuple[float, ...]
    sha256: str = ""
    cut: bool = False


@dataclass
class Grouped:
    """`unread` are files that ought to be read and cannot be, with the reason."""

    groups: list[Group] = field(default_factory=list)
    values: list[ValueFile] = field(default_factory=list)
    profiled: list[Path] = field(default_factory=list)
    unread: list[UnreadFileError] = field(default_factory=list)


def group_files(variant: Variant) -> Grouped:
    """The runs and value files of one variant."""
    groups: dict[str, Group] = {}
    grouped = Grouped()
    others = [path for path in variant.files if not _take_log(path, variant, groups, grouped)]
    grouped.groups = [group for _, group in sorted(groups.items())]
    for path in others:
        _note_profile(path.name, groups)
    prefixes = {group.prefix for group in grouped.groups}
    for path in others:
        try:
            _take_values(path, variant, prefixes, grouped)
        except UnreadFileError as error:
            grouped.unread.append(error)
    return grouped


def _note_profile(name: str, groups: Mapping[str, Group]) -> None:
    """`bench.P.1.pmc.graph`: iteration 1 of the group P was profiled, then or later."""
    found = profile_name(name)
    if found is None or found.suffix in (PICTURE, BINARY) or not name.startswith("bench."):
        return
    if owner := found.owner(groups):
        groups[owner[0]].profiles.setdefault(owner[1] or FIRST, name)


def _take_values(path: Path, variant: Variant, prefixes: Iterable[str], grouped: Grouped) -> None:
    """Put `path` where it belongs if it is a value file; `UnreadFileError` where it is a damaged
    or packed one."""
    if _PACKED.search(path.name) and _LOG.match(_PACKED.sub("", path.name)):
        raise UnreadFileError(path, "is packed: unpack it first")
    named = _value_name(path.name, prefixes)
    if named is None:
        return
    data = read_file(path, MAX_TEXT_BYTES)
    values = parse_values(path, data)
    if values is None and path.name.endswith(tuple(_suffixes())):
        raise UnreadFileError(path, f"line 1: {data[:40].decode('utf-8', 'replace')!r} is no value")
    if values is not None:
        cut = bool(data) and not data.endswith(b"\n")
        digest = hashlib.sha256(data).hexdigest()
        grouped.values.append(ValueFile(*named, path, variant, values, digest, cut))


def _take_log(path: Path, variant: Variant, groups: dict[str, Group], grouped: Grouped) -> bool:
    """Whether `path` is a log or an info file; puts it where it belongs if so."""
    log = _LOG.match(path.name)
    info = None if log else _INFO.match(path.name)
    console = None if log or info else _CONSOLE.match(path.name)
    match = log or info or console
    if match is None:
        return False
    prefix = match.group(1) or ""
    if _PROFILED.search(prefix):
        grouped.profiled.append(path)
        return True
    group = groups.setdefault(prefix, Group(prefix, variant))
    if log:
        logs = group.logs.setdefault(log.group(3), {})
        if log.group(2) in logs:
            group.twice.append(path.name)
        logs[log.group(2)] = path
    elif info:
        if group.info:
            group.twice.append(path.name)
        group.info = path
    else:
        group.console.append(path)
    return True


def _value_name(name: str, prefixes: Iterable[str]) -> tuple[str, str] | None:
    """The prefix and metric that a value file's name stands for, None for any other file."""
    for suffix, metric in _suffixes().items():
        if name.endswith(suffix):
            prefix = name.removesuffix(suffix)
            return ("" if prefix == "bench" else prefix), metric
    if name.rpartition(".")[2].lower() in _OTHER_FILES:
        return None
    if match := _OLD_VALUES.match(name):
        return match.group(1), "pps"
    if name in prefixes or _NUMBERED_VALUES.match(name):
        return name, "pps"
    return None


def _suffixes() -> Mapping[str, str]:
    return {suffix: metric for form in FORMATS for suffix, metric in form.suffixes.items()}


def parse_values(path: Path, data: bytes) -> tuple[float, ...] | None:
    """One number a line, blank lines (an iteration without a value) aside.

    None when the file does not begin with a number, so is no value file; `UnreadFileError` where
    it does and goes on with something else.
    """
    values: list[float] = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        for word in line.split():
            value = _value(word)
            if value is not None:
                values.append(value)
            elif values or _looks_numeric(word):
                raise UnreadFileError(path, f"line {number}: {word[:40]!r} is no value")
            else:
                return None
    return tuple(values)


def _value(word: str) -> float | None:
    value = float(word) if _NUMBER.fullmatch(word) else math.inf
    return value if value <= LARGEST_SAMPLE else None


def _looks_numeric(word: str) -> bool:
    """Whether a word is a number, though none that a benchmark can have measured."""
    try:
        float(word)
    except ValueError:
        return False
    return True
