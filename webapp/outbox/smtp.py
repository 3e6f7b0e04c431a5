"""The conversation with the mail server, with a deadline for opening it and one for each mail, what
the server's answers mean for the mails, and the settings in force, without the password.
"""

import io
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends import smtp

from webapp.outbox.deadlines import Deadline, DeadlineReader

SMTP = "webapp.outbox.smtp.EmailBackend"
OTHER_WAYS = {
    "django.core.mail.backends.console.EmailBackend": "into the log, to nobody",
    "django.core.mail.backends.filebased.EmailBackend": "into files, to nobody",
    "django.core.mail.backends.dummy.EmailBackend": "nowhere",
    "django.core.mail.backends.locmem.EmailBackend": "into memory, to nobody",
}


@dataclass(frozen=True, slots=True)
class MailSettings:
    """``way`` is empty when mail goes over SMTP to ``host``; otherwise it names where it goes."""

    way: str
    host: str
    port: int
    tls: str
    user: str
    sender: str

    @property
    def route(self) -> str:
        """Which way mails leave, to end a sentence with."""
        return self.way or f"by {self.host}:{self.port}, {self.tls}"


def mail_settings() -> MailSettings:
    """What DRIFTLINE_EMAIL_URL and DRIFTLINE_EMAIL_FROM came to."""
    tls = "TLS from the start" if settings.EMAIL_USE_SSL else "no TLS"
    backend = settings.EMAIL_BACKEND
    return MailSettings(
        way="" if backend == SMTP else OTHER_WAYS.get(backend, backend),
        host=settings.EMAIL_HOST,
        port=settings.EMAIL_PORT,
        tls="STARTTLS" if settings.EMAIL_USE_TLS else tls,
        user=settings.EMAIL_HOST_USER or "",
        sender=settings.DEFAULT_FROM_EMAIL,
    )


CLOSING = 421  # RFC 5321, 4.2.3: the service is not available and closes the connection
PERMANENT = range(500, 600)


class MailError(Exception):
    """A mail did not leave; the message states why."""


class Refused(MailError):
    """For good: it will be refused every time."""


class NotNow(MailError):
    """For now: the server may take it later."""


class ServerAway(MailError):
    """The server takes no mails at all now; others need not be tried.

    ``during_a_mail`` is set when it left in the middle of one, which may have been the cause.
    """

    def __init__(self, reason: str, *, during_a_mail: bool = False) -> None:
        super().__init__(reason)
        self.during_a_mail = during_a_mail


class Line:
    """One connection for a batch of mails, opened by the first of them."""

    def __init__(self) -> None:
        self._backend: Any = get_connection()
        self._is_open = self.was_used = False

    def send(self, message: EmailMessage) -> None:
        """Send ``message``; it has arrived when this returns. Raises MailError."""
        self.open()
        with translated():
            self._backend.send_messages([message])

    def open(self) -> None:
        """Connect and sign in, unless that is done. Raises ServerAway."""
        if self._is_open:
            return
        try:
            self._backend.open()
        except (smtplib.SMTPException, OSError) as error:
            raise ServerAway(describe(error)) from error
        self._is_open = self.was_used = True

    def close(self) -> None:
        """End the conversation; what was sent has arrived already, so a failure means nothing."""
        try:
            self._backend.close()
        except (smtplib.SMTPException, OSError):
            self._backend.connection = None
        self._is_open = False


@contextmanager
def translated() -> Iterator[None]:
    """Raise what `smtplib` raises while it sends one mail as a MailError."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        code, text = next(iter(error.recipients.values()))
        raise _answer(code, text) from error
    except smtplib.SMTPSenderRefused as error:
        # It is about our address or our account, whatever the mail: every other would get the same.
        raise ServerAway(describe(error)) from error
    except smtplib.SMTPResponseException as error:
        raise _answer(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        raise Refused(describe(error)) from error
    except (smtplib.SMTPException, OSError) as error:
        raise ServerAway(describe(error), during_a_mail=True) from error
    except ValueError as error:
        raise Refused(f"It cannot be written as a message: {error}") from error


def describe(error: Exception) -> str:
    """An error of a conversation in words for an operator."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"The server answered {error.smtp_code} {_text(error.smtp_error)}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"


def _answer(code: int, text: bytes | str) -> MailError:
    sentence = f"The server answered {code} {_text(text)}"
    if code == CLOSING:
        return ServerAway(sentence, during_a_mail=True)
    return Refused(sentence) if code in PERMANENT else NotNow(sentence)


def _text(answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return " ".join(text.split())


REMEDIES: tuple[tuple[type[BaseException], str], ...] = (
    (
        ConnectionRefusedError,
        (
            "Nothing listens there: is the server running, are host and port of "
            "DRIFTLINE_EMAIL_URL right, does a firewall refuse them?"
        ),
    ),
    (socket.gaierror, "The host's name is not known here: check it in DRIFTLINE_EMAIL_URL."),
    (
        TimeoutError,
        (
            "No answer in time: a firewall may drop the connection, or port and TLS do not fit "
            "(smtp+ssl:// for 465, smtp+tls:// for 587)."
        ),
    ),
    (
        ssl.SSLCertVerificationError,
        (
            "Its certificate does not fit its name or was signed by nobody known here: use the "
            "name in the certificate, or add its authority to the system's."
        ),
    ),
    (
        ssl.SSLError,
        "It does not speak TLS from the start on this port: use smtp+tls:// (587) or smtp:// (25).",
    ),
    (
        smtplib.SMTPNotSupportedError,
        (
            "It does not offer that here: without STARTTLS use smtp+ssl:// (465) or smtp://; "
            "without sign-in leave user and password out of DRIFTLINE_EMAIL_URL."
        ),
    ),
    (
        smtplib.SMTPAuthenticationError,
        (
            "It refuses user and password: check them in DRIFTLINE_EMAIL_URL (special characters "
            "there are written as %40 and the like)."
        ),
    ),
    (
        smtplib.SMTPSenderRefused,
        (
            "It refuses the sender: set DRIFTLINE_EMAIL_FROM to an address that it may send for, "
            "and a user and a password in DRIFTLINE_EMAIL_URL if it wants them."
        ),
    ),
    (
        smtplib.SMTPRecipientsRefused,
        (
            "It refuses the recipient: check the address; if it names relaying, it wants a user "
            "and a password in DRIFTLINE_EMAIL_URL or must be set to take mail from this "
            "machine."
        ),
    ),
    (
        smtplib.SMTPServerDisconnected,
        (
            "It hung up: it may want TLS from the start (smtp+ssl://…:465), or refuse this "
            "machine; its log names which."
        ),
    ),
)
OTHERWISE = "The log of the mail server has more."


def explain(error: MailError) -> str:
    """What happened, and what can be done about it."""
    reason = str(error).rstrip(".")
    return f"{reason}. {remedy(error.__cause__)}"


def remedy(cause: BaseException | None) -> str:
    """What can be done about an exception of a conversation."""
    for kind, text in REMEDIES:
        if isinstance(cause, kind):
            return text
    return OTHERWISE


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
        """The conversation with deadlines, over TLS where the settings ask for it."""
        return HurriedOverTLS if self.use_ssl else Hurried
