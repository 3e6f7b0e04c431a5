"""A job as the server gives it, believed only as far as it can do no harm; and while it runs: why
it ends before its result is there, and its log.

What a job contains is filled into the lab's commands. So its words may hold only what neither a
program takes for an option nor a shell, here or behind `ssh`, takes for anything but text.
"""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from labagent.errors import AgentError
from labagent.model import Mode, clean

MOST_BOOTS = 1000
MOST_ITERATIONS = 1000
MAX_WORD = 200

_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@/:-]*")
_HARMLESS_MODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@/:=-]*")
_CLIMBING = re.compile(r"(^|/)\.\.(/|$)")


class UnsafeJobError(AgentError):
    """A job that is malformed, or holds what must not reach a command."""


@dataclass(frozen=True)
class Lease:
    """The right to work on a job; it lasts `seconds` from each heartbeat on."""

    token: str
    seconds: float


@dataclass(frozen=True)
class Job:
    """What is to be measured: `boots` boots of one build, `iterations` samples in each; with
    `profile`, as many boots more are profiled."""

    id: int
    tree: str
    revision: str
    hardware: str
    mode: Mode
    aliases: tuple[str, ...] = ()
    metric: str = ""
    boots: int = 1
    iterations: int = 1
    rebuild: bool = False
    build_key: str = ""
    attempt: int = 1
    reason: str = ""
    profile: bool = False

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Job":
        """The job of the server's document; `UnsafeJobError` names what it objects to."""
        return cls(
            id=_count(document, "id", 2**62),
            tree=_word(document, "tree"),
            revision=_word(document, "revision"),
            hardware=_word(document, "hardware"),
            mode=_mode(document),
            aliases=_arguments(document, "aliases"),
            metric=_optional_word(document, "metric"),
            boots=_count(document, "boots", MOST_BOOTS, 1),
            iterations=_count(document, "iterations", MOST_ITERATIONS, 1),
            rebuild=bool(document.get("rebuild")),
            build_key=_optional_word(document, "build_key"),
            attempt=_count(document, "attempt", 2**31, 1),
            reason=printable(str(document.get("reason") or "")),
            profile=bool(document.get("profile")),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The revision under each name the server knows."""
        return (self.revision, *self.aliases)

    def __str__(self) -> str:
        boots = f"{self.boots} boot{'s' if self.boots > 1 else ''}"
        return (
            f"job {self.id}: {self.revision} of {self.tree} on {self.hardware} {self.mode}, {boots}"
        )


@dataclass(frozen=True)
class Leased:
    """A job with its lease and the document it came in, which goes to disk."""

    document: Mapping[str, Any]
    lease: Lease = field(default=Lease("", 0.0))

    @property
    def id(self) -> int:
        """The number of the job."""
        return int(self.document["id"])


def check_word(text: str, what: str, harmless: re.Pattern[str] = _HARMLESS) -> str:
    """`text` where it may stand in a command; `what` names it in the error."""
    if len(text) > MAX_WORD or not harmless.fullmatch(text) or _CLIMBING.search(text):
        raise UnsafeJobError(
            f"{what} {printable(text)[:80]!r} must not reach a command",
            "letters, digits and . _ + @ / : - may, = in a mode; a leading - or . and a .. may not",
        )
    return text


def printable(text: str) -> str:
    """`text` without control characters: it goes to terminals and logs."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _word(document: Mapping[str, Any], key: str, harmless: re.Pattern[str] = _HARMLESS) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise UnsafeJobError(f"the job's {key} is {value!r}, not a name")
    return check_word(value, f"the job's {key}", harmless)


def _optional_word(document: Mapping[str, Any], key: str) -> str:
    return _word(document, key) if document.get(key) else ""


def _arguments(document: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = document.get(key) or ()
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise UnsafeJobError(f"the job's {key} is {values!r}, not a list")
    return tuple(_word({key: value}, key) for value in values)


def _mode(document: Mapping[str, Any]) -> Mode:
    mode = Mode.parse(_word(document, "mode", _HARMLESS_MODE))
    for name in (mode.workload, mode.traffic, *mode.options):
        check_word(name or "none", "the job's mode", _HARMLESS_MODE)
    return mode


def _count(document: Mapping[str, Any], key: str, most: int, default: int | None = None) -> int:
    value = document.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UnsafeJobError(f"the job's {key} is {value!r}, not a number from 1 to {most}")
    return value


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
    """Appends to `path`; what is logged there is also shown to people."""

    def __init__(self, path: Path, say: Say, now: Callable[[], datetime]) -> None:
        self.path = path
        self._say = say
        self._now = now
        path.parent.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        """Show whoever watches, and note it in the log."""
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
