"""A message from the three templates of its kind."""

from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from webapp.notifications.mails.phrases import PREFIX, SUBJECT_MAX, one_line
from webapp.notifications.models import Subscription
from webapp.notifications.queries.matching import Target
from webapp.outbox.services import Message


def render_message(kind: str, context: Mapping[str, Any], *, stops: Target | None) -> Message:
    """The message of ``kind``; ``stops`` is what its unsubscribe link does (None: it has none)."""
    url = stops.url if stops else ""
    known = {**context, "unsubscribe_url": url}
    subject = render_to_string(f"emails/{kind}-subject.txt", known)
    return Message(
        subject=one_line(f"{PREFIX} {subject}", SUBJECT_MAX),
        text=render_to_string(f"emails/{kind}.txt", known).strip() + "\n",
        html=render_to_string(f"emails/{kind}.html", known),
        unsubscribe_url=url,
    )


def why(subscription: Subscription) -> str:
    """Why somebody gets a mail: which subscription, and what it asks for."""
    return f"subscription “{subscription.name}” ({subscription.describe()})"
