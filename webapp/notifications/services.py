"""Let people, channels and webhooks know what became of alerts, each event read once; and change
what people subscribe to.

One rule for the first mail: whoever an open alert concerns and who does not know of it is notified.
The outbox keeps one mail of a kind for a person and an alert, so it may be posted again and again:
findings that join later concern others. What follows goes to those who were notified of the alert.

Digests are posted when their period is over; a second call posts nothing twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from webapp.alerts import queries
from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding
from webapp.notifications import queries as notifications
from webapp.notifications.mails.alerts import preview
from webapp.notifications.mails.notices import (
    AddressNotTaken,
    NewAddress,
    ask_address,
    ask_new_password,
    asked_address,
    notify_of_change,
    take_address,
)
from webapp.notifications.mails.phrases import alert_line, one_line
from webapp.notifications.models import Subscription, SubscriptionQuerySet
from webapp.notifications.status import checks
from webapp.outbox import services
from webapp.outbox.models import Endpoint, Mail
from webapp.results.models import Point
from webapp.results.services import lock_trees

__all__ = [
    "AddressNotTaken",
    "NameTaken",
    "NewAddress",
    "alert_line",
    "ask_address",
    "ask_new_password",
    "asked_address",
    "checks",
    "delete_subscription",
    "notify_events",
    "notify_of_change",
    "one_line",
    "preview",
    "save_subscription",
    "switch",
    "take_address",
]

BATCH = 500
News = Sequence[tuple[str, AlertEvent]]

NAME_ONCE = "subscription_name_once"


@transaction.atomic
def notify_events() -> int:
    """Notify people of up to `BATCH` unread events; how many were read. Safe to run at once.

    Events are found by their own mark, because ids are not committed in order. The mails and
    the marks are one transaction, so a killed worker sends nothing twice. Under the
    lock of the tree, the events of an alert are sent in their order.
    """
    waiting = AlertEvent.objects.unread().order_by("pk").values_list("alert__tree", flat=True)
    trees = lock_trees(waiting[:BATCH])
    events = list(
        AlertEvent.objects.unread()
        .filter(alert__tree__in=trees)
        .order_by("pk")
        .select_related("alert")
        .select_for_update(of=("self",), skip_locked=True, no_key=True)[:BATCH]
    )
    # People know what they did themselves.
    _notify([event for event in events if event.actor_id is None])
    AlertEvent.objects.filter(pk__in=[event.pk for event in events]).update(is_read=True)
    return len(events)


def _notify(events: Sequence[AlertEvent]) -> None:
    """The number of queries depends neither on the number of alerts nor on that of subscriptions;
    only webhooks take some for each event, where there are any.
    """
    if not events:
        return
    alerts = list({event.alert_id: event.alert for event in events}.values())
    news = notifications.news_of(events)
    now = timezone.now()
    # What follows comes before: who is notified of an alert only now gets the latest.
    following = _without_bisected([each for each in news if each[0] in notifications.FOLLOWING])
    untold = [alert for alert in alerts if notifications.is_untold(alert)]
    firsts = _firsts(untold, now)
    services.post_mails([*_follow_ups(following, now), *firsts])
    followed = [(kind, event.alert_id) for kind, event in following]
    opened = [(notifications.OPENED, alert.pk) for alert in untold]
    services.post_messages([_message(kind, alert, now) for kind, alert in (*opened, *followed)])
    _keep_from_history(alerts, {mail.data["alert"] for mail in firsts})
    _call_webhooks(news)


def _firsts(alerts: Sequence[Alert], now: datetime) -> list[services.NewMail]:
    """One mail for each person and alert, because of the person's oldest subscription that fits."""
    if not alerts:
        return []
    heard = Subscription.objects.heard().immediate()
    chosen = _first_that_fit(heard, [alert.pk for alert in alerts])
    return [_mail(notifications.OPENED, alert, one, now) for (_, alert), one in chosen.items()]


def _first_that_fit(
    subscriptions: SubscriptionQuerySet, alerts: Iterable[int], *, ever: bool = False
) -> Mapping[tuple[int, int], Subscription]:
    """The oldest of the subscriptions that fits, for each person and alert (ids)."""
    found = notifications.matches(subscriptions, alerts, ever=ever)
    known = _with_people({match.subscription for match in found})
    chosen: dict[tuple[int, int], Subscription] = {}
    for match in found:
        one = known[match.subscription]
        chosen.setdefault((one.user_id, match.alert), one)
    return chosen


def _without_bisected(news: News) -> News:
    """Without moves of what a bisect searches or searched: its end is sent, and names where."""
    moved = {event.alert.tree_id for kind, event in news if kind == notifications.MOVED}
    if not moved:
        return news
    bisected = {one.alert for one in queries.holds_in(sorted(moved))}
    return [
        each for each in news if each[0] != notifications.MOVED or each[1].alert_id not in bisected
    ]


def _follow_ups(news: News, now: datetime) -> list[services.NewMail]:
    """Mails to those who were notified of the alert, while the subscription that did it is on, or
    another of theirs that fits.
    """
    if not news:
        return []
    heard = Subscription.objects.heard().immediate()
    sent = Mail.objects.filter(
        recipient__in=heard.values("user"),
        kind=notifications.OPENED,
        about__in={_about(event.alert_id) for _, event in news},
    ).exclude(state=Mail.State.DROPPED)
    rows = list(sent.values_list("about", "recipient", "data__subscription"))
    known = _with_people({pk for _, _, pk in rows})
    without = {person for _, person, pk in rows if pk not in known}
    instead = _instead(without, {event.alert_id for _, event in news}) if without else {}
    return [
        _mail(kind, event.alert_id, one, now)
        for kind, event in news
        for about, person, pk in rows
        if about == _about(event.alert_id)
        if (one := known.get(pk) or instead.get((person, event.alert_id)))
    ]


def _instead(
    people: Iterable[int], alerts: Iterable[int]
) -> Mapping[tuple[int, int], Subscription]:
    """For those whose subscription is gone; a retracted alert holds nothing that would fit."""
    heard = Subscription.objects.heard().immediate().filter(user__in=people)
    return _first_that_fit(heard, alerts, ever=True)


def _with_people(subscriptions: Iterable[int]) -> Mapping[int, Subscription]:
    heard = Subscription.objects.heard().immediate().select_related("user")
    return heard.in_bulk(list(subscriptions))


def _mail(kind: str, alert: int, subscription: Subscription, now: datetime) -> services.NewMail:
    """Due when findings of the same commit have had time to join."""
    return services.NewMail(
        recipient=subscription.user_id,
        kind=kind,
        about=_about(alert),
        due=now + timedelta(seconds=settings.MAIL_SETTLE_SECONDS),
        thread=_about(alert),
        data={"alert": alert, "subscription": subscription.pk, "at": now.isoformat()},
    )


def _message(kind: str, alert: int, now: datetime) -> services.NewMessage:
    """As ``_mail``, for the channels that listen to its kind."""
    due = now + timedelta(seconds=settings.MAIL_SETTLE_SECONDS)
    return services.NewMessage(kind, _about(alert), due, {"alert": alert, "at": now.isoformat()})


def _about(alert: int) -> str:
    return f"alert:{alert}"


def _keep_from_history(alerts: Sequence[Alert], notified: set[int]) -> None:
    """People know of these now: see ``settle``."""
    new = [alert for alert in alerts if alert.pk in notified and not alert.mailed]
    if new:
        for alert in new:
            alert.mailed = True
        Alert.objects.filter(pk__in=[alert.pk for alert in new]).update(mailed=True)


def _call_webhooks(news: News) -> None:
    if not news or not Endpoint.objects.webhooks().filter(enabled=True).exists():
        return
    alerts = Alert.objects.with_revisions().in_bulk({event.alert_id for _, event in news})
    findings, suspicions = _findings_of(alerts), queries.suspicions_of(alerts.values())
    left_out = queries.left_out_beside([row for rows in findings.values() for row in rows])
    for kind, event in news:
        alert = alerts[event.alert_id]
        services.post_event(
            kind=kind,
            about=f"{_about(alert.pk)}:event:{event.pk}",
            payload=payload_of(
                kind,
                event,
                alert,
                findings.get(alert.pk, ()),
                suspicions[alert.pk],
                left_out=left_out,
            ),
        )


def _findings_of(alerts: Mapping[int, Any]) -> dict[int, list[Finding]]:
    return queries.by_alert(
        queries.findings_of(alerts).with_subjects().with_revisions().defer("why")
    )


def payload_of(
    kind: str,
    event: AlertEvent,
    alert: Alert,
    findings: Sequence[Finding],
    suspicion: queries.Suspicion,
    *,
    left_out: Sequence[Point] = (),
) -> dict[str, Any]:
    """One event as JSON; needs the alert's revisions and the findings' subjects loaded.

    ``revision`` is the first one measured at the new level; ``commit`` the cause, null while no
    commit holds 80 % of the chance alone, others than the ``known_revisions`` may lie between, or
    it all rests on ``one_build`` a side; of a slow loss or an excursion none is to blame: no
    ``commits`` and no ``chance`` of any. Percentages are new level against old, null beyond the
    double range; levels are in the unit. ``left_out`` are the points beside the findings that lack
    samples of their runs: each finding has its own.
    """
    return {
        "kind": kind,
        "at": event.at.isoformat(),
        "reason": event.reason,
        "alert": alert.pk,
        "alert_kind": alert.kind,
        "url": services.absolute(alert.get_absolute_url()),
        "state": alert.state,
        "verdict": alert.verdict,
        "one_build": alert.one_build,
        "tree": alert.tree.name,
        "revision": alert.likeliest.name,
        "commit": suspicion.commit.name if suspicion.commit else None,
        "commits": 0 if suspicion.blames_none else suspicion.commits,
        "known_revisions": 0 if suspicion.blames_none else suspicion.known,
        "chance": 0.0 if suspicion.blames_none else suspicion.chance,
        "suspects": {"after": alert.after.name, "up_to": alert.revision.name},
        "findings": [_finding(row, left_out) for row in findings],
    }


def _finding(row: Finding, left_out: Sequence[Point]) -> dict[str, Any]:
    series = row.series
    return {
        "hardware": series.hardware.name,
        "simulated": series.hardware.lab.simulated,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "verdict": row.verdict,
        "state": row.state,
        "one_build": row.one_build,
        "kind": row.kind,
        "parts": [
            {"after": after, "up_to": up_to, "change_percent": pct}
            for after, up_to, pct in row.parts
        ],
        "revision": row.revision.name,
        "level_before": row.level_before,
        "level": row.level,
        "change_percent": row.change_pct,
        "low_percent": row.low_pct,
        "high_percent": row.high_pct,
        "here": row.here,
        "probability": row.probability,
        "left_out": queries.left_out_of(row, left_out),
    }


@transaction.atomic
def post_digests(*, now: datetime | None = None) -> int:
    """Post the digests that are due; how many. Whose alerts brought nothing new gets none."""
    now = now or timezone.now()
    notifications.take_back_early(now)
    wanted = (
        Subscription.objects.heard()
        .filter(cadence__in=notifications.DIGESTS)
        .select_related("user")
    )
    subscriptions = list(wanted)
    found = notifications.alerts_of(notifications.periods(subscriptions, now), subscriptions)
    return services.post_mails(
        [
            services.NewMail(
                recipient=period.user.pk,
                kind=notifications.DIGESTS[period.cadence],
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


class NameTaken(ValueError):
    """The person has another subscription of that name."""


def save_subscription(*, subscription: Subscription) -> Subscription:
    """Store a new or edited one. What happened before it was as it is now is not sent.

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
