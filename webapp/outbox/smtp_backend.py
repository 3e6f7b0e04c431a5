"""Django's SMTP backend with a deadline for opening the conversation, and one for each mail."""

import io
import smtplib
from typing import Any

from django.core.mail.backends import smtp

from webapp.outbox.deadlines import Deadline, DeadlineReader


class Hurried(smtplib.SMTP):
    """A conversation each part of which has a deadline, also for bytes that come one by one."""

    opening_seconds, mail_seconds, closing_seconds = 30.0, 30.0, 5.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._deadline = Deadline(self.opening_seconds)
        super().__init__(*arguments, **options)

    def mail(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        """The beginning of one mail."""
        self._deadline.renew(self.mail_seconds)
        return super().mail(*arguments, **options)

    def quit(self) -> tuple[int, bytes]:
        """End the conversation, within ``closing_seconds``."""
        self._deadline.renew(self.closing_seconds)
        return super().quit()

    def send(self, s: Any) -> None:
        """Send all of ``s`` before the deadline. Raises TimeoutError."""
        if self.sock:
            # `sendall` counts this for all of it, and so does a handshake of TLS that follows.
            self.sock.settimeout(self._deadline.left(self.timeout))
        super().send(s)

    def getreply(self) -> tuple[int, bytes]:
        """The server's code and text, read before the deadline. Raises TimeoutError."""
        if self.file is None and self.sock:
            self.file = io.BufferedReader(DeadlineReader(self.sock, self._deadline, self.timeout))
        return super().getreply()


class HurriedOverTLS(Hurried, smtplib.SMTP_SSL):
    """The same with TLS from the start."""


class EmailBackend(smtp.EmailBackend):
    """The backend of ``smtp…://`` in DRIFTLINE_EMAIL_URL."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """The conversation with deadlines, over TLS where the settings say so."""
        return HurriedOverTLS if self.use_ssl else Hurried
