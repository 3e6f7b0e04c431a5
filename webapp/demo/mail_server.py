"""The demonstration's mail server, which takes every mail and sends none on, and the mailbox of
files that keeps them. Imports no Django.

`python -m webapp.demo.mail_server --directory DIR --port N --pidfile FILE`, on the loopback address
only.
"""

import argparse
import asyncio
import itertools
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

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


HOST = "127.0.0.1"
MAIL_BYTES = 5 * 2**20


class Keeper:
    """Keeps what comes, and confirms it only when it is in its file."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def handle_DATA(  # noqa: N802 (aiosmtpd's name)
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Keep the mail and say so as SMTP does."""
        content = envelope.content or b""
        raw = content if isinstance(content, bytes) else content.encode()
        try:
            name = self._mailbox.keep(raw)
        except OSError as error:
            return f"452 4.3.1 the mail cannot be stored: {error.strerror}"
        return f"250 2.0.0 kept as {name}"


async def serve(mailbox: Mailbox, port: int) -> None:
    """Take mails until somebody asks to stop."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = await loop.create_server(lambda: _conversation(mailbox), HOST, port)
    async with server:
        await stop.wait()


def _conversation(mailbox: Mailbox) -> SMTP:
    return SMTP(Keeper(mailbox), hostname="driftline-demo", data_size_limit=MAIL_BYTES)


def main() -> None:
    """Serve as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m webapp.demo.mail_server")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pidfile", type=Path, required=True)
    given = parser.parse_args()
    given.pidfile.write_text(f"{os.getpid()}\n")
    asyncio.run(serve(Mailbox(given.directory), given.port))


if __name__ == "__main__":
    main()
