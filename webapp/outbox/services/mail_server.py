"""Whether the mail server is away, and until when it is left alone."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.outbox import backoff
from webapp.outbox.models import MailServer


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
    server.next_try = now + backoff.pause_after(server.failures, backoff.SERVER_PAUSES)
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
