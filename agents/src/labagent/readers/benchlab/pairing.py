"""Which value file belongs to which group of logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from labagent.readers.benchlab.groups import Group, ValueFile
from labagent.readers.benchlab.measure import MINIMUM_TO_RECOGNISE, Measured, measure_values


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
        if near and not _has_stored(entry, file.metric) and _same_values(file, entry.measured):
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


def _has_stored(entry: Entry, metric: str) -> bool:
    return any(stored.metric == metric for stored in entry.stored)


def _same_values(file: ValueFile, measured: Measured) -> bool:
    """Whether these are the group's values, by either rule of rounding the middle."""
    values = list(file.values)
    both = (measured.values.get(file.metric), measured.older.get(file.metric))
    return len(values) >= MINIMUM_TO_RECOGNISE and values in both
