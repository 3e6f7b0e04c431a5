"""Where a bench-lab archive keeps its results: `<HW>/<NIC>/<topic>/results/<label>/[RAW/]…`.

A user may point at any level. Everything about a run is read from its whole label directory, so a
run is the same whichever level was named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labagent.benchlab.label import parse_label

_RESULTS = frozenset({"results", "result"})
_RAW = re.compile(r"^raw(?:[._-](.+))?$", re.IGNORECASE)
_PROFILING = re.compile(r"^(?:hw)?pmc|^flame|^profil", re.IGNORECASE)
_BENCH_FILE = re.compile(r"^bench\.(?:.+\.)?(?:info|\d+\.(?:receiver|sender\w*)|\d+)$")


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
        return "/".join(part for part in (self.hardware, self.topic, self.label) if part)


@dataclass
class Place:
    """The files of one configuration of a label: `options` are the names of the nested directory
    and the suffix of the RAW directory that hold them."""

    options: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    suffix: str = ""
    files: list[Path] = field(default_factory=list)


@dataclass
class Contents:
    """A label directory, sorted: its places, and the logs of profiled runs, which never count."""

    places: list[Place] = field(default_factory=list)
    profiled: list[Path] = field(default_factory=list)


def find_labels(directories: Iterable[Path]) -> Iterator[LabelDirectory]:
    """The label directories below (or around) each of `directories`, each once, sorted."""
    seen: set[tuple[Path, Path | None]] = set()
    for directory in directories:
        for found in _labels_of(Path(os.path.abspath(directory))):  # noqa: PTH100 (keeps links)
            if (found.path, found.wanted) not in seen:
                seen.add((found.path, found.wanted))
                yield found


def _labels_of(directory: Path) -> Iterator[LabelDirectory]:
    below = [(results, label) for results in _results_below(directory) for label in _paths(results)]
    if below:
        yield from (_label(results, label) for results, label in below)
        return
    inside = _results_above(directory)
    if inside is not None and directory != inside:
        label = inside / directory.relative_to(inside).parts[0]
        yield _label(inside, label, wanted=None if label == directory else directory)
    elif _holds_results(directory):
        yield LabelDirectory(directory, directory.name)


def _results_above(directory: Path) -> Path | None:
    """The innermost `results` directory that holds `directory`, itself included."""
    return next((path for path in (directory, *directory.parents) if path.name in _RESULTS), None)


def _results_below(directory: Path) -> Iterator[Path]:
    for path, names, _ in os.walk(directory):
        if Path(path).name in _RESULTS:
            names.clear()
            yield Path(path)
        names[:] = sorted(name for name in names if not name.startswith("."))


def _paths(results: Path) -> Iterator[Path]:
    """The labels in a `results` directory; the directory itself when files stray there."""
    entries = sorted(os.scandir(results), key=lambda entry: entry.name)
    if any(entry.is_file() and _is_bench_file(entry.name) for entry in entries):
        yield results
    yield from (Path(e.path) for e in entries if e.is_dir() and not e.name.startswith("."))


def _is_bench_file(name: str) -> bool:
    return bool(_BENCH_FILE.match(name)) or name.endswith((".pps", ".equilibrium"))


def _holds_results(directory: Path) -> bool:
    names = [directory, *(path for path in directory.iterdir() if path.is_dir())]
    return any(_is_bench_file(path.name) for name in names for path in name.iterdir())


def _label(results: Path, label: Path, wanted: Path | None = None) -> LabelDirectory:
    above = results.parts[1:-1]
    name = "" if label == results else label.name
    if len(above) < 3:
        return LabelDirectory(label, name, wanted=wanted)
    return LabelDirectory(label, name, "/".join(above[-3:-1]), above[-1], wanted)


def read_contents(label: LabelDirectory) -> Contents:
    """The files of a label directory, sorted into places."""
    contents = Contents()
    stray = label.path.name in _RESULTS
    _collect(label.path, Place(), contents, descend=not stray)
    return contents


def _collect(directory: Path, place: Place, contents: Contents, *, descend: bool = True) -> None:
    """Put the files of `directory` into `place`, and those below into places of their own."""
    contents.places.append(place)
    entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    place.files.extend(Path(entry.path) for entry in entries if entry.is_file())
    if not descend:
        return
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith("."):
            _collect_below(Path(entry.path), place, contents)


def _collect_below(directory: Path, place: Place, contents: Contents) -> None:
    if _PROFILING.match(directory.name):
        found = (path for path in directory.rglob("bench.*") if path.is_file())
        contents.profiled.extend(path for path in found if _is_bench_file(path.name))
        return
    raw = _RAW.match(directory.name)
    if raw and not raw.group(1):
        place.files.extend(sorted(path for path in directory.iterdir() if path.is_file()))
    elif raw:
        options = (*place.options, raw.group(1))
        _collect(directory, Place(options, place.nested, raw.group(1)), contents)
    else:
        options = (*place.options, *nested_options(directory.name))
        _collect(directory, Place(options, (*place.nested, directory.name)), contents)


def nested_options(name: str) -> tuple[str, ...]:
    """What tells a nested directory from its siblings, past the version they share."""
    return parse_label(name).segments or (name,)
