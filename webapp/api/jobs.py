"""Jobs: what agents ask for, and what they report of it."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Status

from webapp.analysis import services as analysis
from webapp.api.prometheus import count_runs
from webapp.api.requests import AgentToken
from webapp.api.runs import recorded_out
from webapp.api.schemas.jobs import (
    FailedOut,
    FailIn,
    HeardOut,
    HeartbeatIn,
    JobDetail,
    JobList,
    PolledOut,
    PollIn,
    ResultIn,
    assignment,
    job_event_out,
    job_out,
)
from webapp.api.schemas.runs import RecordedOut
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut
from webapp.api.tables import Page, bounded, newest
from webapp.jobs import services as jobs
from webapp.jobs.models import Job
from webapp.jobs.services import NoSuchJob
from webapp.labs.models import Agent, Scope

router = Router(tags=["jobs"])
AGENT = AgentToken(Scope.JOBS)
UNKNOWN = {400: ErrorOut, 404: ErrorOut, **REFUSALS}
StateIn = Literal["", "queued", "leased", "done", "failed", "cancelled"]


class Wanted(Page):
    """Which jobs; a part left out means all."""

    state: StateIn = ""
    tree: Asked = ""
    hardware: Asked = ""
    mode: Asked = ""


def _agent(request: HttpRequest) -> Agent:
    agent: Agent = request.auth.agent  # type: ignore[attr-defined]
    return agent


@router.post(
    "/poll",
    auth=AGENT,
    response={200: PolledOut, 400: ErrorOut, **REFUSALS},
    summary="Ask for a job, and wait for one",
)
def poll(request: HttpRequest, asked: PollIn) -> Any:
    """A worker that holds a job gets that one again, with its lease renewed.

    Without a job: ask again after `poll_again_after` seconds. It is 0 when the server waited as
    long as it was asked to, and more when too many wait at once.
    """
    polled = jobs.poll(request=asked.poll_request(_agent(request)), wait=asked.wait)
    return {
        "job": assignment(polled.job) if polled.job else None,
        "poll_again_after": polled.again_after,
    }


@router.post(
    "/{number}/heartbeat",
    auth=AGENT,
    response={200: HeardOut, **UNKNOWN},
    summary="Report what the worker does, and keep the job",
)
def heartbeat(request: HttpRequest, number: int, word: HeartbeatIn) -> Any:
    """`cancel`: stop, then send `fail` with the stage `lab`.

    409 `lease_lost`: the job is queued again, or another's.
    """
    heard = jobs.hear(number=number, agent=_agent(request), **word.model_dump())
    return {
        "state": heard.state,
        "cancel": heard.cancel,
        "reason": heard.reason,
        "lease_seconds": jobs.LEASE.total_seconds(),
    }


@router.post(
    "/{number}/fail",
    auth=AGENT,
    response={200: FailedOut, **UNKNOWN},
    summary="Report that the attempt failed, at which stage and why",
)
def fail(request: HttpRequest, number: int, failure: FailIn) -> Any:
    """The answer has what becomes of the job. Idempotent."""
    job = jobs.fail(number=number, agent=_agent(request), **failure.model_dump())
    return {"state": job.state}


@router.post(
    "/{number}/result",
    auth=AGENT,
    response={200: RecordedOut, 201: RecordedOut, **UNKNOWN},
    summary="Store the runs that a job asked for",
)
def result(request: HttpRequest, number: int, sent: ResultIn) -> Any:
    """Taken late, too: after the lease, or when another worker has the job. Idempotent.

    409 `wrong_kernel`, `wrong_job`: something else was measured; nothing is stored, and the
    attempt counts as failed.
    """
    runs = [run.document() for run in sent.all_runs()]
    recorded = analysis.store_job_result(
        number=number, agent=_agent(request), lease=sent.lease, runs=runs
    )
    count_runs(sent.all_runs(), recorded)
    status = 201 if recorded.stored or recorded.replaced else 200
    return Status(status, recorded_out(sent.all_runs(), recorded))


@router.get("", response={200: JobList, 422: ErrorOut}, summary="Jobs, newest first")
def list_jobs(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Job.objects.about(tree=wanted.tree, hardware=wanted.hardware, mode=wanted.mode)
    if wanted.state:
        found = found.filter(state=wanted.state)
    shown, following = newest(found.named(), wanted)
    return {
        "jobs": [job_out(row) for row in shown],
        "next": following,
    }


@router.get(
    "/{number}",
    response={200: JobDetail, 404: ErrorOut, 422: ErrorOut},
    summary="A job with its events and its runs",
)
def one_job(request: HttpRequest, number: int) -> Any:
    """With the runs that are its result and its events, oldest first."""
    job = Job.objects.named().filter(pk=bounded(number)).first()
    if job is None:
        raise NoSuchJob(f"there is no job {number}")
    events = job.events.select_related("actor", "worker")
    return {
        **job_out(job),
        "runs": [run.uuid for run in job.results()],
        "events": [job_event_out(event) for event in events],
    }
