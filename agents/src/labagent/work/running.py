"""A job while it runs: why it ends before its result is there, and its log."""

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from labagent.model import clean


class StageFailed(Exception):
    """A stage of a job cannot be done. `stage` is `build`, `boot`, `run`, or `lab` where the fault
    is the lab's and not the revision's."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage
        self.reason = reason


class Stopped(Exception):
    """Whoever asked for the job, or runs this worker, wants it to end now."""


class Cancelled(Stopped):
    """The server wants this job no longer."""


class Ended(Stopped):
    """The server has closed this job already: there is nobody to report to."""


class Abandoned(Stopped):
    """This worker is to go at once; the job stays on disk to be taken up again."""


class Watch:
    """Lets one thread stop what another waits for. The first cause counts."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._cause: Stopped | None = None

    def stop(self, cause: Stopped) -> None:
        """Stop whoever watches; the first cause counts."""
        with self._lock:
            self._cause = self._cause or cause
        self._event.set()

    @property
    def stopped(self) -> bool:
        """Whether it is to stop."""
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Wait, or raise the cause as soon as there is one."""
        if self._event.wait(seconds) and self._cause is not None:
            raise self._cause

    def check(self) -> None:
        """Raise the cause if there is one."""
        self.wait(0)


Say = Callable[[str], None]
"""Takes one line for people."""


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
