"""Result files in any format, one content a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from labagent.directions import NO_DIRECTION, Directions
from labagent.errors import SettingsError
from labagent.measured import Origin, runs_from
from labagent.model import Evidence, Metric, Outcome, Overrides, Skip, Source
from labagent.readers.benchlab.walk import TOO_MANY, Bounds
from labagent.readers.formats import (
    Content,
    Format,
    Printed,
    UnreadableError,
    detect,
    read_results,
)
from labagent.reading import MAX_LOG_BYTES, UnreadFileError, digest_of, read_text

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


def runs_of_file(
    path: Path, form: Format | None, overrides: Overrides, directions: Directions
) -> list[Outcome]:
    """The runs of a file, one a case; a file that cannot be read, and metrics whose direction
    nobody knows, are skipped. Raises SettingsError where the user did not say where it is from."""
    origin = _origin(path, overrides)
    try:
        found, content = read_result_file(path, form)
        origin = replace(origin, sources=(Source(path.name, digest_of(path)),))
    except (UnreadableError, UnreadFileError) as error:
        return [Skip(str(path), error.message, unread=True)]
    if found.needs_metric and overrides.mode is None:
        return [Skip(str(path), "bare numbers: name what they measure by --mode", unread=True)]
    content, left = directions.complete(content)
    skips = [Skip(f"{path}: {name}", NO_DIRECTION) for name in left]
    return [*runs_from(content, found.name, origin, overrides.mode), *skips]


def _origin(path: Path, overrides: Overrides) -> Origin:
    needed = {"--tree": overrides.tree, "--revision": overrides.revision}
    needed["--hardware"] = overrides.hardware
    missing = [option for option, value in needed.items() if not value]
    if missing:
        raise SettingsError(
            f"{path} does not say what it was measured on",
            f"pass {', '.join(missing)}; a directory of bench-lab needs none of them",
        )
    return Origin(
        tree=overrides.tree or "",
        revision=overrides.revision or "",
        hardware=overrides.hardware or "",
        build_id=overrides.revision or "",
        position=overrides.position,
        evidence=Evidence(session=overrides.session) if overrides.session else None,
        facts={"label": path.name},
    )
