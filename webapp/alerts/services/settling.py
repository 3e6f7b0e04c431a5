"""The state of an alert as the system sees it, beside what people decided.

While nobody triaged an alert, its state is a function of its findings: new, snoozed when they come
from history, recovered? when all of them recovered. What a person decided is changed only by news.
"""

from dataclasses import replace

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.evidence import Conclusion
from webapp.alerts.services.log import RESTORED, Change

State = Alert.State
Resolution = Alert.Resolution
Kind = AlertEvent.Kind
WORKED_ON = (State.NEW, State.ACKNOWLEDGED, State.INVESTIGATING, State.REOPENED)
TAKEN_BACK = (Resolution.RETRACTED, Resolution.DUPLICATE)


def settle(change: Change, conclusion: Conclusion) -> None:
    """Bring the state in line with findings that back the alert.

    What somebody was written to about is no history any more, whatever became of its runs.
    """
    alert = change.alert
    if alert.mailed:
        conclusion = replace(conclusion, is_history=False)
    if alert.history != conclusion.is_history:
        alert.history = conclusion.is_history
        if alert.triaged:
            # Those nobody triaged fall asleep or wake, which is an event.
            change.note(Kind.HISTORY, "" if alert.history else "no longer")
        else:
            change.touch()
    if not alert.standing:
        _stand_again(change)
    if alert.triaged:
        _settle_triaged(change, conclusion)
    else:
        _settle_untouched(change, conclusion)


def retire(change: Change, heir: Alert | None) -> None:
    """Close an alert whose findings are gone, or belong to ``heir`` now.

    A person's resolution stays; that the findings are gone is told all the same.
    """
    alert = change.alert
    alert.standing = False
    change.note(Kind.RETRACTED, f"its findings point at alert {heir.pk} now" if heir else "")
    if alert.state == State.RESOLVED:
        return
    if heir is None:
        change.enter(State.RESOLVED, resolution=Resolution.RETRACTED)
    else:
        change.enter(State.RESOLVED, resolution=Resolution.DUPLICATE, duplicate_of=heir)


def take_up(change: Change, other: Alert) -> None:
    """Let a duplicate of ``other``, which waits or sleeps, do that in its place: it gets the
    findings, and both closed would hide them.
    """
    if change.alert.duplicate_of_id != other.pk or other.state == State.RESOLVED:
        return
    kind = Kind.SNOOZED if other.state == State.SNOOZED else Kind.REOPENED
    change.note(kind, f"alert {other.pk}, which it was a duplicate of, is part of it now")
    fields = {name: getattr(other, name) for name in RESTORED if name not in ("state", "triaged")}
    change.enter(State(other.state), **fields)
    change.alert.triaged = other.triaged


def _stand_again(change: Change) -> None:
    alert = change.alert
    alert.standing = True
    change.note(Kind.STANDING)
    if alert.state == State.RESOLVED and alert.resolution in TAKEN_BACK:
        change.enter(State.REOPENED if alert.triaged else State.NEW)


def _settle_untouched(change: Change, conclusion: Conclusion) -> None:
    """The resting state. What closed itself after quiet days stays so while it is recovered."""
    alert = change.alert
    resting = _resting(conclusion)
    if alert.state == State.RESOLVED and (conclusion.is_recovered or conclusion.is_history):
        return
    if alert.state == resting:
        return
    if resting == State.RECOVERED:
        change.note(Kind.RECOVERED)
    elif resting == State.SNOOZED:
        change.note(Kind.SNOOZED, "from runs uploaded as history")
    else:
        change.note(Kind.WOKE if alert.state == State.SNOOZED else Kind.RETURNED)
    change.enter(resting, **_since(change, resting))


def _resting(conclusion: Conclusion) -> State:
    if conclusion.is_history:
        return State.SNOOZED
    return State.RECOVERED if conclusion.is_recovered else State.NEW


def _settle_triaged(change: Change, conclusion: Conclusion) -> None:
    state = change.alert.state
    if conclusion.is_recovered and state in WORKED_ON:
        change.note(Kind.RECOVERED)
        change.enter(State.RECOVERED, **_since(change, State.RECOVERED))
    elif not conclusion.is_recovered and state == State.RECOVERED:
        change.note(Kind.RETURNED)
        change.enter(State.REOPENED)


def _since(change: Change, state: State) -> dict[str, object]:
    return {"recovered_since": change.now} if state == State.RECOVERED else {}
