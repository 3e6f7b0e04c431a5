"""Whom alerts concern, which is the subscriptions that they fit; which events of an alert are news;
when digests are due, and what one covers.

Which events a feed holds: the newest that are news, of one tree, one hardware or a subscription.
What became of an alert stays in the feed when its findings are gone.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import Q, QuerySet
from django.urls import reverse

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import suspicions_of
from webapp.analysis.models import Finding
from webapp.notifications.models import Match, Subscription, SubscriptionQuerySet
from webapp.outbox.models import Mail
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
"""An alert wakes when it leaves history: until then nobody was notified of it."""

FOLLOWING = (CONFIRMED, MOVED, RECOVERED, RETURNED, RETRACTED)
"""Sent only to those who know of the alert."""

DIGEST_AT = time(7)
"""When a period ends, in the person's time zone: a digest is there when the day begins."""

MONDAY = 0
LONGEST_PERIOD = timedelta(days=31)
"""Nothing older is reported, however long no digest was sent."""

DIGESTS: Mapping[str, str] = {
    Subscription.Cadence.DAILY: "digest.daily",
    Subscription.Cadence.WEEKLY: "digest.weekly",
}
DIGEST_KINDS = (*NEWS, AlertEvent.Kind.JOINED)


class BadToken(ValueError):
    """The address was cut or made up; the message has what to do instead."""


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

    Whoever asks for an author is notified once one commit may be named: the authors of 64 suspects
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


@dataclass(frozen=True, slots=True)
class Period:
    """One digest of one person: what happened after ``since`` up to ``until``."""

    user: User
    cadence: str
    since: datetime
    until: datetime

    @property
    def about(self) -> str:
        """What its mail is about: the day on which it ends, in the person's time zone."""
        return f"digest:{self.until.astimezone(self.user.zone).date()}"


def last_end(cadence: str, user: User, now: datetime) -> datetime:
    """When the last period that is over ended.

    An event carries the time of its transaction, which may take as long as a task: a period is
    over when none can still be on its way into it.
    """
    local = (now - timedelta(seconds=settings.CELERY_TASK_TIME_LIMIT)).astimezone(user.zone)
    day = local.date() if local.time() >= DIGEST_AT else local.date() - timedelta(days=1)
    if cadence == Subscription.Cadence.WEEKLY:
        day -= timedelta(days=(day.weekday() - MONDAY) % 7)
    return _at(day, user)


def _at(day: date, user: User) -> datetime:
    return datetime.combine(day, DIGEST_AT, user.zone).astimezone(UTC)


def periods(subscriptions: Iterable[Subscription], now: datetime) -> list[Period]:
    """The periods that are over and have no digest yet, one for each person and cadence."""
    people = {(one.user_id, one.cadence): one.user for one in subscriptions}
    last = _last_digests(people)
    found = []
    for (pk, cadence), user in people.items():
        until = last_end(cadence, user, now)
        since = last.get((pk, cadence), until - LONGEST_PERIOD)
        if since < until:
            found.append(Period(user, cadence, max(since, until - LONGEST_PERIOD), until))
    return found


def _last_digests(people: Iterable[tuple[int, str]]) -> dict[tuple[int, str], datetime]:
    """Up to when each person was notified, by (user, cadence)."""
    cadences = {kind: cadence for cadence, kind in DIGESTS.items()}
    mails = Mail.objects.filter(recipient__in={pk for pk, _ in people}, kind__in=cadences).order_by(
        "recipient", "kind", "-pk"
    )
    newest = mails.distinct("recipient", "kind").values_list("recipient", "kind", "data__until")
    return {(pk, cadences[kind]): datetime.fromisoformat(until) for pk, kind, until in newest}


def take_back_early(now: datetime) -> None:
    """Have digests of days to come, posted before the clock was set back, end now.

    Their days would have no digest, and what happens until then would be reported by none.
    """
    for mail in Mail.objects.filter(kind__in=DIGESTS.values(), data__until__gt=_ahead(now)):
        mail.about = f"digest:early:{mail.pk}"
        mail.data["until"] = now.isoformat()
        mail.save(update_fields=["about", "data"])


def _ahead(now: datetime) -> str:
    # Their ends are written in UTC and in one form, so that the texts are in the order of time.
    return (now.astimezone(UTC) + timedelta(minutes=1)).isoformat()


def alerts_of(
    periods: Sequence[Period], subscriptions: Sequence[Subscription]
) -> dict[Period, list[int]]:
    """The alerts (ids) that each digest is to report; those without any are left out.

    An alert that came and went within the period is no news.
    """
    events = _events(periods)
    if not events:
        return {}
    alerts = Alert.objects.in_bulk({event.alert_id for event in events})
    asking = Subscription.objects.filter(pk__in=[one.pk for one in subscriptions])
    fitting: dict[int, set[int]] = defaultdict(set)
    for match in matches(asking, alerts, ever=True):
        fitting[match.subscription].add(match.alert)
    own: dict[tuple[int, str], list[Subscription]] = defaultdict(list)
    for one in subscriptions:
        own[one.user_id, one.cadence].append(one)
    shown_in = {}
    for period in periods:
        its = own[period.user.pk, period.cadence]
        news = {pk for one in its for pk in _heard(period, one, events, fitting[one.pk])}
        shown = sorted(pk for pk in news if _is_news(alerts[pk], period))
        if shown:
            shown_in[period] = shown
    return shown_in


def _heard(
    period: Period, one: Subscription, events: Sequence[AlertEvent], fitting: Container[int]
) -> set[int]:
    since = max(period.since, one.changed_at)
    return {
        event.alert_id
        for event in events
        if event.alert_id in fitting and since < event.at <= period.until
    }


def _events(periods: Sequence[Period]) -> list[AlertEvent]:
    if not periods:
        return []
    since = min(period.since for period in periods)
    until = max(period.until for period in periods)
    found = AlertEvent.objects.filter(
        at__gt=since,
        at__lte=until,
        kind__in=DIGEST_KINDS,
        actor=None,
        alert__history=False,
        is_quiet=False,
    )
    return list(found.only("alert", "at", "kind"))


def _is_news(alert: Alert, period: Period) -> bool:
    return alert.is_active or alert.opened_at <= period.since
