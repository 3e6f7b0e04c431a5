"""Jobs: what agents ask for, and what they report of it."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from webapp.analysis import services as analysis
from webapp.api.prometheus import count_runs
from webapp.api.requests import AgentToken, Page, bounded, named, newest, same
from webapp.api.schemas.runs import MOST_RUNS, RecordedOut, RunIn, recorded_out
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, HardwareName, Name, Strict
from webapp.api.schemas.types import Line as SoundLine
from webapp.jobs import services as jobs
from webapp.jobs.models import Job, JobEvent
from webapp.jobs.services import MOST_SECONDS, NoSuchJob
from webapp.labs.models import Agent, Scope
from webapp.results.models import INVISIBLE, NAME_MAX, storable

MOST_SERVED, MOST_MODES = 50, 2000


Log = Annotated[str, Field(strict=True), AfterValidator(storable)]
"""A console's log may hold anything, and must not be lost for it."""

ModeText = Annotated[
    str, StringConstraints(max_length=NAME_MAX, strict=True, pattern=rf"^[^{INVISIBLE}]*$")
]
Lease = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$", strict=True)]
Line = Annotated[Log, Field(max_length=2000)]
Stage = Literal["build", "boot", "run", "upload", "lab"]


class ServesIn(Strict):
    """Hardware of the token's lab, and what can be measured on it; null: everything."""

    hardware: HardwareName
    modes: Annotated[list[ModeText], Field(max_length=MOST_MODES)] | None = Field(
        None, description="Whole names of modes, as `ipfw-statefull@inet4+VIMAGE`."
    )
    trees: Annotated[list[Name], Field(max_length=MOST_MODES)] | None = None
    rebuilds: bool = Field(False, description="Whether it can build again with another layout.")


class PollIn(Strict):
    """What a worker can measure. `wait`: up to so many seconds for a job."""

    serves: Annotated[list[ServesIn], Field(min_length=1, max_length=MOST_SERVED)]
    worker: Annotated[SoundLine, Field(min_length=1, max_length=100)]
    wait: Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)] = 0
    version: Annotated[SoundLine, Field(max_length=50)] = ""
    draining: bool = False

    def poll_request(self, agent: Agent) -> jobs.PollRequest:
        """The request as the service takes it."""
        return jobs.PollRequest(
            agent=agent,
            worker=self.worker,
            serves=[jobs.Serves(**each.model_dump()) for each in self.serves],
            version=self.version,
            draining=self.draining,
        )


class HeartbeatIn(Strict):
    """How far the job is."""

    lease: Lease
    stage: Stage
    progress: Line = ""
    log: Log = Field("", description="The end of it; 4 kB are kept.")


class FailIn(Strict):
    """Which stage of the job failed, and why."""

    lease: Lease
    stage: Stage
    reason: Line
    log: Log = Field("", description="The end of it; 64 kB are kept.")


class ResultIn(Strict):
    """`run` or `runs`."""

    lease: Lease
    run: RunIn | None = None
    runs: Annotated[list[RunIn], Field(min_length=1, max_length=MOST_RUNS)] | None = None

    @model_validator(mode="after")
    def has_runs(self) -> "ResultIn":
        """Refuse neither, and both."""
        if (self.run is None) == (self.runs is None):
            raise ValueError("send either run or runs")
        return self

    def all_runs(self) -> list[RunIn]:
        """The runs, one or many."""
        return self.runs or ([self.run] if self.run else [])


class AssignmentOut(BaseModel):
    """What a worker is to measure. `lease` goes with every report on it."""

    id: int
    lease: str
    lease_seconds: float
    tree: str
    revision: str
    aliases: list[str]
    hardware: str
    mode: str
    workload: str
    traffic: str | None
    options: list[str]
    metric: str | None
    boots: int
    iterations: int
    rebuild: bool
    build_key: str
    attempt: int
    purpose: str
    profile: bool = Field(description="Profile the kernel as well, in boots of their own.")
    reason: str
    deadline: datetime | None


class PolledOut(BaseModel):
    """A job, or null and the seconds after which to ask again."""

    job: AssignmentOut | None
    poll_again_after: float


class HeardOut(BaseModel):
    """The state of the job; `cancel`: stop measuring, for `reason`."""

    state: str
    cancel: bool
    reason: str
    lease_seconds: float


class FailedOut(BaseModel):
    """The state of the job now: queued for another attempt, or failed."""

    state: str


class JobOut(BaseModel):
    """A job; `failure` is that of its last attempt."""

    number: int
    url: str
    state: str
    purpose: str
    reason: str
    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str | None
    boots: int
    iterations: int
    rebuild: bool
    priority: int
    attempts: int
    max_attempts: int
    worker: str | None
    stage: str
    progress: str
    failure_stage: str
    failure_reason: str
    cancel_requested: bool
    cancel_reason: str
    requested_by: str | None
    estimate_seconds: float
    created_at: datetime
    not_before: datetime
    deadline: datetime | None
    started_at: datetime | None
    ended_at: datetime | None


class JobList(BaseModel):
    """Newest first; ``next`` is the ``before`` of the next page, null on the last."""

    jobs: list[JobOut]
    next: int | None


class JobEventOut(BaseModel):
    """What happened; `actor` is null where no person did it."""

    at: datetime
    kind: str
    actor: str | None
    worker: str | None
    stage: str
    reason: str
    log: str


class JobDetail(JobOut):
    """A job with the runs that are its result and its events."""

    runs: list[UUID]
    events: list[JobEventOut]


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


def assignment(job: Job) -> dict[str, Any]:
    """A job that was just leased."""
    names = job.revision.aliases.order_by("name").values_list("name", flat=True)
    same = ("lease", "boots", "iterations", "rebuild", "build_key", "purpose", "reason", "deadline")
    return {
        **{field: getattr(job, field) for field in same},
        "id": job.pk,
        "profile": job.purpose == Job.Purpose.PROFILE,
        "lease_seconds": jobs.LEASE.total_seconds(),
        "tree": job.tree.name,
        "revision": job.revision.name,
        "aliases": [name for name in names if name != job.revision.name],
        "hardware": job.hardware.name,
        "mode": job.mode.name,
        "workload": job.mode.workload,
        "traffic": job.mode.traffic or None,
        "options": job.mode.options,
        "metric": job.metric.name if job.metric else None,
        "attempt": job.attempts,
    }


SAME_FIELDS = (
    *("state", "purpose", "reason", "boots", "iterations", "rebuild", "priority", "attempts"),
    *("max_attempts", "stage", "progress", "failure_stage", "failure_reason", "cancel_requested"),
    *("cancel_reason", "estimate_seconds", "created_at", "not_before", "deadline", "started_at"),
    "ended_at",
)


def job_out(job: Job) -> dict[str, Any]:
    """A job as the API shows it. Needs its subjects loaded."""
    return {
        **same(job, *SAME_FIELDS),
        **named(job, "tree", "revision", "hardware", "mode", "metric", "worker"),
        "number": job.pk,
        "url": job.get_absolute_url(),
        "requested_by": job.requested_by.get_username() if job.requested_by else None,
    }


def job_event_out(event: JobEvent) -> dict[str, Any]:
    """An event of a job as the API shows it. Needs its actor and worker loaded."""
    return {
        **same(event, "at", "kind", "stage", "reason", "log"),
        **named(event, "worker"),
        "actor": event.actor.get_username() if event.actor else None,
    }
