"""The state of an alert as the system sees it, beside what people decided.

While nobody triaged an alert, its state is a function of its findings: new, snoozed when they come
from history, recovered? when all of them recovered. What a person decided is changed only by news.
"""

from webapp.alerts.plan.changes import MarkHistory, News, Retire, Settle, Stand, TakeUp
from webapp.alerts.plan.conclusions import Conclusion
from webapp.alerts.plan.draft import Draft
from webapp.alerts.plan.known import KnownAlert, State

WORKED_ON: tuple[State, ...] = ("new", "acknowledged", "investigating", "reopened")
TAKEN_BACK = ("retracted", "duplicate")


def settle(draft: Draft, number: int, conclusion: Conclusion) -> None:
    """Bring the state in line with findings that back the alert.

    What somebody was written to about is no history any more, whatever became of its runs.
    """
    alert = draft.alerts[number]
    is_history = conclusion.is_history and not alert.mailed
    if alert.history != is_history:
        draft.add(MarkHistory(number, is_history, is_event=alert.triaged))
    if not alert.is_active:
        draft.add(Stand(number, _state_when_active_again(alert)))
    now = draft.alerts[number]
    if now.triaged:
        settled = _triaged(now, is_recovered=conclusion.is_recovered)
    else:
        settled = _untouched(now, is_history=is_history, is_recovered=conclusion.is_recovered)
    if settled is not None:
        draft.add(settled)


def retire(draft: Draft, number: int, heir: int | None) -> None:
    """Close an alert whose findings are gone, or belong to ``heir`` now.

    A person's resolution stays; that the findings are gone is told all the same.
    """
    draft.add(Retire(number, heir, is_closed=draft.alerts[number].state != "resolved"))


def take_up(draft: Draft, number: int, other: int) -> None:
    """Let a duplicate of ``other``, which waits or sleeps, do that in its place: it gets the
    findings, and both closed would hide them.
    """
    was = draft.alerts[other]
    if draft.alerts[number].duplicate_of == other and was.state != "resolved":
        draft.add(TakeUp(number, other, was.state, was.triaged))


def _state_when_active_again(alert: KnownAlert) -> State | None:
    if alert.state != "resolved" or alert.resolution not in TAKEN_BACK:
        return None
    return "reopened" if alert.triaged else "new"


def _untouched(alert: KnownAlert, *, is_history: bool, is_recovered: bool) -> Settle | None:
    """The resting state. What closed itself after quiet days stays so while it is recovered."""
    if alert.state == "resolved" and (is_recovered or is_history):
        return None
    if is_history:
        settled = Settle(alert.number, "snoozed", "snoozed")
    elif is_recovered:
        settled = Settle(alert.number, "recovered", "recovered")
    else:
        news: News = "woke" if alert.state == "snoozed" else "returned"
        settled = Settle(alert.number, news, "new")
    return None if alert.state == settled.state else settled


def _triaged(alert: KnownAlert, *, is_recovered: bool) -> Settle | None:
    if is_recovered and alert.state in WORKED_ON:
        return Settle(alert.number, "recovered", "recovered")
    if not is_recovered and alert.state == "recovered":
        return Settle(alert.number, "returned", "reopened")
    return None
