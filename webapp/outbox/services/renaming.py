"""Mails about a thing that turned out to be another one."""

from django.db.models import Exists, OuterRef

from webapp.outbox.models import Mail
from webapp.outbox.models.mails import data_with


def move_mails(*, about: str, to: str, **data: object) -> None:
    """Count what was mailed ``about`` one thing as about another, with ``data`` changed like it.

    Who knows of it is not told again, and hears what follows: there is one mail of a kind for a
    person and a thing.
    """
    beside = {"recipient": OuterRef("recipient"), "kind": OuterRef("kind")}
    gone_too = Mail.objects.filter(about=about, **beside).exclude(state=Mail.State.DROPPED)
    # One that was dropped told nothing: it is not to hide one that did.
    Mail.objects.filter(Exists(gone_too), about=to, state=Mail.State.DROPPED).delete()
    twins = Mail.objects.filter(about=to, **beside)
    Mail.objects.filter(about=about).exclude(Exists(twins)).update(about=to, data=data_with(**data))
