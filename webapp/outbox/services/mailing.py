"""Send the mails that are due, and leave a mail server that is away alone for a while; and what
operators do to the outbox by hand.

At least once, on purpose: a mail is lost to nobody, and the one window for a second copy is
between the server's acceptance and our note of it. Both copies then have the same Message-ID.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import make_msgid
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from webapp.outbox import messages, models, smtp
from webapp.outbox.deadlines import Deadline
from webapp.outbox.models import Mail, MailServer, OutboxItem
from webapp.outbox.services import items
from webapp.outbox.services.items import DROPPED_BY
from webapp.outbox.smtp import Line, MailError, NotNow, Refused, ServerAway, explain
from webapp.queueing import Task, queue_on_commit
from webapp.readiness.services import heartbeats, still_works

BATCH = 50
LEASE = timedelta(minutes=3)
"""Of one mail: its composition, and a conversation whose deadlines are those of
`webapp.outbox.smtp`. A worker that was killed holds its mails up for so long."""

OTHER_ADDRESS = "to"
"""In a mail's data: where it goes, if not to the recipient's address."""

MESSAGE_FIELDS = (
    "address",
    "subject",
    "text",
    "html",
    "unsubscribe_url",
    "message_id",
    "in_reply_to",
    "composed_at",
)
"""Kept before it is sent; a further try sends them again."""

log = structlog.get_logger()


def send_due_mails(*, until: Deadline | None = None) -> bool:
    """Send one batch of due mails; whether it is worth looking for another at once.

    What has not begun at ``until`` is given back.
    """
    if is_left_alone(timezone.now()):
        return False
    token = items.claim(Mail.objects.all(), limit=BATCH, lease=LEASE)
    return token is not None and _send_claimed(token, until)


def are_mails_due() -> bool:
    """Whether one could be sent now."""
    now = timezone.now()
    return not is_left_alone(now) and Mail.objects.claimable(now).exists()


def _send_claimed(token: uuid.UUID, until: Deadline | None = None) -> bool:
    line = Line()
    try:
        for mail in Mail.objects.filter(claim=token).select_related("recipient").order_by("pk"):
            if until is not None and until.is_over:
                items.release(Mail.objects.all(), token)
                break
            still_works(heartbeats.DELIVERIES)
            _send(mail, line)
    except ServerAway as error:
        log.warning("the mail server takes no mails, all wait", reason=str(error))
        items.release(Mail.objects.all(), token)
        note_failure(explain(error))
        return False
    finally:
        line.close()
    if line.was_used:
        note_success()
    return True


def _send(mail: Mail, line: Line) -> None:
    if not _has_a_reader(mail) or not _is_wanted_now(mail) or not _is_composed(mail):
        return
    line.open()
    # What is sent is kept before it is sent, and only by who holds the claim.
    message = {name: getattr(mail, name) for name in MESSAGE_FIELDS}
    if items.keep(mail, lease=LEASE, **message):
        _deliver(mail, line)


def _has_a_reader(mail: Mail) -> bool:
    """Whether somebody is there to read it; it is dropped otherwise."""
    mail.address = mail.data.get(OTHER_ADDRESS) or mail.recipient.email
    if not mail.recipient.is_active:
        items.record_dropped(mail, f"The account {mail.recipient} is not active.")
    elif not mail.address:
        items.record_dropped(mail, f"{mail.recipient} has no e-mail address.")
    else:
        return True
    return False


def _is_wanted_now(mail: Mail) -> bool:
    """Whether it is not quiet there: what failed before, or waited for the server, may be due at
    any time. Only the mail that a person asks for on the page of the account comes at once.
    """
    now = timezone.now()
    until = mail.recipient.after_quiet_hours(now)
    if until <= now or OTHER_ADDRESS in mail.data:
        return True
    items.put_off(mail, "It waits for the end of the quiet hours.", until=until)
    return False


def _is_composed(mail: Mail) -> bool:
    """Whether there is a message to send, from before or composed now."""
    if mail.composed_at is not None:
        return True
    message = composed(mail, mail)
    if message is None:
        return False
    _put_in(mail, message)
    return True


def composed(item: OutboxItem, mail: Mail) -> messages.Message | None:
    """The message of ``mail``, which is what ``item`` sends; None where it is not to be sent now,
    which is written.
    """
    try:
        with transaction.atomic():
            return messages.compose(mail)
    except messages.NothingToSay as nothing:
        items.record_dropped(item, str(nothing))
    except messages.NotYet as early:
        items.put_off(item, str(early), until=early.until)
    except Exception as error:
        # One that cannot be composed must not hold up the others; it is tried again, as a
        # later version may compose it, and the operator sees why it waits.
        log.exception("a message could not be composed", item=str(item), kind=item.kind)
        items.record_failed(item, f"It could not be composed: {_named(error)}")
    return None


def _put_in(mail: Mail, message: messages.Message) -> None:
    mail.subject = " ".join(message.subject.split())
    mail.text, mail.html = message.text, message.html
    mail.unsubscribe_url = message.unsubscribe_url
    mail.message_id = messages.message_id(
        kind=mail.kind, about=mail.about, recipient=mail.recipient_id
    )
    if mail.thread:
        mail.in_reply_to = messages.thread_id(thread=mail.thread, recipient=mail.recipient_id)
    mail.composed_at = timezone.now()


def _deliver(mail: Mail, line: Line) -> None:
    """Send it and write what became of it. Raises ServerAway."""
    try:
        line.send(messages.as_email(mail))
    except Refused as error:
        items.record_dead(mail, str(error))
    except NotNow as error:
        items.record_failed(mail, str(error))
    except ServerAway as error:
        if error.during_a_mail:
            # Otherwise a mail that brings the server down would be the first of every batch.
            items.record_failed(mail, str(error))
        raise
    else:
        items.record_sent(mail)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def is_left_alone(now: datetime) -> bool:
    """Whether the mail server failed, and the pause after that is not over."""
    return MailServer.objects.filter(next_try__gt=now).exists()


@transaction.atomic
def note_failure(reason: str) -> None:
    """All mails wait; longer with each failure in a row."""
    now = timezone.now()
    MailServer.objects.get_or_create(pk=MailServer.ROW)
    server = MailServer.objects.select_for_update().get(pk=MailServer.ROW)
    server.failures += 1
    server.failing_since = server.failing_since or now
    server.next_try = now + items.pause_after(server.failures, items.SERVER_PAUSES)
    server.reason = reason.replace("\0", "")
    server.save()


def note_success() -> None:
    """The mail server took mails again."""
    MailServer.objects.filter(failures__gt=0).update(
        failures=0, failing_since=None, next_try=None, reason=""
    )


def try_now() -> None:
    """Do not wait for the end of the pause."""
    MailServer.objects.update(next_try=None)


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
    try_now()
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
            f"{smtp.mail_settings().route}.\n"
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
    posted = models.HookDelivery.objects.all()
    _move(posted, "endpoint", about, to, payload=models.data_with("payload", **data))


def _move(kept: QuerySet[Any], receiver: str, about: str, to: str, **fields: object) -> None:
    beside = {receiver: OuterRef(receiver), "kind": OuterRef("kind")}
    gone_too = kept.filter(about=about, **beside).exclude(state=models.OutboxItem.State.DROPPED)
    # What was dropped was read by nobody: it is not to hide what was sent.
    kept.filter(Exists(gone_too), about=to, state=models.OutboxItem.State.DROPPED).delete()
    twins = kept.filter(about=to, **beside)
    kept.filter(about=about).exclude(Exists(twins)).update(about=to, **fields)
