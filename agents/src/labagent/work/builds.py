"""Which build of a kernel lies in the lab's cache: results of one build share its name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from labagent.disk import write_durably
from labagent.errors import SettingsError


class Builds:
    """The last build made by each filled-in build command, on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def last(self, argv: Sequence[str]) -> str | None:
        """The build that this command made last, None: it made none."""
        return self._read().get(_key(argv))

    def record(self, argv: Sequence[str], build: str) -> None:
        """Note which build a command made."""
        content = {**self._read(), _key(argv): build}
        write_durably(self.path, json.dumps(content).encode())

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads(self.path.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise SettingsError(f"cannot read {self.path}: {error}", "remove it") from error


def _key(argv: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(argv).encode()).hexdigest()[:32]
