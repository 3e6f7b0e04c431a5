"""The files of one place, grouped: the logs of each run, and the value files beside them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labagent.benchlab.layout import Place
from labagent.formats import FORMATS

_LOG = re.compile(r"^bench\.(?:(.+)\.)?(\d+)\.(receiver|sender(?:_\w+)?)$")
_INFO = re.compile(r"^bench\.(?:(.+)\.)?info$")
_CONSOLE = re.compile(r"^bench\.(.+)\.(\d+)$")
_PROFILED = re.compile(r"(?:^|\.)pmc(?:\.|$)", re.IGNORECASE)
_OLD_VALUES = re.compile(r"^(?:pps|none)\.(.+)$")
_NUMBERED_VALUES = re.compile(r"^[rnc]?\d{6}(?!\d)[^.]*\..+$")
_OTHER_FILES = frozenset(
    {"data", "plt", "png", "svg", "graph", "stack", "folded", "txt", "md", "log", "out", "conf"}
    | {"gz", "xz", "max", "gnuplot", "eps", "pdf"}
)


@dataclass
class Group:
    """The logs of one run: `logs[kind][iteration]`; `console` are captures without a kind."""

    prefix: str
    place: Place
    logs: dict[str, dict[str, Path]] = field(default_factory=dict)
    console: list[Path] = field(default_factory=list)
    info: Path | None = None

    @property
    def paths(self) -> list[Path]:
        """Every file of the group."""
        logs = [path for logs in self.logs.values() for path in logs.values()]
        return [*logs, *self.console, *([self.info] if self.info else [])]


@dataclass
class ValueFile:
    """A file of one value a line, as the lab's script left it."""

    prefix: str
    metric: str
    path: Path
    place: Place
    values: tuple[float, ...]


@dataclass
class Grouped:
    groups: list[Group] = field(default_factory=list)
    values: list[ValueFile] = field(default_factory=list)
    profiled: list[Path] = field(default_factory=list)


def group_files(place: Place) -> Grouped:
    """The runs and value files of one place."""
    groups: dict[str, Group] = {}
    grouped = Grouped()
    others = [path for path in place.files if not _take_log(path, place, groups, grouped)]
    grouped.groups = [group for _, group in sorted(groups.items())]
    prefixes = {group.prefix for group in grouped.groups}
    for path in others:
        if (named := _value_name(path.name, prefixes)) is not None:
            values = read_values(path)
            if values is not None:
                grouped.values.append(ValueFile(*named, path, place, values))
    return grouped


def _take_log(path: Path, place: Place, groups: dict[str, Group], grouped: Grouped) -> bool:
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
    group = groups.setdefault(prefix, Group(prefix, place))
    if log:
        group.logs.setdefault(log.group(3), {})[log.group(2)] = path
    elif info:
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


def read_values(path: Path) -> tuple[float, ...] | None:
    """One number a line, blank lines (an iteration without a value) aside; None when the file
    holds anything else, so is no value file."""
    try:
        values = tuple(float(word) for word in path.read_text("ascii").split())
    except ValueError:
        return None
    return values if all(map(math.isfinite, values)) else None
