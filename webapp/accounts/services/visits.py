"""When a person looked at the front page, so that it can say what is new since."""

from datetime import datetime, timedelta

from django.db import transaction

from webapp.accounts.models import User

VISIT_ENDS_AFTER = timedelta(minutes=30)
"""Without reading the page for so long a person has gone: what came since is new at the next visit.
"""

NOTED_EVERY = timedelta(minutes=1)
"""A page that is read again and again is not written each time."""


def note_visit(*, user: User, now: datetime) -> datetime | None:
    """Note that ``user`` reads the front page ``now``; what came after the answer is new to them.

    It stays the same as long as the visit lasts, so that reading the page twice in a minute loses
    nothing. None: there was no visit before this one.
    """
    looked, seen = user.looked_at, user.seen_at
    if looked is not None and now - looked > VISIT_ENDS_AFTER:
        seen = looked
    if looked is None or abs(now - looked) >= NOTED_EVERY:
        # Of two requests at once the first decides; both begin with the same row and tell the same.
        before = User.objects.filter(pk=user.pk, looked_at=looked)
        # A page reads a snapshot and cannot write before it is read.
        transaction.on_commit(lambda: before.update(seen_at=seen, looked_at=now))
    return seen
