"""Walking what a user names: each real directory once, within bounds, whatever links say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_DEPTH = 16
"""Levels below the directory that was named; a whole archive has seven."""

MAX_ENTRIES = 1_000_000
"""Directories and files that one call looks at; the netbenches archive has 80,000 files."""

TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep: not read"
TOO_MANY = f"more than {MAX_ENTRIES} files: name fewer directories"


@dataclass
class Bounds:
    """What is left of `MAX_ENTRIES`."""

    entries: int = MAX_ENTRIES

    def scan(self, directory: Path) -> list[os.DirEntry[str]]:
        """The entries of a directory, sorted; `OSError` where it cannot be read or is too large."""
        with os.scandir(directory) as found:
            entries = []
            for entry in found:
                self.entries -= 1
                if self.entries < 0:
                    raise OSError(0, TOO_MANY, str(directory))
                entries.append(entry)
        return sorted(entries, key=lambda entry: entry.name)


def is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory to look into; a link that leads nowhere is none."""
    try:
        return entry.is_dir() and not entry.name.startswith(".")
    except OSError:
        return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a regular file, perhaps behind a link."""
    try:
        return entry.is_file()
    except OSError:
        return False


Refused = Callable[[Path, str], None]
"""Takes a directory that is not read, and why."""


def directories_below(
    root: Path, bounds: Bounds, refused: Refused, is_wanted: Callable[[Path], bool]
) -> Iterator[Path]:
    """The wanted directories at or below `root`, in order; neither links nor what lies below a
    wanted one are followed."""
    waiting = [(root, 0)]
    while waiting:
        directory, depth = waiting.pop()
        if is_wanted(directory):
            yield directory
            continue
        if depth > MAX_DEPTH:
            refused(directory, TOO_DEEP)
            continue
        try:
            entries = bounds.scan(directory)
        except OSError as error:
            refused(directory, f"cannot be read: {error.strerror}")
            if bounds.entries < 0:
                return
            continue
        below = [entry for entry in entries if is_directory(entry) and not entry.is_symlink()]
        waiting.extend((Path(entry.path), depth + 1) for entry in reversed(below))


def leads_up(path: Path) -> bool:
    """Whether a link leads to a directory that holds it, so that following it has no end."""
    return path.is_symlink() and path.parent.resolve().is_relative_to(path.resolve())


def identity(path: Path) -> tuple[int, int]:
    """What two names of one directory share."""
    found = path.stat()
    return found.st_dev, found.st_ino
