"""Which file belongs to which run: value files, profiles, and what belongs to none."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labagent.files import UnreadFileError, read_file
from labagent.model import ProfileFile, Skip
from labagent.readers.benchlab import layout
from labagent.readers.benchlab.groups import (
    MINIMUM_TO_RECOGNISE,
    Group,
    Measured,
    ValueFile,
    measure_values,
)
from labagent.readers.benchlab.layout import Contents, LabelDirectory, Variant
from labagent.readers.logs import FORMATS
from labagent.readers.profiles import BINARY as RAW_SAMPLES
from labagent.readers.profiles import format_of, perl_folded


@dataclass
class Entry:
    """A run in the making: logs, or value files alone, or both. `renamed` is the value file under
    whose new name the lab keeps these values."""

    group: Group
    measured: Measured
    stored: list[ValueFile] = field(default_factory=list)
    renamed: ValueFile | None = None


@dataclass
class Paired:
    """Groups of logs with their value files; value files without logs, by run; and copies of values
    that are there already.
    """

    entries: list[Entry]
    alone: list[list[ValueFile]] = field(default_factory=list)
    copies: list[ValueFile] = field(default_factory=list)


def pair(entries: Sequence[Entry], files: Iterable[ValueFile]) -> Paired:
    """Give each value file to the group it was computed from: by name, else by equal values.

    What remains is a run whose logs are gone, or a copy of values that are there already.
    """
    left = [file for file in files if not _give_by_name(file, entries)]
    left = [file for file in left if not _give_by_values(file, entries)]
    for entry in entries:
        _stand_in(entry)
        for file in entry.stored:
            _keep_plain(entry, file)
    paired = Paired(list(entries))
    alone: dict[tuple[tuple[str, ...], str], list[ValueFile]] = {}
    for file in left:
        if any(_same_values(file, entry.measured) for entry in entries):
            paired.copies.append(file)
        else:
            alone.setdefault((file.variant.options, file.prefix), []).append(file)
    paired.alone = list(alone.values())
    return paired


def _give_by_name(file: ValueFile, entries: Iterable[Entry]) -> bool:
    for entry in entries:
        if _is_named_for(file, entry.group):
            entry.stored.append(file)
            return True
    return False


def _is_named_for(file: ValueFile, group: Group) -> bool:
    if file.variant.options == group.variant.options:
        return file.prefix == group.prefix
    suffix = group.variant.suffix
    names = (f"{group.prefix}.{suffix}", f"{suffix}.{group.prefix}")
    return (
        bool(suffix) and file.variant.options == group.variant.options[:-1] and file.prefix in names
    )


def _give_by_values(file: ValueFile, entries: Iterable[Entry]) -> bool:
    for entry in entries:
        near = file.variant.nested == entry.group.variant.nested
        has_one = any(stored.metric == file.metric for stored in entry.stored)
        if near and not has_one and _same_values(file, entry.measured):
            entry.stored.append(file)
            if not entry.group.variant.suffix:
                entry.renamed = file
            return True
    return False


def _stand_in(entry: Entry) -> None:
    """Where logs are there but give no value, stored values are all there is."""
    if entry.measured.unread:
        return
    if not entry.measured.values and any(file.values for file in entry.stored):
        logs = entry.measured
        entry.measured = measure_values(entry.stored)
        entry.measured.problems = logs.problems
        entry.measured.doubts.extend(logs.doubts)


def _keep_plain(entry: Entry, file: ValueFile) -> None:
    """Where a profile lies beside a log, and the stored value of that iteration alone is another
    one, a profiled run has overwritten the log: the stored value is the plain one.
    """
    logs, metric = entry.measured, file.metric
    raw, older = logs.values.get(metric, []), logs.older.get(metric, [])
    if logs.form is None or len(file.values) != len(raw) or len(raw) != len(logs.iterations):
        return
    differing = [i for i, value in enumerate(file.values) if value not in (raw[i], older[i])]
    profiles = [entry.group.profiles.get(logs.iterations[i]) for i in differing]
    if not differing or not all(profiles) or len(differing) == len(raw):
        return
    for i, profile in zip(differing, profiles, strict=True):
        logs.doubts.append(
            f"iteration {logs.iterations[i]}: its log is of a profiled run ({profile} lies beside "
            f"it), {raw[i]:.8g}: the plain value of {file.path.name} was kept, {file.values[i]:.8g}"
        )
        if metric == "pps":
            logs.profiled[logs.iterations[i]] = raw[i]
        raw[i] = older[i] = file.values[i]
        if metric in logs.findings:
            logs.findings[metric][i] = ()


def _same_values(file: ValueFile, measured: Measured) -> bool:
    """Whether these are the group's values, by either rule of rounding the middle."""
    values = list(file.values)
    both = (measured.values.get(file.metric), measured.older.get(file.metric))
    return len(values) >= MINIMUM_TO_RECOGNISE and values in both


NO_OWNER = "a profile of no run that is here"
NO_RUN = "a profile of a run that is left out"
NO_PROFILE = "named like a profile, and is none"
SAME = "the same profile as the graph beside it"
OTHER = "not the folded form of the graph beside it, which counts"
NO_SYMBOLS = f"{RAW_SAMPLES[0]}: {RAW_SAMPLES[1]}"

Left = tuple[Path, str]
"""A file that is no profile of a run, and why."""


def assign_profiles(variant: Variant, entries: Iterable[Entry]) -> Iterator[Left]:
    """Give each profile of the variant to its run; what is left, also what cannot be read."""
    owners = {entry.group.prefix: entry for entry in entries if entry.group.variant is variant}
    named = [
        (path, name)
        for path in (*variant.files, *variant.profiling)
        if (name := layout.profile_name(path.name))
    ]
    graphs = {(path.parent, name.stem): path for path, name in named if name.suffix == layout.GRAPH}
    for path, name in named:
        reason = _reason_against(path, name, graphs) or _give(path, name, owners, variant)
        if reason:
            yield path, reason


def _reason_against(
    path: Path, name: layout.ProfileName, graphs: Mapping[tuple[Path, str], Path]
) -> str:
    """Why a file is no profile that counts; empty: it is one, or a picture."""
    if name.suffix == layout.BINARY:
        return NO_SYMBOLS
    try:
        is_profile = format_of(path) is not None
    except UnreadFileError as error:
        return error.reason
    if not is_profile:
        return "" if name.suffix == layout.PICTURE else NO_PROFILE
    graph = graphs.get((path.parent, name.stem))
    if graph is None or name.suffix not in (*layout.FOLDED, layout.PICTURE):
        return ""
    return SAME if _is_folded_of(path, graph) else OTHER


def _is_folded_of(folded: Path, graph: Path) -> bool:
    try:
        lines = perl_folded(read_file(graph)).splitlines()
        return sorted(lines) == sorted(read_file(folded).decode("utf-8", "replace").splitlines())
    except UnreadFileError:
        return False


def _give(
    path: Path, name: layout.ProfileName, owners: Mapping[str, Entry], variant: Variant
) -> str:
    """Give a profile to its run; why there is none. A picture is nobody's, and not worth a line."""
    if name.suffix == layout.PICTURE and format_of(path) is None:
        return ""
    found = name.owner(owners)
    if found is None:
        return NO_OWNER
    entry, iteration = owners[found[0]], found[1]
    pps = entry.measured.profiled.get(iteration or layout.FIRST)
    if pps is None and not name.manual:
        pps = _rate_beside(path, found, apart=path in variant.profiling)
    entry.group.taken.append(ProfileFile(path, int(iteration) if iteration else None, pps))
    return ""


def _rate_beside(path: Path, owner: tuple[str, str | None], *, apart: bool) -> float | None:
    """The rate by the log of the same iteration that is named as profiled, or that lies ``apart``,
    in a directory of profiled runs alone."""
    prefix, iteration = owner
    markers = ("pmc", "") if apart else ("pmc",)
    names = [("bench", prefix, marker, iteration or layout.FIRST) for marker in markers]
    stems = [".".join(filter(None, name)) for name in names]
    kinds = sorted({form.log for form in FORMATS})
    logs = [path.with_name(f"{stem}.{kind}") for stem in stems for kind in kinds]
    return _rate_of([log for log in logs if log.is_file()])


def _rate_of(logs: Sequence[Path]) -> float | None:
    """The packets/s of the first log that has them. A log that cannot be read costs the rate only,
    which is then unknown."""
    for log in logs:
        with contextlib.suppress(UnreadFileError):
            data = read_file(log)
            for form in FORMATS:
                if form.claims(data) and "pps" in (values := form.read(data).values):
                    return values["pps"]
    return None


PROFILED = "profiled, so not a measurement"
COPY = "a copy of values that are there already"


def leavings(
    directory: LabelDirectory, contents: Contents, paired: Paired, profiles: Iterable[Left]
) -> Iterator[Skip]:
    """Profiled runs, copies, and profiles without a run."""
    runs = {(path.parent, path.name.split(".")[1]) for path in contents.profiled}
    yield from (Skip(f"{directory.title} ({path.name})", PROFILED) for path, _ in sorted(runs))
    yield from (Skip(f"{directory.title}/{file.path.name}", COPY) for file in paired.copies)
    for path, reason in profiles:
        yield Skip(f"{directory.title}/{path.relative_to(directory.path)}", reason)


def unread(directory: LabelDirectory, error: UnreadFileError) -> Skip:
    """A file that ought to be read and cannot be."""
    path = error.path.relative_to(directory.path) if error.path != directory.path else ""
    return Skip(f"{directory.title}/{path}", error.reason, unread=True)
