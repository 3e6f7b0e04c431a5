"""Mails about alerts: one that was opened, confirmed, moved, recovered, returned or retracted, and
the digest of a day or a week, with a line for each alert that something happened to.

They are composed when they are sent, and have the latest; what is no longer so is left out.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import suspicions_of, why_withdrawn, worst_of
from webapp.analysis import queries as analysis
from webapp.analysis.models import Finding, Verdict
from webapp.notifications import queries
from webapp.notifications.mails import phrases
from webapp.notifications.mails.rows import sparks_of, table_of
from webapp.notifications.models import Subscription
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.services import CHANNEL, Message, NothingToSay, NotYet, absolute
from webapp.results.models import Revision

SUSPECTS_SHOWN = 5
LEFT_OUT_SHOWN = 3
AFTER_THE_FIRST = timedelta(minutes=1)
"""A mail that follows another looks again so much later, at the earliest."""

Cadence = Subscription.Cadence
DIGEST_SHOWN = 20


def opened(mail: Mail) -> Message:
    """The first mail about an alert. Raises NothingToSay where it is gone, closed or history."""
    alert = _alert(mail)
    if not alert.is_active:
        raise NothingToSay("Later runs no longer show it, or it belongs to another alert.")
    if alert.history or not alert.is_open:
        raise NothingToSay(f"It is {alert.get_state_display()} already.")
    facts = phrases.gather(alert.pk)
    is_over = _is_recovered(facts) and not alert.is_excursion  # which is over by its nature
    remark = f"It recovered already, by {_recovered_by(facts)}." if is_over else ""
    return _message(mail, facts, remark)


def confirmed(mail: Mail) -> Message:
    """That more builds confirmed what rested on one a side. Raises NothingToSay, NotYet."""
    alert = _alert_of_follow_up(mail)
    if not alert.is_active or alert.one_build:
        raise NothingToSay("It rests on one build a side again, or is retracted.")
    remark = f"Alert {alert.pk} is confirmed: it no longer rests on one build a side."
    return _message(mail, phrases.gather(alert.pk), remark)


def moved(mail: Mail) -> Message:
    """That the alert points at another commit. Raises NothingToSay, NotYet."""
    alert = _alert_of_follow_up(mail)
    if not alert.is_active:
        raise NothingToSay("Later runs no longer show it.")
    last = alert.events.filter(kind=AlertEvent.Kind.MOVED).order_by("-pk").first()
    remark = f" ({last.reason})" if last else ""
    return _message(
        mail, phrases.gather(alert.pk), f"Alert {alert.pk} points at another commit now{remark}."
    )


def recovered(mail: Mail) -> Message:
    """That a later revision took the change back. Raises NothingToSay, NotYet."""
    alert = _alert_of_follow_up(mail)
    facts = phrases.gather(alert.pk)
    if not alert.is_active or not _is_recovered(facts):
        raise NothingToSay("It is no longer recovered.")
    by = _recovered_by(facts)
    return _message(mail, facts, f"Alert {alert.pk} recovered: {by} took the last of it back.")


def returned(mail: Mail) -> Message:
    """That a recovered alert is back. Raises NothingToSay, NotYet."""
    alert = _alert_of_follow_up(mail)
    if not alert.is_active or alert.state == Alert.State.RECOVERED:
        raise NothingToSay("It is recovered again, or retracted.")
    return _message(
        mail, phrases.gather(alert.pk), f"Alert {alert.pk} is back: it is not recovered."
    )


def retracted(mail: Mail) -> Message:
    """That nothing is left of the alert, and why. Raises NothingToSay, NotYet."""
    alert = _alert_of_follow_up(mail)
    if alert.is_active:
        raise NothingToSay("Its findings are back.")
    facts = phrases.gather(alert.pk)
    because = "later runs no longer show the change; nothing is to be done"
    if alert.duplicate_of_id:
        because = f"its findings point at alert {alert.duplicate_of_id} now"
    elif alert.one_build:
        because = "it rested on one build a side, and what was measured since does not agree"
    reason = "" if alert.duplicate_of_id else why_withdrawn(alert)
    return _message(mail, facts, f"Alert {alert.pk} is retracted: {because}. {reason}".rstrip())


def preview(alert: Alert, subscription: Subscription) -> Message:
    """The present text of a mail about the alert, whatever its state."""
    data = {"alert": alert.pk, "subscription": subscription.pk}
    mail = Mail(kind=queries.OPENED, recipient=subscription.user, data=data)
    return _written(mail, phrases.gather(alert.pk), "", subscription)


def _alert(mail: Mail) -> Alert:
    found = Alert.objects.filter(pk=mail.data["alert"]).first()
    if found is None:
        raise NothingToSay("The alert is gone.")
    return found


def _alert_of_follow_up(mail: Mail) -> Alert:
    """The alert of a mail that follows the first. Nothing is to be sent to who knows nothing of the
    alert, or was notified of it when this had happened already. While the first may still be sent,
    as it was composed then, nothing can be sent yet.
    """
    first = _first(mail)
    if first is not None and first.is_waiting:
        until = max(first.due, timezone.now() + AFTER_THE_FIRST)
        raise NotYet("It follows the mail that opens the conversation, which waits.", until)
    if first is None and _hears_no_first(mail):
        return _alert(mail)
    if first is None or first.state != Mail.State.SENT:
        raise NothingToSay("The mail that opens the conversation was not sent.")
    alert = _alert(mail)
    if _composed_at(first) > _last_happened(alert, mail):
        raise NothingToSay("It is in the first mail.")
    return alert


def _first(mail: Mail) -> Mail | HookDelivery | None:
    """What opened the conversation, with the person or in the channel."""
    same = {"kind": queries.OPENED, "about": mail.about}
    if CHANNEL in mail.data:
        return HookDelivery.objects.filter(endpoint=mail.data[CHANNEL], **same).first()
    return Mail.objects.filter(recipient=mail.recipient_id, **same).first()


def _hears_no_first(mail: Mail) -> bool:
    """Whether it is for a channel that listens to other kinds of news only."""
    channel = Endpoint.objects.filter(pk=mail.data.get(CHANNEL)).first()
    return channel is not None and bool(channel.kinds) and queries.OPENED not in channel.kinds


def _composed_at(first: Mail | HookDelivery) -> datetime:
    if isinstance(first, HookDelivery):
        return datetime.fromisoformat(first.payload["composed_at"])
    assert first.composed_at is not None, "no mail is sent without"
    return first.composed_at


def _last_happened(alert: Alert, mail: Mail) -> datetime:
    """When the subject of the mail happened last; it was posted when it did so first."""
    kinds = [kind for kind, mail_kind in queries.NEWS.items() if mail_kind == mail.kind]
    last = alert.events.filter(kind__in=kinds, actor=None).order_by("-pk").first()
    posted = datetime.fromisoformat(mail.data["at"])
    return max(posted, last.at) if last else posted


def _message(mail: Mail, facts: phrases.AlertFacts, remark: str = "") -> Message:
    subscription = None if CHANNEL in mail.data else _subscription(mail)
    return _written(mail, facts, remark, subscription)


def _subscription(mail: Mail) -> Subscription:
    """Why the person gets the mail: the subscription that it was posted for, or when that is off
    another of theirs that fits. Raises NothingToSay.
    """
    heard = Subscription.objects.heard().with_parts()
    found = heard.filter(pk=mail.data["subscription"]).first()
    if found is not None:
        return found
    own = heard.immediate().filter(user=mail.recipient_id)
    others = queries.matches(own, [mail.data["alert"]], ever=True)
    if not others:
        raise NothingToSay("The subscription was switched off.")
    return own.get(pk=others[0].subscription)


def _written(
    mail: Mail, facts: phrases.AlertFacts, remark: str, subscription: Subscription | None
) -> Message:
    context = {
        "remark": remark,
        "subject": phrases.subject_line(facts),
        "why": phrases.why(subscription) if subscription else "",
        **_context(facts),
    }
    return phrases.render_message(mail.kind, context, stops=_stops(subscription))


def _stops(one: Subscription | None) -> queries.Target | None:
    return queries.Target(one.pk or 0, one.user_id, one.cadence) if one else None


def _context(facts: phrases.AlertFacts) -> Mapping[str, Any]:
    alert, worst = facts.alert, facts.worst
    shown = _suspects_shown(facts) if alert.suspects_commits else []
    more = facts.earlier + len(facts.suspects) - len(shown) if alert.suspects_commits else 0
    return {
        "facts": facts,
        "alert": alert,
        "verdict": phrases.verdict_sentence(facts),
        "today": phrases.today_line(worst) if worst else "",
        "surety": phrases.surety_sentence(facts),
        "one_build": analysis.one_build_lines(worst) if alert.one_build and worst else [],
        "sparks": sparks_of(facts.findings),
        "request": _request(facts),
        "table": table_of(facts),
        "left_out": [phrases.left_out_line(point) for point in facts.left_out[:LEFT_OUT_SHOWN]],
        "left_out_more": max(len(facts.left_out) - LEFT_OUT_SHOWN, 0),
        "worst_series": phrases.series_phrase(worst) if worst else "",
        "commit": facts.suspicion.commit,
        "suspects": [_suspect(one) for one in shown],
        "suspects_more": more,
        "reproduce": _reproduce(worst) if worst else {},
        "profiles": _profiles(worst) if worst else [],
        "links": _links(facts),
    }


def _profiles(worst: Finding) -> list[str]:
    """What profiles on both sides of the worst finding show: the sentence, the functions that are
    proven, and where the difference is; empty where a side has none.
    """
    found = analysis.profiled_around(
        [analysis.Gap.before(analysis.Subject.of(worst.series), worst.position)]
    )
    if not found:
        return []
    pair = found[0]
    link = analysis.with_query(reverse("profile_diff"), [("a", pair.a.text), ("b", pair.b.text)])
    return [pair.headline.text, *pair.lines, absolute(link)]


def _request(facts: phrases.AlertFacts) -> str:
    """The one thing that a mail about an open loss asks for; no mail is received, so by a link."""
    worst = facts.worst
    if worst is None or worst.verdict != Verdict.WORSE or not facts.alert.is_open:
        return ""
    if facts.alert.one_build or facts.alert.is_excursion or not facts.alert.is_active:
        return ""
    mode = phrases.one_line(str(worst.series.mode), 60)
    return f"Was the loss in {mode} expected? Mark the alert so."


def _suspects_shown(facts: phrases.AlertFacts) -> list[Revision]:
    """The last ones, and the likeliest wherever it is."""
    shown = list(facts.suspects[-SUSPECTS_SHOWN:])
    return shown if facts.alert.likeliest in shown else [facts.alert.likeliest, *shown]


def _suspect(revision: Revision) -> tuple[Revision, str]:
    """The revision and a line that names it; of several suspects none is the author."""
    return revision, phrases.one_line(f"{revision} {revision.subject}", 90)


def _reproduce(worst: Finding) -> Mapping[str, str]:
    return {
        "base": str(worst.previous),
        "other": str(worst.revision),
        "mode": phrases.one_line(str(worst.series.mode), 60),
        "hardware": phrases.one_line(str(worst.series.hardware), 60),
        "tree": str(worst.series.tree),
        "ministat": absolute(analysis.compare_link(*analysis.sides_of(worst), page="compare_text")),
    }


def _links(facts: phrases.AlertFacts) -> list[tuple[str, str]]:
    """Absolute addresses, each with its name. A mail's figures are those of its time."""
    alert, worst = facts.alert, facts.worst
    path = alert.get_absolute_url()
    seen = analysis.with_query(path, [("asof", f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}")])
    commit = reverse("commit", args=[alert.tree.name, alert.likeliest.name])
    found = [("Alert", path), ("As of this mail", seen), (_name_of(facts), commit)]
    if worst:
        found.append(("Compare", analysis.compare_link(*analysis.sides_of(worst))))
    if worst and alert.is_slow:
        found.append(("Spread boots over the window", f"{path}#next"))
    if worst:
        found.append(("Trend", analysis.trend_link(worst.series)))
    return [(name, absolute(link)) for name, link in found]


def _name_of(facts: phrases.AlertFacts) -> str:
    """What the page of the likeliest revision is to the reader."""
    return "Commit" if facts.suspicion.commit else f"Revision {facts.alert.likeliest}"


def _is_recovered(facts: phrases.AlertFacts) -> bool:
    return all(row.state == Finding.State.RECOVERED for row in facts.findings)


def _recovered_by(facts: phrases.AlertFacts) -> Revision:
    """The last of the revisions at which its findings recovered."""
    found = (row.recovered_by for row in facts.findings if row.recovered_by)
    return max(found, key=lambda revision: revision.position)


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
        "lines": _lines(rows[:DIGEST_SHOWN]),
        "more": max(0, len(rows) - DIGEST_SHOWN),
    }
    stops = queries.Target(user=mail.recipient_id, cadence=cadence)
    return phrases.render_message(mail.kind, context, stops=stops)


def _lines(alerts: list[Alert]) -> list[tuple[str, str]]:
    """A sentence and an address for each alert, in four queries."""
    worst, suspicions = worst_of(alerts), suspicions_of(alerts)
    return [
        (
            phrases.alert_line(alert, worst.get(alert.pk), suspicions[alert.pk]),
            absolute(alert.get_absolute_url()),
        )
        for alert in alerts
    ]
