"""Whom alerts concern: the subscriptions that they fit, and which events of an alert are news.

Which events a feed holds: the newest that are news, of one tree, one hardware or a subscription.
What became of an alert stays in the feed when its findings are gone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from django.core.signing import BadSignature, Signer
from django.db.models import Q, QuerySet
from django.urls import reverse

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import suspicions_of
from webapp.analysis.models import Finding
from webapp.notifications.models import Match, Subscription, SubscriptionQuerySet
from webapp.outbox.services import absolute
from webapp.results.models import Hardware, Tree

_signer = Signer(salt="driftline.unsubscribe")

Kind = AlertEvent.Kind

OPENED = "alert.opened"
CONFIRMED = "alert.confirmed"
MOVED = "alert.moved"
RECOVERED = "alert.recovered"
RETURNED = "alert.returned"
RETRACTED = "alert.retracted"

NEWS: dict[str, str] = {
    Kind.OPENED: OPENED,
    Kind.WOKE: OPENED,
    Kind.CONFIRMED: CONFIRMED,
    Kind.MOVED: MOVED,
    Kind.RECOVERED: RECOVERED,
    Kind.RETURNED: RETURNED,
    Kind.REACTIVATED: RETURNED,
    Kind.RETRACTED: RETRACTED,
}
"""An alert wakes when it leaves history: until then nobody was told of it."""

FOLLOWING = (CONFIRMED, MOVED, RECOVERED, RETURNED, RETRACTED)
"""Told only to those who know of the alert."""


class BadToken(ValueError):
    """The address was cut or made up; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a token stops: one subscription, or all of a person's of one cadence."""

    subscription: int = 0
    user: int = 0
    cadence: str = ""

    @classmethod
    def read(cls, token: str) -> Self:
        """Raises BadToken. A token does not run out: mails are kept for years."""
        try:
            one, user, cadence = _signer.unsign(token.replace("~", ":")).split(".")
        except (BadSignature, ValueError) as error:
            raise BadToken(
                "This address is not complete. Copy it whole, or sign in and switch the "
                "subscription off on its page."
            ) from error
        return cls(int(one), int(user), cadence)

    @property
    def token(self) -> str:
        """The signed text for the link; ``read`` reads it."""
        signed = _signer.sign(f"{self.subscription}.{self.user}.{self.cadence}")
        # A colon is allowed in a path, but some mail programs end the link there.
        return signed.replace(":", "~")

    @property
    def url(self) -> str:
        """The absolute link that stops the mails."""
        return absolute(reverse("unsubscribe", args=[self.token]))

    def subscriptions(self) -> QuerySet[Subscription]:
        """Subscriptions that the link stops, as far as they still exist."""
        by_cadence = Q(user=self.user, cadence=self.cadence)
        return Subscription.objects.filter(
            Q(pk=self.subscription) if self.subscription else by_cadence
        )


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


ENTRIES = 50
ALERTS = 500
"""A subscription's feed looks at no more than the newest of them."""


def events_of_tree(tree: Tree) -> list[AlertEvent]:
    """The newest events that are news, of the alerts of a tree."""
    return _newest(Q(alert__tree=tree))


def events_of_hardware(hardware: Hardware) -> list[AlertEvent]:
    """The newest events that are news, of alerts that ever had a finding on the hardware."""
    findings = list(
        Finding.all_kinds.filter(series__hardware=hardware).values_list("pk", flat=True)
    )
    joined = AlertEvent.objects.filter(kind=AlertEvent.Kind.JOINED, findings__overlap=findings)
    return _newest(Q(alert__in=set(joined.values_list("alert", flat=True))))


def events_of_subscription(subscription: Subscription) -> list[AlertEvent]:
    """The newest events that are news, of the newest alerts that the subscription fits."""
    announced = Alert.objects.filter(history=False)
    newest = list(announced.order_by("-pk").values_list("pk", flat=True)[:ALERTS])
    own = Subscription.objects.filter(pk=subscription.pk)
    return _newest(Q(alert__in={match.alert for match in matches(own, newest, ever=True)}))


def _newest(about: Q) -> list[AlertEvent]:
    loud = AlertEvent.objects.filter(alert__history=False, is_quiet=False, actor=None)
    events = loud.filter(about, kind__in=NEWS)
    named = events.select_related(
        *(f"alert__{name}" for name in ("tree", "after", "revision", "likeliest"))
    )
    return list(named.order_by("-pk")[:ENTRIES])


def is_untold(alert: Alert) -> bool:
    """Whether ``alert`` waits for somebody, so that everybody whom it concerns is to know of it."""
    return alert.is_active and alert.is_open and not alert.history and not alert.is_quiet


def news_of(events: Iterable[AlertEvent]) -> list[tuple[str, AlertEvent]]:
    """The events of the system that are news, each with its kind; those of history are not."""
    return [
        (NEWS[event.kind], event)
        for event in events
        if event.kind in NEWS and event.actor_id is None and not event.alert.history
    ]
