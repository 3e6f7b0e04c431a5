"""Bench-lab directories: the layout of the FreeBSD netbenches archive (docs/agent.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from uuid import UUID

from labagent.errors import SettingsError
from labagent.model import Outcome, Overrides, Run, Skip
from labagent.readers.benchlab.layout import LabelDirectory, find_labels
from labagent.readers.benchlab.reader import read_label

DUPLICATE = "the same files as another run"

_STAMPED = ".receiver"
"""Logs with time stamps to the microsecond, so that two are never the same; other files may be."""

_EMPTY = hashlib.sha256().hexdigest()


def read_directories(directories: Iterable[Path], overrides: Overrides) -> Iterator[Outcome]:
    """Every run below `directories`, each once, and what was skipped; label by label.

    Raises `SettingsError` where an override would put two configurations into one series.
    """
    found = list(find_labels(directories))
    labels = [one for one in found if isinstance(one, LabelDirectory)]
    _check(labels, overrides)
    skips = (one for one in found if isinstance(one, Skip))
    return chain(_read(labels, overrides), skips)


def _read(labels: Iterable[LabelDirectory], overrides: Overrides) -> Iterator[Outcome]:
    seen: set[UUID] = set()
    files: dict[str, str] = {}
    for label in labels:
        for outcome in _outcomes(label, overrides):
            if not isinstance(outcome, Run):
                yield outcome
            elif outcome.uuid in seen:
                yield Skip(f"{label.title}: {outcome.mode}", DUPLICATE)
            else:
                seen.add(outcome.uuid)
                yield _compared(outcome, f"{label.title}: {outcome.mode}", files)


def _compared(run: Run, title: str, files: dict[str, str]) -> Run:
    """The run, with a warning where another one has logs of it: one of the two is a copy, and need
    not be of the revision that it is named after. ``files`` maps digests to runs."""
    digests = [one.sha256 for one in run.sources if one.path.endswith(_STAMPED)]
    others = {files[digest]: None for digest in digests if digest in files}
    for digest in digests:
        if digest != _EMPTY:
            files.setdefault(digest, title)
    found = tuple(f"the same files as {other}: one is a copy" for other in others)
    return replace(run, warnings=(*run.warnings, *found))


def _outcomes(label: LabelDirectory, overrides: Overrides) -> list[Outcome]:
    """What a label holds; where it cannot be read, that, and the other labels go on."""
    try:
        return list(read_label(label, overrides))
    except OSError as error:
        return [Skip(label.title, f"cannot be read: {error.strerror}", unread=True)]


def _check(labels: Sequence[LabelDirectory], overrides: Overrides) -> None:
    if overrides.hardware:
        found = {label.hardware for label in labels if label.hardware}
        _refuse_many("--hardware", "machines", found)
    if overrides.mode:
        outcomes = _read(labels, replace(overrides, mode=None))
        _refuse_many("--mode", "modes", {str(run.mode) for run in outcomes if isinstance(run, Run)})


def _refuse_many(option: str, what: str, found: set[str]) -> None:
    if len(found) > 1:
        some = ", ".join(sorted(found)[:3])
        raise SettingsError(
            f"{option} names one, but these directories hold {len(found)} {what} ({some}, …)",
            "name fewer directories, one call for each",
        )
