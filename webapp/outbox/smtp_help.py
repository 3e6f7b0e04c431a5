"""What an operator can do about a mail server that does not take our mails."""

import smtplib
import socket
import ssl

from webapp.outbox.smtp import MailError

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
            "It refuses the recipient: check the address; if it says relaying, it wants a user "
            "and a password in DRIFTLINE_EMAIL_URL or must be told to take mail from this "
            "machine."
        ),
    ),
    (
        smtplib.SMTPServerDisconnected,
        (
            "It hung up: it may want TLS from the start (smtp+ssl://…:465), or refuse this "
            "machine; its log says which."
        ),
    ),
)
OTHERWISE = "The log of the mail server says more."


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
