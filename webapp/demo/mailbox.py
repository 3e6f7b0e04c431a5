"""The mails that the demonstration's mail server took, as files. Imports no Django."""

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

KEPT = 500
"""Newest mails that stay: a demonstration that runs for weeks fills no disk."""
NAME = re.compile(r"[0-9]{19}-[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One mail: ``name`` is its identity, later ones sort behind earlier ones."""

    name: str
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        """The mail, parsed."""
        return message_from_bytes(self.raw, _class=EmailMessage, policy=policy.default)

    @property
    def text(self) -> str:
        """The mail's plain text, or nothing."""
        return self._body("plain")

    @property
    def html(self) -> str:
        """The mail's HTML, or nothing."""
        return self._body("html")

    def _body(self, kind: str) -> str:
        part = self.message.get_body((kind,))
        return str(part.get_content()) if part else ""


class Mailbox:
    """A directory of mails, one file each."""

    def __init__(
        self, directory: Path, *, kept: int = KEPT, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self.directory, self._kept, self._clock = directory, kept, clock
        self._numbers = itertools.count()

    def keep(self, raw: bytes) -> str:
        """Store a mail, whole or not at all, and give its name. The oldest above the bound go."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{self._clock():019}-{next(self._numbers) % 10_000:04}"
        draft = self.directory / f"{name}.new"
        draft.write_bytes(raw)
        draft.replace(self._path(name))
        for old in self.names()[self._kept :]:
            self._path(old).unlink(missing_ok=True)
        return name

    def names(self) -> list[str]:
        """All mails, the newest first."""
        found = [path.stem for path in self.directory.glob("*.eml") if NAME.fullmatch(path.stem)]
        return sorted(found, reverse=True)

    def read(self, name: str) -> Entry | None:
        """The mail of that name, unless there is none (any more)."""
        if not NAME.fullmatch(name):
            return None
        try:
            return Entry(name, self._path(name).read_bytes())
        except FileNotFoundError:
            return None

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.eml"
