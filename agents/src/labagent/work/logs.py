"""The log of a job: what the agent did, and all that the lab's commands printed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from labagent.model import clean
from labagent.work.stops import Say

HEARTBEAT_TAIL = 4_000
FAILURE_TAIL = 60_000
"""Bytes of the log that travel with a heartbeat (at most 4 kB) and with a failure (64 kB)."""


class JobLog:
    """Appends to `path`; what is said there is also said to people."""

    def __init__(self, path: Path, say: Say, now: Callable[[], datetime]) -> None:
        self.path = path
        self._say = say
        self._now = now
        path.parent.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        """Tell whoever watches, and note it in the log."""
        self._say(text)
        self.note(text)

    def note(self, text: str) -> None:
        """Write to the log alone."""
        line = f"{self._now():%Y-%m-%d %H:%M:%S} {text}\n"
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8", "replace"))

    def tail(self, size: int) -> str:
        """The last lines, at most `size` bytes as UTF-8."""
        try:
            with self.path.open("rb") as file:
                length = file.seek(0, 2)
                file.seek(max(0, length - size))
                data = file.read(size)
        except FileNotFoundError:
            return ""
        text = clean(data.decode("utf-8", "ignore"))
        return text.encode()[-size:].decode("utf-8", "ignore")
