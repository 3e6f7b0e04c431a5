"""Take a bisect one step further: read what came, decide, ask for what is to be measured.

A step is a function of what is stored, under the lock of the bisect's row: taken twice, or by two
workers at once, it does the same as once.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.bisects.deciding import decision_of
from webapp.bisects.forecasting import forecast_left
from webapp.bisects.models import Bisect, BisectDecision, BisectJob
from webapp.bisects.question import Circumstances
from webapp.bisects.services.collecting import collect, revisions_along
from webapp.bisects.services.ending import end_with
from webapp.bisects.services.identical import note_identical_builds
from webapp.bisects.services.job_requests import ask, cancel_jobs, is_of_use
from webapp.bisects.services.settling import is_paused, lab_failure, machine_hours, settle_jobs
from webapp.bisects.workers import workers_for
from webapp.results.models import Revision
from webapp.results.services import begin_writing
from webapp.stats import bisection

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
    hands = 1 if bisect.manual else len(workers_for(bisect.series, now))
    made, found = _made(bisect, revisions, pending, hands, now)
    useless = [one for one in pending if not is_of_use(one, found)]
    if useless and not found.outcome:
        cancel_jobs(useless, "it would tell little by now", now)
        pending = [one for one in pending if one not in useless]
        made, found = _made(bisect, revisions, pending, hands, now)
    if is_news or _is_news(bisect, made, last):
        is_news = True
        made.save()
        ask(bisect, made, found.actions, revisions, now)
    if found.outcome is not None:
        cancel_jobs(pending, "the bisect is done", now)
        end_with(bisect, found, revisions, now)
        return
    starved = not bisect.manual and hands == 0
    _write(bisect, now, State.STARVED if starved else State(found.state.value), is_news=is_news)


def _made(
    bisect: Bisect,
    revisions: Sequence[Revision],
    pending: Sequence[BisectJob],
    hands: int,
    now: datetime,
) -> tuple[BisectDecision, bisection.Decision]:
    """The decision that the stored evidence leads to, unsaved."""
    at_hand = Circumstances(
        at=now,
        pending=tuple(
            bisection.Measure(one.index, bisection.Purpose(one.purpose), one.job.rebuild)
            for one in pending
        ),
        # With nobody to measure one job waits all the same, for whoever comes first.
        agents=max(max(hands, 1) - len(pending), 0),
        hours=machine_hours(bisect),
        failure=lab_failure(bisect),
    )
    boots = list(bisect.boots.filter(dropped_at__isnull=True))
    acts = list(bisect.acts.all())
    names = [revision.name for revision in revisions]
    made, found = decision_of(bisect, names, boots, acts, at_hand)
    if found.outcome is None and (found.actions or not pending):
        made.figures["left"] = forecast_left(bisect, names, (boots, acts, at_hand), hands)
    return made, found


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
