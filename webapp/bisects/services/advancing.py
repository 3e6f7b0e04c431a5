"""Take a bisect one step further: read what came, decide, ask for the jobs of the decision, and
take back those that are of no use any more.

A step is a function of what is stored, under the lock of the bisect's row: taken twice, or by two
workers at once, it does the same as once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.bisects.deciding import decision_of
from webapp.bisects.draft import forecast_left
from webapp.bisects.models import Bisect, BisectDecision, BisectJob
from webapp.bisects.question import Circumstances, hands_of, machine_of
from webapp.bisects.services import settling
from webapp.bisects.services.collecting import collect, revisions_along
from webapp.jobs.models import Job
from webapp.jobs.services import JobRequest, cancel_job, request_jobs
from webapp.results.models import Revision
from webapp.results.services import begin_writing
from webapp.stats import bisection

State = Bisect.State

TELLS_LITTLE = 0.02
"""A revision that lies before or after the step with so much certainty is not worth a boot."""


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
    settled = settling.settle_jobs(bisect, now)
    changed = collect(bisect, decision=number, now=now)
    settling.note_identical_builds(bisect, now)
    if settling.is_paused(bisect):
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
        cancel_jobs(useless, "it would bring little by now", now)
        pending = [one for one in pending if one not in useless]
        made, found = make_decision(bisect, revisions, pending, hands, now)
    if is_news or _is_news(bisect, made, last):
        is_news = True
        made.save()
        ask(bisect, made, found.actions, revisions, now)
    if found.outcome is not None:
        cancel_jobs(pending, "the bisect is done", now)
        settling.end_with(bisect, found, revisions, now)
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


@dataclass(frozen=True, slots=True)
class Hands:
    """Agents that can measure now, by machine. ``unserved``: modes that none of their machine's
    agents measures.
    """

    of_machine: dict[str, int]
    unserved: tuple[int, ...] = ()

    @classmethod
    def now(cls, bisect: Bisect, now: datetime) -> "Hands":
        """Those that asked for work lately; a bisect by hand has one person."""
        if bisect.manual:
            return cls({machine_of(bisect): 1})
        counts = hands_of(bisect.scopes, now)
        found: dict[str, int] = {}
        for scope, count in counts:
            if count:
                found[machine_of(scope)] = max(found.get(machine_of(scope), 0), count)
        unserved = [s.number for s, count in counts if not count and machine_of(s) in found]
        return cls(found, tuple(unserved))

    @property
    def count(self) -> int:
        """All of them."""
        return sum(self.of_machine.values())

    def free(self, bisect: Bisect, pending: Sequence[BisectJob]) -> dict[str, int]:
        """Those with nothing to do. With nobody at all one job waits for each machine, for whoever
        comes first.
        """
        machines = {machine_of(scope): 1 for scope in bisect.scopes}
        busy = [machine_of(bisect.scopes[one.subject]) for one in pending]
        known = self.of_machine or machines
        return {machine: max(count - busy.count(machine), 0) for machine, count in known.items()}


def make_decision(
    bisect: Bisect,
    revisions: Sequence[Revision],
    pending: Sequence[BisectJob],
    hands: Hands,
    now: datetime,
) -> tuple[BisectDecision, bisection.Decision]:
    """What the stored evidence leads to: the row, unsaved, and the decision that it describes."""
    names = [revision.name for revision in revisions]
    unserved = dict.fromkeys(hands.unserved, "No agent of this machine serves the mode.")
    failures = unserved | settling.lab_failures(bisect)
    at_hand = Circumstances(
        at=now,
        asked=tuple(bisection.Asked(one.subject, _measure(one)) for one in pending),
        free=hands.free(bisect, pending),
        hours=settling.machine_hours(bisect),
        failure="" if bisect.is_of_several else failures.pop(0, ""),
        failures=failures,
    )
    known = list(bisect.boots.filter(dropped_at__isnull=True)), list(bisect.acts.all()), at_hand
    row, found = decision_of(bisect, names, *known)
    if found.outcome is None and (found.actions or not pending):
        row.figures["left"] = forecast_left(bisect, names, known, hands.count)
    return row, found


def _measure(one: BisectJob) -> bisection.Measure:
    return bisection.Measure(one.index, bisection.Purpose(one.purpose), one.job.rebuild)


def ask(
    bisect: Bisect,
    decision: BisectDecision,
    actions: Sequence[bisection.Asked],
    revisions: Sequence[Revision],
    now: datetime,
) -> None:
    """Request a job of one boot for each action; by hand people measure instead."""
    if bisect.manual or not actions:
        return
    requests = [_request(bisect, decision, one, revisions[one.measure.index]) for one in actions]
    jobs = request_jobs(requests=requests, requested_by=bisect.created_by, now=now)
    BisectJob.objects.bulk_create(
        BisectJob(
            bisect=bisect,
            job=job,
            decision=decision,
            subject=one.subject,
            index=one.measure.index,
            purpose=one.measure.purpose.value,
        )
        for one, job in zip(actions, jobs, strict=True)
    )


def _request(
    bisect: Bisect, decision: BisectDecision, one: bisection.Asked, revision: Revision
) -> JobRequest:
    measure, scope = one.measure, bisect.scopes[one.subject]
    key = f"bisect-{bisect.pk}-{decision.number}" if measure.rebuild else ""
    return JobRequest(
        purpose=Job.Purpose.BISECT,
        revision=revision,
        hardware=scope.series.hardware,
        mode=scope.series.mode,
        metric=scope.series.metric,
        boots=1,
        iterations=scope.runs,
        rebuild=measure.rebuild,
        build_key=key,
        reason=f"bisect {bisect.pk}, {measure.purpose.value}",
        deadline=bisect.deadline,
    )


def cancel_jobs(asked: Iterable[BisectJob], reason: str, now: datetime) -> None:
    """Take jobs back. Those that are being measured may still bring a result, which counts."""
    for one in asked:
        cancel_job(job=one.job_id, reason=f"bisect {one.bisect_id}: {reason}", now=now)
        one.settled = True
        one.save(update_fields=["settled"])


def is_of_use(asked: BisectJob, found: bisection.Decision) -> bool:
    """Whether a boot under way may still bring evidence."""
    if found.outcome is not None:
        return False
    if asked.purpose == bisection.Purpose.ANCHOR:
        return True
    if asked.subject != found.lead and asked.purpose != bisection.Purpose.SEARCHING:
        # Of another machine or mode: its ends are booted while the first one searches already.
        return True
    if asked.purpose != bisection.Purpose.SEARCHING:
        return asked.purpose == found.state.value or asked.job.state == Job.State.LEASED
    chances = found.posterior.candidates
    total = float(chances.sum())
    if total <= 0:
        return True
    before = float(chances[: asked.index].sum()) / total
    return TELLS_LITTLE <= before <= 1 - TELLS_LITTLE or found.posterior.none > TELLS_LITTLE
