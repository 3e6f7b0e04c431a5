"""What operators do to the outbox by hand."""

from collections.abc import Sequence
from email.utils import make_msgid
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from webapp.outbox import mail_settings, models
from webapp.outbox.services import mailing
from webapp.outbox.services.items import DROPPED_BY
from webapp.outbox.smtp import Line, MailError, explain
from webapp.queueing import Task, queue_on_commit

State = models.Mail.State


class TestMailError(Exception):
    """A test mail did not leave; the message states why and what can be done."""

    __test__ = False  # its name begins as that of a test does


@transaction.atomic
def retry_mails(numbers: Sequence[int]) -> int:
    """Send mails again that were given up or that an operator dropped, with all their tries before
    them; return how many.

    They are composed anew: what they reported may be days old.
    """
    queue_on_commit(Task.SEND_MAILS)
    chosen = models.Mail.objects.filter(pk__in=numbers)
    taken_back = chosen.filter(state=State.DROPPED, data__has_key=DROPPED_BY)
    taken_back.update(state=State.DEAD, data=models.data_without(DROPPED_BY))
    return _retry(chosen)


@transaction.atomic
def retry_all_mails() -> int:
    """`retry_mails` for all that were given up; those that wait for a pause go at once too."""
    now = timezone.now()
    waiting = models.Mail.objects.filter(state=State.WAITING, due__gt=now, attempts__gt=0)
    hurried = waiting.update(due=now)
    mailing.try_now()
    queue_on_commit(Task.SEND_MAILS)
    return hurried + _retry(models.Mail.objects.all())


@transaction.atomic
def drop_mails(numbers: Sequence[int], *, by: str) -> int:
    """Do not send mails that wait or were given up; return how many those were."""
    stopped = models.Mail.objects.filter(pk__in=numbers, state__in=[State.WAITING, State.DEAD])
    return stopped.update(
        state=State.DROPPED,
        ended_at=timezone.now(),
        reason=f"Dropped by {by}.",
        data=models.data_with(**{DROPPED_BY: by}),
    )


def send_test_mail(address: str) -> None:
    """Send a mail to ``address`` at once, past the outbox. Raises TestMailError."""
    try:
        validate_email(address)
    except ValidationError as error:
        raise TestMailError(f"“{address}” is not an e-mail address.") from error
    line = Line()
    try:
        line.send(_test_mail(address))
    except MailError as error:
        raise TestMailError(explain(error)) from error
    finally:
        line.close()


def _retry(mails: models.OutboxItemQuerySet) -> int:
    return mails.filter(state=State.DEAD).update(
        state=State.WAITING, due=timezone.now(), attempts=0, ended_at=None, composed_at=None
    )


def _test_mail(address: str) -> EmailMessage:
    host = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ")
    return EmailMessage(
        subject="[driftline] Test mail",
        body=(
            f"This is a test. Driftline at {settings.PUBLIC_URL} sends its mails "
            f"{mail_settings.in_force().route}.\n"
        ),
        to=[address],
        headers={"Auto-Submitted": "auto-generated", "Message-ID": make_msgid("test", host)},
    )


def move_mails(*, about: str, to: str, **data: object) -> None:
    """Count what was mailed ``about`` one thing as about another, with ``data`` changed like it.

    Who knows of it is not notified again, and hears what follows: there is one mail of a kind for a
    person, or a channel, and a thing.
    """
    _move(models.Mail.objects.all(), "recipient", about, to, data=models.data_with(**data))
    messages = models.HookDelivery.objects.all()
    _move(messages, "endpoint", about, to, payload=models.data_with("payload", **data))


def _move(items: QuerySet[Any], receiver: str, about: str, to: str, **fields: object) -> None:
    beside = {receiver: OuterRef(receiver), "kind": OuterRef("kind")}
    gone_too = items.filter(about=about, **beside).exclude(state=models.OutboxItem.State.DROPPED)
    # What was dropped was read by nobody: it is not to hide what was sent.
    items.filter(Exists(gone_too), about=to, state=models.OutboxItem.State.DROPPED).delete()
    twins = items.filter(about=to, **beside)
    items.filter(about=about).exclude(Exists(twins)).update(about=to, **fields)
