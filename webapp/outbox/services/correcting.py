"""Times that lie further ahead than anything we write: the clock was set back since.

Otherwise what was written under the wrong time would wait until it is there again.
"""

from datetime import datetime, timedelta

from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from webapp.outbox import backoff
from webapp.outbox.models import Endpoint, MailServer
from webapp.outbox.models.items import OutboxItem, OutboxItemQuerySet

CLOCKS_DIFFER_BY = timedelta(minutes=1)
"""Those of two machines of one instance, without anything being wrong."""

LONGEST_LEASE = timedelta(minutes=3)
LONGEST_WAIT = max(backoff.PAUSES) * (1 + backoff.JITTER) + timedelta(hours=1)
"""Of a item; quiet hours end within a day."""

LONGEST_SERVER_PAUSE = max(backoff.SERVER_PAUSES) * (1 + backoff.JITTER)


def correct_times(items: OutboxItemQuerySet, *, now: datetime | None = None) -> int:
    """Make due at once what waits because of a clock that was wrong; how many."""
    at = now or timezone.now()
    ahead = at + CLOCKS_DIFFER_BY
    touched_ahead = Q(touched__gt=ahead)
    claimed_too_long = Q(state=OutboxItem.State.CLAIMED, due__gt=ahead + LONGEST_LEASE)
    too_far = Q(due__gt=ahead + LONGEST_WAIT)
    rows = items.unfinished().annotate(touched=Coalesce("tried_at", "created_at"))
    # What was tried keeps the time at which it was made: a delivery tells it, the same every time.
    made = Case(When(tried_at=None, then=Least("created_at", at)), default=F("created_at"))
    wrong = rows.filter(touched_ahead | claimed_too_long | too_far, due__gt=at)
    corrected: int = wrong.update(
        due=at,
        created_at=made,
        tried_at=Case(When(tried_at=None, then=None), default=Least("tried_at", at)),
    )
    return corrected


def correct_pauses(*, now: datetime | None = None) -> int:
    """End pauses of the mail server and of endpoints that a wrong clock prolonged; how many."""
    at = now or timezone.now()
    far = at + CLOCKS_DIFFER_BY + LONGEST_SERVER_PAUSE
    began = Least("failing_since", at)
    return sum(
        model._default_manager.filter(next_try__gt=far).update(next_try=at, failing_since=began)  # noqa: SLF001
        for model in (Endpoint, MailServer)
    )
