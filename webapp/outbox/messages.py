"""The text of a mail and its headers; the setting ``MAIL_COMPOSERS`` names what composes the text
of each kind of mail.

The outbox knows people and their messages, not alerts or bisects, which stand above it. A message
is composed when it is about to be sent, so that it has the latest, and is kept then, so that a
second try sends the same.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.utils.module_loading import import_string

from webapp.outbox.models import Mail

CHANNEL = "channel"
"""In the data of what is composed for a channel: its endpoint. It has no recipient."""

DIGEST_LENGTH = 16  # 64 bits of SHA-256: enough to distinguish a few million mails
NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True, slots=True)
class NewMail:
    """A mail to be written: ``kind`` (``alert.opened``) about something (``alert:17``).

    One person gets one mail of a kind about a thing, however often it is posted. ``thread`` names
    the conversation that it belongs to (empty: none). Nothing is sent before ``due``. ``data`` is
    what the composing function needs besides, as JSON.
    """

    recipient: int
    kind: str
    about: str
    due: datetime
    thread: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """As a `NewMail`, to the channels of chat services that listen to its kind."""

    kind: str
    about: str
    due: datetime
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """A composed mail. ``unsubscribe_url`` (absolute) shows by GET and acts by POST."""

    subject: str
    text: str
    html: str
    unsubscribe_url: str = ""


class NothingToSay(Exception):
    """What the mail was to report is no longer so; the message states why. It is not sent."""


class NotYet(Exception):
    """The mail is to be composed at ``until``, not now; the message names what it waits for."""

    def __init__(self, reason: str, until: datetime) -> None:
        super().__init__(reason)
        self.until = until


def compose(mail: Mail) -> Message:
    """The message of ``mail``, by the function that ``MAIL_COMPOSERS`` names for its kind.

    Raises NothingToSay, NotYet; LookupError when nobody composes its kind.
    """
    composer: Callable[[Mail], Message] = import_string(settings.MAIL_COMPOSERS[mail.kind])
    return composer(mail)


def message_id(*, kind: str, about: str, recipient: int) -> str:
    """The Message-ID of one mail: a function of the instance and the mail's identity alone.

    A receiver that gets a mail twice, because the first reply was lost, knows it by this.
    """
    return _id(kind, about, str(recipient))


def thread_id(*, thread: str, recipient: int) -> str:
    """The id that all mails of one conversation with one person refer to.

    No mail has it: programs that show mail group by references whether or not the first is there,
    and which mail comes first is not known (it may be dropped).
    """
    return _id("thread", thread, str(recipient))


def as_email(mail: Mail) -> EmailMultiAlternatives:
    """The message of a composed ``mail``; the same for every try."""
    message = EmailMultiAlternatives(
        subject=mail.subject,
        body=mail.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[mail.address],
        headers=headers(mail),
    )
    if mail.html:
        message.attach_alternative(mail.html, "text/html")
    return message


def headers(mail: Mail) -> dict[str, str]:
    """Headers that Django would not set, or not the same each time."""
    found = {
        "Message-ID": mail.message_id,
        "List-Id": f"Driftline <driftline.{_host()}>",
        "Auto-Submitted": "auto-generated",  # RFC 3834: no out-of-office replies
    }
    if mail.composed_at:
        found["Date"] = format_datetime(mail.composed_at)
    if mail.in_reply_to:
        found |= {"In-Reply-To": mail.in_reply_to, "References": mail.in_reply_to}
    if mail.unsubscribe_url:
        found |= {
            "List-Unsubscribe": f"<{mail.unsubscribe_url}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",  # RFC 8058
        }
    return found


def _id(*parts: str) -> str:
    digest = hashlib.sha256("\n".join([settings.PUBLIC_URL, *parts]).encode()).hexdigest()
    readable = ".".join(NOT_IN_AN_ID.sub("-", part).strip("-.") or "-" for part in parts)
    return f"<{readable}.{digest[:DIGEST_LENGTH]}@{_host()}>"


def _host() -> str:
    return (urlsplit(settings.PUBLIC_URL).hostname or "localhost").replace(":", "-")


def absolute(path: str) -> str:
    """The address under which people outside find the page at ``path``."""
    return urljoin(settings.PUBLIC_URL, path)
