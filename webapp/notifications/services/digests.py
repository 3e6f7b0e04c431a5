"""Post the digests whose period is over. Beat runs it; running it twice posts nothing twice."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.notifications.models import Subscription
from webapp.notifications.queries.digests import DIGESTS, alerts_of, periods, take_back_early
from webapp.outbox.services import NewMail, post_mails


@transaction.atomic
def post_digests(*, now: datetime | None = None) -> int:
    """Post the digests that are due; how many. Whose alerts brought nothing new gets none."""
    now = now or timezone.now()
    take_back_early(now)
    wanted = Subscription.objects.heard().filter(cadence__in=DIGESTS).select_related("user")
    subscriptions = list(wanted)
    found = alerts_of(periods(subscriptions, now), subscriptions)
    return post_mails(
        [
            NewMail(
                recipient=period.user.pk,
                kind=DIGESTS[period.cadence],
                about=period.about,
                due=now,
                data={
                    "alerts": alerts,
                    "cadence": period.cadence,
                    "since": period.since.isoformat(),
                    "until": period.until.isoformat(),
                },
            )
            for period, alerts in found.items()
        ]
    )
