"""What a mail says: for each kind of mail, the setting ``MAIL_COMPOSERS`` names what composes it.

The outbox knows people and their messages, not alerts or bisects, which stand above it. A message
is composed when it is about to be sent, so that it tells the latest, and is kept then, so that a
second try sends the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from webapp.outbox.models import Mail

CHANNEL = "channel"
"""In the data of what is composed for a channel: its endpoint. It has no recipient."""


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
    """What the mail was to tell is no longer so; the message says why. It is not sent."""


class NotYet(Exception):
    """The mail is to be composed at ``until``, not now; the message says what it waits for."""

    def __init__(self, reason: str, until: datetime) -> None:
        super().__init__(reason)
        self.until = until


def compose(mail: "Mail") -> Message:
    """The message of ``mail``, by the function that ``MAIL_COMPOSERS`` names for its kind.

    Raises NothingToSay, NotYet; LookupError when nobody composes its kind.
    """
    composer: Callable[[Mail], Message] = import_string(settings.MAIL_COMPOSERS[mail.kind])
    return composer(mail)
