"""A real SMTP server for tests, which can be made to misbehave."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from enum import Enum
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.launcher.running import free_port


class Mode(Enum):
    """How it takes mails."""

    ACCEPT = "accept"
    LATER = "451 to each recipient"
    REFUSE = "550 to each recipient"
    REFUSE_SENDER = "553 to each sender"
    CLOSING = "421 to each recipient"
    DIE_BEFORE_REPLY = "take the mail, then hang up instead of the reply"


class MailServer:
    """Listens on a port of its own; ``mails`` is what it took, in order."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host, self.port = host, free_port()
        self.mode = Mode.ACCEPT
        self.refused: set[str] = set()
        self.dies_at: set[int] = set()  # the how-manieth mails whose reply never comes
        self.holds_at: set[int] = set()  # the how-manieth mails whose reply never comes in time
        self.delay = 0.0  # seconds that each mail takes
        self.connections = 0
        self._taken: list[tuple[str, bytes]] = []
        self._lock = threading.Lock()
        self._controller: Controller | None = None

    @property
    def url(self) -> str:
        return f"smtp://{self.host}:{self.port}"

    @property
    def mails(self) -> list[EmailMessage]:
        with self._lock:
            return [message_from_bytes(raw, policy=policy.default) for _, raw in self._taken]  # type: ignore[arg-type,misc]

    @property
    def copies(self) -> Counter[str]:
        """How many copies of each Message-ID it took."""
        return Counter(mail["Message-ID"] for mail in self.mails)

    @property
    def number(self) -> int:
        """How many mails it took."""
        with self._lock:
            return len(self._taken)

    def forget(self) -> None:
        """Throw away what it took."""
        with self._lock:
            self._taken.clear()

    def start(self) -> None:
        self._controller = Controller(self, hostname=self.host, port=self.port)
        self._controller.start()

    def stop(self) -> None:
        """Close the port: connections are refused from here on."""
        if self._controller:
            self._controller.stop()
            self._controller = None

    async def handle_EHLO(  # noqa: N802 (aiosmtpd's names)
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        self.connections += 1
        session.host_name = hostname
        return responses

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.mode is Mode.REFUSE_SENDER:
            return "553 5.1.8 this sender may not"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.mode is Mode.REFUSE or address in self.refused:
            return "550 5.1.1 nobody of that name"
        if self.mode is Mode.LATER:
            return "451 4.7.1 greylisted, come back later"
        if self.mode is Mode.CLOSING:
            return "421 4.3.2 closing down"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        content: Any = envelope.content
        with self._lock:
            self._taken.append((envelope.rcpt_tos[0], bytes(content)))
            number = len(self._taken)
        await asyncio.sleep(self.delay)
        while number in self.holds_at:
            await asyncio.sleep(0.02)
        if self.mode is Mode.DIE_BEFORE_REPLY or number in self.dies_at:
            transport: Any = server.transport
            transport.abort()
        return "250 taken"


@contextmanager
def mail_server(host: str = "127.0.0.1") -> Iterator[MailServer]:
    """A running server, stopped at the end."""
    server = MailServer(host)
    server.start()
    try:
        yield server
    finally:
        server.stop()
