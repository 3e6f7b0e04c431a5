"""Change who is told of what."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from webapp.notifications.models import Subscription
from webapp.outbox.models import Mail

NAME_ONCE = "subscription_name_once"


class NameTaken(ValueError):
    """The person has another subscription of that name."""


def save_subscription(*, subscription: Subscription) -> Subscription:
    """Store a new or edited one. What happened before it was as it is now is not told.

    Raises NameTaken: who presses twice sends twice, and both ask before either is stored.
    """
    subscription.changed_at = timezone.now()
    try:
        with transaction.atomic():
            subscription.save()
    except IntegrityError as error:
        if NAME_ONCE not in str(error):
            raise
        raise NameTaken(subscription.name) from error
    return subscription


@transaction.atomic
def switch(subscriptions: QuerySet[Subscription], *, on: bool) -> int:
    """Switch them on or off; how many that changed.

    Mails that were composed and wait for another try are composed anew, which finds out whether
    anything still asks for them.
    """
    if not on:
        waiting = Mail.objects.filter(state=Mail.State.WAITING)
        ids = subscriptions.values_list("pk", flat=True)
        waiting.filter(data__subscription__in=list(ids)).update(composed_at=None)
    return subscriptions.filter(enabled=not on).update(enabled=on, changed_at=timezone.now())


@transaction.atomic
def delete_subscription(*, subscription: Subscription) -> None:
    """Delete it; mails that wait because of it alone are not sent any more."""
    switch(Subscription.objects.filter(pk=subscription.pk), on=False)
    subscription.delete()
