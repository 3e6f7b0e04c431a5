"""Mails and messages about a thing that turned out to be another one."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from webapp.outbox.models import HookDelivery, Mail
from webapp.outbox.models.items import OutboxItem
from webapp.outbox.models.mails import data_with


def move_mails(*, about: str, to: str, **data: object) -> None:
    """Count what was mailed ``about`` one thing as about another, with ``data`` changed like it.

    Who knows of it is not told again, and hears what follows: there is one mail of a kind for a
    person, or a channel, and a thing.
    """
    _move(Mail.objects.all(), "recipient", about, to, data=data_with(**data))
    messages = HookDelivery.objects.all()
    _move(messages, "endpoint", about, to, payload=data_with("payload", **data))


def _move(items: QuerySet[Any], receiver: str, about: str, to: str, **fields: object) -> None:
    beside = {receiver: OuterRef(receiver), "kind": OuterRef("kind")}
    gone_too = items.filter(about=about, **beside).exclude(state=OutboxItem.State.DROPPED)
    # What was dropped was read by nobody: it is not to hide what was sent.
    items.filter(Exists(gone_too), about=to, state=OutboxItem.State.DROPPED).delete()
    twins = items.filter(about=to, **beside)
    items.filter(about=about).exclude(Exists(twins)).update(about=to, **fields)
