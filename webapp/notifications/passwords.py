"""Mails to a person about signing in: a link to a new password, and what was changed.

They go to the address that the account has when they are posted, at once, quiet hours or not.
"""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.outbox.models import Mail
from webapp.outbox.services import OTHER_ADDRESS, NewMail, post_mails

NEW_PASSWORD, CHANGED = "account.password", "account.changed"
MOST_A_DAY = 5
"""Links for one person. Each holds for a day, so whoever asks for them all keeps nobody out: one
that holds lies in the person's mailbox."""


@transaction.atomic
def ask_new_password(*, user: User) -> None:
    """Mail ``user`` a link to set a new password; nothing where ``MOST_A_DAY`` still hold."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    since = timezone.now() - timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    sent = Mail.objects.filter(recipient=user, kind=NEW_PASSWORD, due__gt=since)
    if sent.count() < MOST_A_DAY:
        _post(user, NEW_PASSWORD)


def notify_of_change(*, user: User, what: str) -> None:
    """Mail ``user`` ``what`` was changed about signing in; nothing without an address."""
    if user.email:
        _post(user, CHANGED, what=what)


def _post(user: User, kind: str, **data: str) -> None:
    data[OTHER_ADDRESS] = user.email
    post_mails([NewMail(user.pk, kind, f"account:{uuid.uuid4()}", timezone.now(), data=data)])
