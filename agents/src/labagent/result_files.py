"""Result files in any format, one content a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from labagent.model import Metric, Skip
from labagent.readers.benchlab.walk import TOO_MANY, Bounds
from labagent.readers.formats import (
    Content,
    Format,
    Printed,
    UnreadableError,
    detect,
    read_results,
)
from labagent.reading import MAX_LOG_BYTES, UnreadFileError, read_text

UNKNOWN = "no format that is known"


def read_result_file(
    path: Path, form: Format | None = None, metric: Metric | None = None
) -> tuple[Format, Content]:
    """The format and the content of a file; ``form`` forces one. Raises UnreadableError."""
    try:
        printed = Printed(read_text(path, MAX_LOG_BYTES), path.name, metric)
    except UnreadFileError as error:
        raise UnreadableError(str(error)) from error
    found = form or detect(printed)
    if found is None:
        raise UnreadableError(f"{path.name}: {UNKNOWN}", "name it: --format")
    return found, read_results(printed, found)


def files_below(directory: Path, skipped: list[Skip]) -> Iterator[Path]:
    """The regular files of a directory and those below, in order; no link to one is followed.

    What cannot be listed is appended to ``skipped``.
    """

    def refuse(error: OSError) -> None:
        skipped.append(Skip(str(error.filename), f"cannot be read: {error.strerror}", unread=True))

    bounds = Bounds()
    for name, below, files in os.walk(directory, onerror=refuse):
        below[:] = sorted(one for one in below if not one.startswith("."))
        bounds.entries -= len(files) + len(below)
        if bounds.entries < 0:
            skipped.append(Skip(name, TOO_MANY, unread=True))
            return
        yield from (Path(name, one) for one in sorted(files) if not one.startswith("."))
