"""Jobs: ask for what a decision wants measured, and take back what is of no use any more."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from webapp.bisects.models import Bisect, BisectDecision, BisectJob
from webapp.jobs.models import Job
from webapp.jobs.services import JobRequest, cancel_job, request_jobs
from webapp.results.models import Revision
from webapp.stats import bisection

TELLS_LITTLE = 0.02
"""A revision that lies before or after the step with so much certainty is not worth a boot."""


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
    """Whether a boot under way may still tell something."""
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
