"""The end of a bisect: its answer, and who is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from webapp.alerts.models import AlertHold
from webapp.alerts.services import end_holds, reconcile_trees, tell_bisect
from webapp.bisects.models import Bisect
from webapp.bisects.sentences import progress_sentence
from webapp.notifications.models import Subscription
from webapp.outbox.models import Mail
from webapp.outbox.services import (
    NewMail,
    NewMessage,
    absolute,
    post_event,
    post_mails,
    post_messages,
)
from webapp.results.models import Revision
from webapp.stats import bisection

DONE = "bisect.done"


def end_with(
    bisect: Bisect, found: bisection.Decision, revisions: Sequence[Revision], now: datetime
) -> None:
    """Write the outcome, let the alert take it, and tell those who heard of the alert.

    Raises ValueError for a decision that is not to end.
    """
    outcome = found.outcome
    if outcome is None:
        raise ValueError("a bisect ends with an outcome")
    is_found = outcome.kind == bisection.Kind.SINGLE
    is_single = is_found and outcome.candidates[0] not in bisect.gaps
    bisect.state = Bisect.State.DONE
    # One revision stands for a range of commits where others may lie before it.
    bisect.outcome = Bisect.Outcome.RANGE if is_found and not is_single else outcome.kind.value
    bisect.culprit = revisions[outcome.candidates[0]] if is_single else None
    bisect.probability = min(max(outcome.probability, 0.0), 1.0)
    bisect.suspects = [revisions[at].pk for at in (*outcome.candidates, *outcome.second)]
    bisect.ended_at = bisect.updated_at = now
    bisect.version += 1
    bisect.save()
    sentence = progress_sentence(found, [revision.name for revision in revisions], bisect.gaps)
    if bisect.alert_id is not None:
        tell_bisect(
            alert=bisect.alert_id,
            text=f"bisect {bisect.pk}: {sentence}",
            named=bisect.culprit,
            probability=bisect.probability if is_single else None,
        )
        if bisect.outcome not in Bisect.REPRODUCED:
            let_go(bisect, AlertHold.Reason.OUTCOME, now)
        # What the bisect held goes by the detector's word again, where it named nothing.
        reconcile_trees([bisect.series.tree_id])
    _post(bisect, sentence, now)


def let_go(bisect: Bisect, reason: AlertHold.Reason, now: datetime) -> None:
    """Give its alert back to the detector, if the bisect holds one."""
    if bisect.hold_id is not None:
        end_holds([bisect.hold_id], reason=reason, now=now)


def _post(bisect: Bisect, sentence: str, now: datetime) -> None:
    thread = f"alert:{bisect.alert_id}" if bisect.alert_id else f"bisect:{bisect.pk}"
    about = f"bisect:{bisect.pk}"
    post_mails(
        [
            NewMail(recipient=person, kind=DONE, about=about, due=now, thread=thread, data=data)
            for person, data in sorted(_recipients(bisect).items())
        ]
    )
    post_messages([NewMessage(DONE, about, now)])
    post_event(kind=DONE, about=about, payload=_payload(bisect, sentence))


def _recipients(bisect: Bisect) -> dict[int, dict[str, Any]]:
    """Who started the bisect, and who was mailed about the alert because of a subscription that is
    on: with the data of the mail, which name that subscription.
    """
    people: dict[int, dict[str, Any]] = {}
    if bisect.created_by_id:
        people[bisect.created_by_id] = {}
    if bisect.alert_id is None:
        return people
    mailed = Mail.objects.filter(
        about=f"alert:{bisect.alert_id}", kind__startswith="alert.", state=Mail.State.SENT
    )
    rows = list(mailed.order_by("pk").values_list("recipient_id", "data__subscription"))
    heard = Subscription.objects.heard().in_bulk({pk for _, pk in rows if pk is not None})
    notified = {person: {"subscription": pk} for person, pk in rows if pk in heard}
    return notified | people


def _payload(bisect: Bisect, sentence: str) -> dict[str, Any]:
    series = bisect.series
    return {
        "bisect": bisect.pk,
        "url": absolute(bisect.get_absolute_url()),
        "alert": bisect.alert_id,
        "tree": series.tree.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "good": bisect.good.name,
        "bad": bisect.bad.name,
        "outcome": bisect.outcome,
        "culprit": bisect.culprit.name if bisect.culprit else None,
        "probability": bisect.probability,
        "words": sentence,
    }
