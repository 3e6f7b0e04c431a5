"""When digests are due, and what one covers."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.notifications.models import Subscription
from webapp.notifications.queries.matching import NEWS, matches
from webapp.outbox.models import Mail

AT = time(7)
"""When a period ends, in the person's time zone: a digest is there when the day begins."""

MONDAY = 0
LONGEST = timedelta(days=31)
"""Nothing older is told, however long no digest was sent."""

DIGESTS: Mapping[str, str] = {
    Subscription.Cadence.DAILY: "digest.daily",
    Subscription.Cadence.WEEKLY: "digest.weekly",
}
KINDS = (*NEWS, AlertEvent.Kind.JOINED)


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
    day = local.date() if local.time() >= AT else local.date() - timedelta(days=1)
    if cadence == Subscription.Cadence.WEEKLY:
        day -= timedelta(days=(day.weekday() - MONDAY) % 7)
    return _at(day, user)


def _at(day: date, user: User) -> datetime:
    return datetime.combine(day, AT, user.zone).astimezone(UTC)


def periods(subscriptions: Iterable[Subscription], now: datetime) -> list[Period]:
    """The periods that are over and have no digest yet, one for each person and cadence."""
    people = {(one.user_id, one.cadence): one.user for one in subscriptions}
    last = _last_digests(people)
    found = []
    for (pk, cadence), user in people.items():
        until = last_end(cadence, user, now)
        since = last.get((pk, cadence), until - LONGEST)
        if since < until:
            found.append(Period(user, cadence, max(since, until - LONGEST), until))
    return found


def _last_digests(people: Iterable[tuple[int, str]]) -> dict[tuple[int, str], datetime]:
    """Up to when each person was told, by (user, cadence)."""
    cadences = {kind: cadence for cadence, kind in DIGESTS.items()}
    mails = Mail.objects.filter(recipient__in={pk for pk, _ in people}, kind__in=cadences).order_by(
        "recipient", "kind", "-pk"
    )
    newest = mails.distinct("recipient", "kind").values_list("recipient", "kind", "data__until")
    return {(pk, cadences[kind]): datetime.fromisoformat(until) for pk, kind, until in newest}


def take_back_early(now: datetime) -> None:
    """Have digests of days to come, posted before the clock was set back, end now.

    Their days would have no digest, and what happens until then would be told by none.
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
    """The alerts (ids) that each digest is to tell; those without any are left out.

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
        kind__in=KINDS,
        actor=None,
        alert__history=False,
        is_quiet=False,
    )
    return list(found.only("alert", "at", "kind"))


def _is_news(alert: Alert, period: Period) -> bool:
    return alert.is_active or alert.opened_at <= period.since
