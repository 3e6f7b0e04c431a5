"""The mail once a day or once a week: a line for each alert that something happened to."""

from datetime import datetime

from webapp.alerts.models import Alert
from webapp.alerts.queries import suspicions_of, worst_of
from webapp.notifications.mails.phrases import alert_line, render_message
from webapp.notifications.models import Subscription
from webapp.notifications.queries.matching import Target
from webapp.outbox.models import Mail
from webapp.outbox.services import Message, NothingToSay, absolute

Cadence = Subscription.Cadence
SHOWN = 20


def daily(mail: Mail) -> Message:
    """The alerts of a day. Raises NothingToSay without any."""
    return _digest(mail, "day")


def weekly(mail: Mail) -> Message:
    """The alerts of a week. Raises NothingToSay without any."""
    return _digest(mail, "week")


def _digest(mail: Mail, length: str) -> Message:
    cadence = mail.data["cadence"]
    mine = Subscription.objects.heard().filter(user=mail.recipient_id, cadence=cadence)
    names = list(mine.values_list("name", flat=True))
    if not names:
        raise NothingToSay("The subscriptions were switched off.")
    alerts = Alert.objects.with_revisions().filter(pk__in=mail.data["alerts"], history=False)
    rows = list(alerts.order_by("-pk"))
    if not rows:
        raise NothingToSay("The alerts are gone.")
    zone = mail.recipient.zone
    since, until = (datetime.fromisoformat(mail.data[end]) for end in ("since", "until"))
    context = {
        "length": length,
        "count": len(rows),
        "since": since.astimezone(zone),
        "until": until.astimezone(zone),
        "names": names,
        "lines": _lines(rows[:SHOWN]),
        "more": max(0, len(rows) - SHOWN),
    }
    stops = Target(user=mail.recipient_id, cadence=cadence)
    return render_message(mail.kind, context, stops=stops)


def _lines(alerts: list[Alert]) -> list[tuple[str, str]]:
    """A sentence and an address for each alert, in four queries."""
    worst, suspicions = worst_of(alerts), suspicions_of(alerts)
    return [
        (
            alert_line(alert, worst.get(alert.pk), suspicions[alert.pk]),
            absolute(alert.get_absolute_url()),
        )
        for alert in alerts
    ]
