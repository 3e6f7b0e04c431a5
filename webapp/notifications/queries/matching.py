"""Whom alerts concern: the subscriptions that they fit."""

from collections.abc import Iterable

from webapp.alerts.models import Alert
from webapp.alerts.queries import suspicions_of
from webapp.notifications.models import Match, SubscriptionQuerySet


def matches(
    subscriptions: SubscriptionQuerySet, alerts: Iterable[int], *, ever: bool = False
) -> list[Match]:
    """Which of the ``subscriptions`` fit which ``alerts`` (ids): one query, and three more where
    an author is asked for.

    Whoever asks for an author is told once one commit may be named: the authors of 64 suspects
    would learn 63 times in 64 of a change that is not theirs.
    """
    found = subscriptions.matching(alerts, ever=ever)
    named = _named({match.alert for match in found if match.asks_author})
    return [match for match in found if not match.asks_author or match.alert in named]


def _named(alerts: set[int]) -> set[int]:
    """Those of the alerts (ids) of which one commit may be named."""
    if not alerts:
        return set()
    rows = Alert.objects.with_revisions().filter(pk__in=alerts)
    return {pk for pk, one in suspicions_of(rows).items() if one.commit}
