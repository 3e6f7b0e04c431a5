"""The demonstration's mail server: takes every mail, sends none on, keeps it in a mailbox.

`python -m webapp.demo.mail_server --directory DIR --port N --pidfile FILE`, on the loopback
address only. Imports no Django.
"""

import argparse
import asyncio
import os
import signal
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

from webapp.demo.mailbox import Mailbox

HOST = "127.0.0.1"
MAIL_BYTES = 5 * 2**20


class Keeper:
    """Keeps what comes, and says so only when it is in its file."""

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
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m webapp.demo.mail_server")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pidfile", type=Path, required=True)
    given = parser.parse_args()
    given.pidfile.write_text(f"{os.getpid()}\n")
    asyncio.run(serve(Mailbox(given.directory), given.port))


if __name__ == "__main__":
    main()
