"""The headers of a mail: what machines read."""

import hashlib
import re
from email.utils import format_datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from webapp.outbox.models import Mail

DIGEST_LENGTH = 16  # 64 bits of SHA-256: enough to tell a few million mails apart
NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9.]+")


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
