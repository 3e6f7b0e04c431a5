"""What lies in a label directory and became no run, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from labagent.model import Skip
from labagent.readers.benchlab.layout import Contents, LabelDirectory
from labagent.readers.benchlab.pairing import Paired
from labagent.readers.benchlab.profiles import Left
from labagent.reading import UnreadFileError

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
