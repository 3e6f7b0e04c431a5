"""The runs of a variant with their files, by the names of these; and the values of each run: from
its logs when they are there, else from its value files.
"""

import contextlib
import hashlib
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labagent.files import MAX_TEXT_BYTES, UnreadFileError, read_file
from labagent.limits import LARGEST_SAMPLE
from labagent.model import Finding, Metric, ProfileFile, Samples
from labagent.readers.benchlab.layout import BINARY, FIRST, PICTURE, Variant, profile_name
from labagent.readers.logs import FORMATS, LogFormat, Outline, Reading

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


MINIMUM_TO_COMPARE = 3
"""Iterations from which on the one that differs can be distinguished from the others."""

FEW_SECONDS = 0.9
"""Share of the median number of seconds. In the netbenches archive no whole log has less."""


def compare_iterations(outlines: Mapping[str, Outline]) -> Iterator[tuple[str, str]]:
    """An iteration, and what it lacks that the others have."""
    if len(outlines) < MINIMUM_TO_COMPARE:
        return
    median = statistics.median(outline.seconds for outline in outlines.values())
    header, count = Counter(one.header for one in outlines.values()).most_common(1)[0]
    for iteration, one in outlines.items():
        others = [other for key, other in outlines.items() if key != iteration]
        if one.header != header and count == len(others):
            yield iteration, f"{one.header} lines before the first second, the others {header}"
        if one.seconds < FEW_SECONDS * median:
            yield iteration, f"{one.seconds} seconds, the others {median:g}"
        elif not one.closed and all(other.closed for other in others):
            yield iteration, f"no closing line, which the others have, after {one.seconds} seconds"


def repeated(digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """An iteration whose log is another one's, to the byte."""
    first: dict[str, str] = {}
    for iteration, digest in digests.items():
        if digest in first:
            yield iteration, f"the same file as iteration {first[digest]}"
        first.setdefault(digest, iteration)


def missing_iterations(iterations: Mapping[str, object]) -> list[int]:
    """Numbers from 1 to the highest that no log has; none where the numbers are no count."""
    numbers = {int(name) for name in iterations if len(name) <= 4}
    highest = max(numbers, default=0)
    lost = sorted(set(range(1, highest)) - numbers)
    return lost if len(lost) < len(numbers) else []


MINIMUM_TO_RECOGNISE = 3
"""Values in common from which on a file without a matching name is taken for a group's own."""

METRICS: Mapping[str, Metric] = {m.name: m for form in FORMATS for m in form.metrics}


@dataclass
class Measured:
    """The samples of a group by metric, and the findings of each. `digests` are those of the files
    they came from; `iterations` the iterations, in the order of the samples, that gave a value.
    `doubts` are what shows that files are not as they were written; `unread` names which file could
    not be read, then the run is left out. `profiled` has the packets/s of iterations whose log a
    profiled run has overwritten."""

    values: dict[str, list[float]] = field(default_factory=dict)
    older: dict[str, list[float]] = field(default_factory=dict)
    findings: dict[str, list[tuple[Finding, ...]]] = field(default_factory=dict)
    iterations: list[str] = field(default_factory=list)
    digests: dict[Path, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    form: LogFormat | None = None
    outlines: dict[str, Outline] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    unread: str = ""
    profiled: dict[str, float] = field(default_factory=dict)


def measure_logs(group: Group) -> Measured:
    """Read the logs that carry values, one after the other."""
    try:
        for form in FORMATS:
            logs = group.logs.get(form.log, {})
            if any(form.claims(read_file(logs[iteration])) for iteration in sorted(logs)):
                return _measure(form, group)
    except UnreadFileError as error:
        return Measured(unread=str(error))
    return Measured()


def _measure(form: LogFormat, group: Group) -> Measured:
    measured = Measured(form=form)
    logs = group.logs[form.log]
    for iteration in sorted(logs):
        data = read_file(logs[iteration])
        measured.digests[logs[iteration]] = hashlib.sha256(data).hexdigest()
        reading = form.read(data)
        _add(measured, iteration, logs[iteration].name, reading)
        if not reading.problem:
            found = form.judge({form.log: data, **_others(form, group, iteration)})
            for metric in reading.values:
                measured.findings.setdefault(metric, []).append(found)
    measured.doubts.extend(_doubts_between(measured, logs))
    return measured


def _others(form: LogFormat, group: Group, iteration: str) -> dict[str, bytes]:
    """The iteration's other logs by kind. They carry no value: one that cannot be read is left out
    and costs nothing, and their digests are not among the run's, which are its identity."""
    found = {}
    for kind, logs in sorted(group.logs.items()):
        if kind != form.log and iteration in logs:
            with contextlib.suppress(UnreadFileError):
                found[kind] = read_file(logs[iteration])
    return found


def _doubts_between(measured: Measured, logs: Mapping[str, Path]) -> Iterator[str]:
    """What only the iterations together show. Logs with an outline carry time stamps, so two are
    never the same."""
    digests = {iteration: measured.digests[logs[iteration]] for iteration in measured.outlines}
    found = [*compare_iterations(measured.outlines), *repeated(digests)]
    yield from (f"{logs[iteration].name}: {doubt}" for iteration, doubt in found)
    if lost := missing_iterations(logs):
        yield f"iteration {', '.join(map(str, lost[:3]))} has no log"


def _add(measured: Measured, iteration: str, name: str, reading: Reading) -> None:
    measured.doubts.extend(f"{name}: {doubt}" for doubt in reading.doubts)
    if reading.outline:
        measured.outlines[iteration] = reading.outline
    if reading.problem:
        measured.problems[iteration] = reading.problem
        return
    measured.iterations.append(iteration)
    for metric, value in reading.values.items():
        measured.values.setdefault(metric, []).append(value)
        measured.older.setdefault(metric, []).append(reading.older.get(metric, value))


def measure_values(files: Sequence[ValueFile]) -> Measured:
    """The samples that value files hold, one file for each metric."""
    measured = Measured()
    for file in files:
        if file.values:
            measured.values[file.metric] = list(file.values)
            measured.digests[file.path] = file.sha256
            if file.cut:
                measured.doubts.append(f"{file.path.name}: its last line is cut")
    return measured


def compare_stored(measured: Measured, stored: ValueFile) -> str | None:
    """A warning where the stored values are not those of the logs; they never replace them."""
    raw = measured.values.get(stored.metric, [])
    if measured.form is None or list(stored.values) == raw:
        return None
    if not raw:
        return f"{stored.path.name} holds {len(stored.values)} values that no log carries"
    start = f"{stored.path.name} holds other values than the logs, which were kept: "
    if list(stored.values) == measured.older.get(stored.metric):
        return f"{start}it follows {measured.form.older_rule}"
    return start + _difference(raw, stored.values)


def _difference(raw: Sequence[float], stored: Sequence[float]) -> str:
    if len(raw) == len(stored):
        pairs = [f"{a:.8g} there {b:.8g}" for a, b in zip(raw, stored, strict=True) if a != b]
        return ", ".join(pairs[:3]) + (" and more" if len(pairs) > 3 else "")
    missing = [value for value in raw if value not in stored]
    if len(stored) < len(raw) and len(missing) == len(raw) - len(stored):
        return f"{len(missing)} left out there ({', '.join(f'{v:.8g}' for v in missing)})"
    return f"{len(stored)} there, {len(raw)} in the logs"


def samples_of(measured: Measured) -> tuple[Samples, ...]:
    """Each iteration is a boot of its own: bench-lab reboots the machine between iterations."""
    return tuple(
        Samples(
            METRICS[metric],
            tuple(values),
            tuple(range(len(values))),
            tuple(measured.findings[metric]) if metric in measured.findings else None,
        )
        for metric, values in sorted(measured.values.items())
    )
