"""The profiles beside the runs of a variant: whose each is, and which are the same twice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from labagent.model import ProfileFile
from labagent.readers.benchlab.layout import Variant
from labagent.readers.benchlab.pairing import Entry
from labagent.readers.benchlab.profile_names import (
    BINARY,
    FIRST,
    FOLDED,
    GRAPH,
    PICTURE,
    ProfileName,
    profile_name,
)
from labagent.readers.logs import FORMATS
from labagent.readers.profiles import BINARY as RAW_SAMPLES
from labagent.readers.profiles import format_of, perl_folded
from labagent.reading import UnreadFileError, read_file

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
        if (name := profile_name(path.name))
    ]
    graphs = {(path.parent, name.stem): path for path, name in named if name.suffix == GRAPH}
    for path, name in named:
        reason = _reason_against(path, name, graphs) or _give(path, name, owners, variant)
        if reason:
            yield path, reason


def _reason_against(path: Path, name: ProfileName, graphs: Mapping[tuple[Path, str], Path]) -> str:
    """Why a file is no profile that counts; empty: it is one, or a picture."""
    if name.suffix == BINARY:
        return NO_SYMBOLS
    try:
        is_profile = format_of(path) is not None
    except UnreadFileError as error:
        return error.reason
    if not is_profile:
        return "" if name.suffix == PICTURE else NO_PROFILE
    graph = graphs.get((path.parent, name.stem))
    if graph is None or name.suffix not in (*FOLDED, PICTURE):
        return ""
    return SAME if _is_folded_of(path, graph) else OTHER


def _is_folded_of(folded: Path, graph: Path) -> bool:
    try:
        lines = perl_folded(read_file(graph)).splitlines()
        return sorted(lines) == sorted(read_file(folded).decode("utf-8", "replace").splitlines())
    except UnreadFileError:
        return False


def _give(path: Path, name: ProfileName, owners: Mapping[str, Entry], variant: Variant) -> str:
    """Give a profile to its run; why there is none. A picture is nobody's, and not worth a line."""
    if name.suffix == PICTURE and format_of(path) is None:
        return ""
    found = name.owner(owners)
    if found is None:
        return NO_OWNER
    entry, iteration = owners[found[0]], found[1]
    pps = _rate_within(entry, iteration)
    if pps is None and not name.manual:
        pps = _rate_beside(path, found, apart=path in variant.profiling)
    entry.group.taken.append(ProfileFile(path, int(iteration) if iteration else None, pps))
    return ""


def _rate_within(entry: Entry, iteration: str | None) -> float | None:
    """The rate while an iteration of the run was profiled, where its log was overwritten then; of
    any other log nobody knows whether a profile was taken during it."""
    return entry.measured.profiled.get(iteration or FIRST)


def _rate_beside(path: Path, owner: tuple[str, str | None], *, apart: bool) -> float | None:
    """The rate by the log of the same iteration that is named as profiled, or that lies ``apart``,
    in a directory of profiled runs alone."""
    prefix, iteration = owner
    markers = ("pmc", "") if apart else ("pmc",)
    names = [("bench", prefix, marker, iteration or FIRST) for marker in markers]
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
