"""Take a bisect one step further: read what came, decide, ask for what is to be measured.

A step is a function of what is stored, under the lock of the bisect's row: taken twice, or by two
workers at once, it does the same as once.
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.bisects.models import Bisect, BisectDecision
from webapp.bisects.services.collecting import collect, revisions_along
from webapp.bisects.services.ending import end_with
from webapp.bisects.services.identical import note_identical_builds
from webapp.bisects.services.job_requests import ask, cancel_jobs, is_of_use
from webapp.bisects.services.making import Hands, make_decision
from webapp.bisects.services.settling import is_paused, settle_jobs
from webapp.results.services import begin_writing

State = Bisect.State


@transaction.atomic
def advance_bisect(*, bisect: int, now: datetime | None = None) -> bool:
    """Take the step that is due; whether the bisect changed. Quiet when it ended or is gone."""
    begin_writing()
    row = lock_bisect(bisect)
    if row is None or row.has_ended:
        return False
    version = row.version
    take_step(row, now or timezone.now())
    return row.version != version


def lock_bisect(number: int) -> Bisect | None:
    """The bisect, which nobody else changes until this transaction ends."""
    locked = Bisect.objects.select_for_update(of=["self"], no_key=True)
    parts = ("series__tree", "series__hardware", "series__mode", "series__metric")
    return locked.select_related(*parts, "good", "bad").filter(pk=number).first()


def take_step(bisect: Bisect, now: datetime) -> None:
    """`advance_bisect` for a bisect that the caller has locked."""
    last = bisect.decisions.order_by("-number").first()
    number = last.number + 1 if last else 1
    settled = settle_jobs(bisect, now)
    changed = collect(bisect, decision=number, now=now)
    note_identical_builds(bisect, now)
    if is_paused(bisect):
        _write(bisect, now, State.PAUSED, is_news=bool(settled or changed))
        return
    _decide(bisect, last, now, is_news=bool(changed))


def _decide(bisect: Bisect, last: BisectDecision | None, now: datetime, *, is_news: bool) -> None:
    revisions = revisions_along(bisect)
    pending = list(bisect.asked.filter(settled=False).select_related("job"))
    hands = Hands.now(bisect, now)
    made, found = make_decision(bisect, revisions, pending, hands, now)
    useless = [one for one in pending if not is_of_use(one, found)]
    if useless and not found.outcome:
        cancel_jobs(useless, "it would tell little by now", now)
        pending = [one for one in pending if one not in useless]
        made, found = make_decision(bisect, revisions, pending, hands, now)
    if is_news or _is_news(bisect, made, last):
        is_news = True
        made.save()
        ask(bisect, made, found.actions, revisions, now)
    if found.outcome is not None:
        cancel_jobs(pending, "the bisect is done", now)
        end_with(bisect, found, revisions, now)
        return
    starved = not bisect.manual and hands.count == 0
    state = State.STARVED if starved else State(found.state.value)
    _write(bisect, now, state, is_news=is_news)


def _is_news(bisect: Bisect, made: BisectDecision, last: BisectDecision | None) -> bool:
    if last is None or (made.boots, made.acts) != (last.boots, last.acts):
        return True
    if (made.state, made.failure) != (last.state, last.failure):
        return True
    return bool(made.figures["measure"]) and not bisect.manual


def _write(bisect: Bisect, now: datetime, state: State, *, is_news: bool) -> None:
    if bisect.state != state or is_news:
        bisect.state = state
        bisect.version += 1
        bisect.updated_at = now
        bisect.save(update_fields=["state", "version", "updated_at"])
