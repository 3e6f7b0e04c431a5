"""Where a bench-lab archive keeps its results: `<HW>/<NIC>/<topic>/results/<label>/[RAW/]…`.

A user may point at any level. Everything about a run is read from its whole label directory, so a
run is the same whichever level was named. Names of profiles are taken apart here, too: some lack
`bench.`; `.stack`, `.folded` and `.folded.txt` hold folded stacks, and now and then a `.svg` does.
"""

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labagent.model import Skip
from labagent.readers.benchlab.label import parse_label

MAX_DEPTH = 16
"""Levels below the directory that was named; a whole archive has seven."""

MAX_ENTRIES = 1_000_000
"""Directories and files that one call looks at; the netbenches archive has 80,000 files."""

TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep: not read"
TOO_MANY = f"more than {MAX_ENTRIES} files: name fewer directories"


@dataclass
class Bounds:
    """What is left of `MAX_ENTRIES`."""

    entries: int = MAX_ENTRIES

    def scan(self, directory: Path) -> list[os.DirEntry[str]]:
        """The entries of a directory, sorted; `OSError` where it cannot be read or is too large."""
        with os.scandir(directory) as found:
            entries = []
            for entry in found:
                self.entries -= 1
                if self.entries < 0:
                    raise OSError(0, TOO_MANY, str(directory))
                entries.append(entry)
        return sorted(entries, key=lambda entry: entry.name)


def is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory to look into; a link that leads nowhere is none."""
    try:
        return entry.is_dir() and not entry.name.startswith(".")
    except OSError:
        return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a regular file, perhaps behind a link."""
    try:
        return entry.is_file()
    except OSError:
        return False


Refused = Callable[[Path, str], None]
"""Takes a directory that is not read, and why."""


def directories_below(
    root: Path, bounds: Bounds, refused: Refused, is_wanted: Callable[[Path], bool]
) -> Iterator[Path]:
    """The wanted directories at or below `root`, in order; neither links nor what lies below a
    wanted one are followed."""
    waiting = [(root, 0)]
    while waiting:
        directory, depth = waiting.pop()
        if is_wanted(directory):
            yield directory
            continue
        if depth > MAX_DEPTH:
            refused(directory, TOO_DEEP)
            continue
        try:
            entries = bounds.scan(directory)
        except OSError as error:
            refused(directory, f"cannot be read: {error.strerror}")
            if bounds.entries < 0:
                return
            continue
        below = [entry for entry in entries if is_directory(entry) and not entry.is_symlink()]
        waiting.extend((Path(entry.path), depth + 1) for entry in reversed(below))


def leads_up(path: Path) -> bool:
    """Whether a link leads to a directory that holds it, so that following it has no end."""
    return path.is_symlink() and path.parent.resolve().is_relative_to(path.resolve())


def identity(path: Path) -> tuple[int, int]:
    """What two names of one directory share."""
    found = path.stat()
    return found.st_dev, found.st_ino


_RESULTS = frozenset({"results", "result"})
_RAW = re.compile(r"^raw(?:[._-](.+))?$", re.IGNORECASE)
_PROFILING = re.compile(r"^(?:hw)?pmc|^flame|^profil", re.IGNORECASE)
_BENCH_FILE = re.compile(r"^bench\.(?:.+\.)?(?:info|\d+\.(?:receiver|sender\w*)|\d+)\Z", re.ASCII)

LINKED = "a link to a directory that is read already"


@dataclass(frozen=True)
class LabelDirectory:
    """One result directory. `hardware` and `topic` are None outside an archive; `wanted` limits
    what is reported to files below it."""

    path: Path
    label: str
    hardware: str | None = None
    topic: str | None = None
    wanted: Path | None = None

    @property
    def title(self) -> str:
        """How messages name the label: its path below the root."""
        return "/".join(part for part in (self.hardware, self.topic, self.label) if part)


@dataclass
class Variant:
    """The files of one configuration of a label: `options` are the names of the nested directory
    and the suffix of the RAW directory that hold them. `profiling` are the files in its directories
    of profiled runs."""

    options: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    suffix: str = ""
    files: list[Path] = field(default_factory=list)
    profiling: list[Path] = field(default_factory=list)


@dataclass
class Contents:
    """A label directory, sorted: its variants, the logs of profiled runs, which never count, and
    the directories that are not read."""

    variants: list[Variant] = field(default_factory=list)
    profiled: list[Path] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def find_labels(
    directories: Iterable[Path], bounds: Bounds | None = None
) -> Iterator[LabelDirectory | Skip]:
    """The label directories below (or around) each of `directories`, each real one once, sorted,
    and the directories that could not be read.

    Where a link leads to a label that is there under its own name, that name counts.
    """
    finder = _Finder(bounds or Bounds())
    labels = [one for directory in directories for one in finder.labels_of(directory)]
    found = [(key, one) for one in labels if (key := finder.identify(one.path))]
    yield from finder.skips
    seen: set[tuple[tuple[int, int], Path | None]] = set()
    real = {key for key, one in found if not one.path.is_symlink()}
    for key, one in found:
        again = (key, one.wanted) in seen
        if again or (one.path.is_symlink() and (key in real or leads_up(one.path))):
            continue
        seen.add((key, one.wanted))
        yield one


@dataclass
class _Finder:
    bounds: Bounds
    skips: list[Skip] = field(default_factory=list)

    def labels_of(self, directory: Path) -> list[LabelDirectory]:
        path = Path(os.path.abspath(directory))  # noqa: PTH100 (keeps links)
        try:
            return list(self._labels_of(path))
        except OSError as error:
            self._refuse(path, f"cannot be read: {error.strerror}")
            return []

    def identify(self, label: Path) -> tuple[int, int] | None:
        try:
            return identity(label)
        except OSError as error:
            self._refuse(label, f"cannot be read: {error.strerror}")
            return None

    def _refuse(self, directory: Path, reason: str) -> None:
        self.skips.append(Skip(str(directory), reason, unread=True))

    def _labels_of(self, directory: Path) -> Iterator[LabelDirectory]:
        found = directories_below(directory, self.bounds, self._refuse, _is_results)
        below = [(results, label) for results in found for label in self._paths(results)]
        if below:
            yield from (_label(results, label) for results, label in below)
            return
        inside = _results_above(directory)
        if inside is not None and directory != inside:
            label = inside / directory.relative_to(inside).parts[0]
            yield _label(inside, label, wanted=None if label == directory else directory)
        elif self.bounds.entries >= 0 and self._has_results(directory):
            yield LabelDirectory(directory, directory.name)

    def _paths(self, results: Path) -> Iterator[Path]:
        """The labels in a `results` directory; the directory itself when files stray there."""
        try:
            entries = self.bounds.scan(results)
        except OSError as error:
            self._refuse(results, f"cannot be read: {error.strerror}")
            return
        if any(is_file(entry) and is_bench_file(entry.name) for entry in entries):
            yield results
        yield from (Path(entry.path) for entry in entries if is_directory(entry))

    def _has_results(self, directory: Path) -> bool:
        entries = self.bounds.scan(directory)
        levels = [entries, *(self._scan(entry) for entry in entries if is_directory(entry))]
        return any(is_bench_file(entry.name) for level in levels for entry in level)

    def _scan(self, entry: os.DirEntry[str]) -> list[os.DirEntry[str]]:
        try:
            return self.bounds.scan(Path(entry.path))
        except OSError:  # reported when it is read, if this is a bench directory at all
            return []


def _is_results(directory: Path) -> bool:
    return directory.name in _RESULTS


def _results_above(directory: Path) -> Path | None:
    """The innermost `results` directory that holds `directory`, itself included."""
    return next((path for path in (directory, *directory.parents) if path.name in _RESULTS), None)


def is_bench_file(name: str) -> bool:
    """Whether a file of this name is a result of a benchmark."""
    return bool(_BENCH_FILE.match(name)) or name.endswith((".pps", ".equilibrium"))


def _label(results: Path, label: Path, wanted: Path | None = None) -> LabelDirectory:
    above = results.parts[1:-1]
    name = "" if label == results else label.name
    if len(above) < 3:
        return LabelDirectory(label, name, wanted=wanted)
    return LabelDirectory(label, name, "/".join(above[-3:-1]), above[-1], wanted)


def read_contents(label: LabelDirectory, bounds: Bounds | None = None) -> Contents:
    """The files of a label directory, sorted by variant."""
    collector = _Collector(label, bounds or Bounds())
    stray = label.path.name in _RESULTS
    collector.collect(label.path, Variant(), descend=not stray)
    return collector.contents


class _Collector:
    """Sorts what lies below a label. A directory that cannot be read costs the whole label: its
    other runs may be measured in part only."""

    def __init__(self, label: LabelDirectory, bounds: Bounds) -> None:
        self.label = label
        self.bounds = bounds
        self.contents = Contents()
        self.seen = {identity(label.path)}

    def collect(self, directory: Path, variant: Variant, *, descend: bool = True) -> None:
        """Put the files of `directory` into `variant`, and those below into their own."""
        self.contents.variants.append(variant)
        entries = self._take_files(directory, variant)
        if not descend:
            return
        below = [entry for entry in entries if is_directory(entry)]
        for entry in sorted(below, key=lambda entry: (entry.is_symlink(), entry.name)):
            if self._is_new(Path(entry.path), len(variant.nested)):
                self._collect_below(Path(entry.path), variant)

    def _take_files(self, directory: Path, variant: Variant) -> list[os.DirEntry[str]]:
        """What is named like a log but is no file is taken as well: reading it reports so."""
        entries = self.bounds.scan(directory)
        logs = (
            Path(entry.path)
            for entry in entries
            if is_file(entry) or (is_bench_file(entry.name) and not is_directory(entry))
        )
        variant.files.extend(logs)
        return entries

    def _is_new(self, directory: Path, depth: int) -> bool:
        """Whether a directory was not read under another name, and is not nested too deep."""
        found = identity(directory)
        linked = found in self.seen or leads_up(directory)
        reason = LINKED if linked else TOO_DEEP if depth > MAX_DEPTH else ""
        if reason:
            path = directory.relative_to(self.label.path)
            where = f"{self.label.title}/{path}"
            self.contents.skips.append(Skip(where, reason, unread=reason is TOO_DEEP))
        self.seen.add(found)
        return not reason

    def _collect_below(self, directory: Path, variant: Variant) -> None:
        if _PROFILING.match(directory.name):
            self._collect_profiled(directory, variant)
            return
        raw = _RAW.match(directory.name)
        if raw and not raw.group(1):
            self._take_files(directory, variant)
        elif raw:
            options = (*variant.options, raw.group(1))
            self.collect(directory, Variant(options, variant.nested, raw.group(1)))
        else:
            options = (*variant.options, *nested_options(directory.name))
            self.collect(directory, Variant(options, (*variant.nested, directory.name)))

    def _collect_profiled(self, directory: Path, variant: Variant, depth: int = 0) -> None:
        entries = self.bounds.scan(directory)
        files = [Path(entry.path) for entry in entries if is_file(entry)]
        self.contents.profiled.extend(path for path in files if _BENCH_FILE.match(path.name))
        variant.profiling.extend(files)
        for entry in entries:
            if is_directory(entry) and not entry.is_symlink() and depth < MAX_DEPTH:
                self._collect_profiled(Path(entry.path), variant, depth + 1)


def nested_options(name: str) -> tuple[str, ...]:
    """What distinguishes a nested directory from its siblings, past the version they share."""
    return parse_label(name).segments or (name,)


FIRST = "1"
"""The iteration that is profiled where the name of a profile has none."""

GRAPH = ".graph"
PICTURE = ".svg"
BINARY = ".pmc.out"
FOLDED = (".folded.txt", ".folded", ".stack")
_ADDED = frozenset({"pmc", "manual"})


@dataclass(frozen=True)
class ProfileName:
    """A name taken apart: `stem` without what names the format, `parts` without what shows that it
    is a profile, `suffix` what names the format. `manual`: taken by hand, at a time of its own."""

    stem: str
    parts: tuple[str, ...]
    suffix: str
    manual: bool = False

    def owner(self, prefixes: Container[str]) -> tuple[str, str | None] | None:
        """The prefix of the run, and the iteration where the name has it; None: of none of these.

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
