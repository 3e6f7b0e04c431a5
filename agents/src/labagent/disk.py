"""Files that survive a power cut: whole, or not there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

TEMPORARY = ".writing-"


def write_durably(path: Path, content: bytes) -> None:
    """Write a file beside, sync it and rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename in `directory` last; systems that cannot open one sync it by themselves."""
    with contextlib.suppress(PermissionError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
