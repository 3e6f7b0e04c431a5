"""What tests of jobs do again and again: ask for jobs, take them, report."""

from datetime import datetime, timedelta
from typing import Any

from tests import make
from webapp.jobs import services
from webapp.jobs.models import Job
from webapp.jobs.services.completing import Heard
from webapp.labs.models import Agent

NOW = datetime(2026, 3, 1, 12, tzinfo=make.DAY_ONE.tzinfo)
MINUTE = timedelta(minutes=1)


def request(revision: str = "r300000", *, at: datetime = NOW, **fields: Any) -> Job:
    """A queued job of one boot on the usual hardware."""
    defaults: dict[str, Any] = {"hardware": make.hardware(), "mode": make.mode()}
    request = services.JobRequest(
        purpose=fields.pop("purpose", Job.Purpose.MORE_RUNS),
        revision=make.revision(revision),
        **{**defaults, **fields},
    )
    return services.request_jobs(requests=[request], requested_by=None, now=at)[0]


def asking(
    worker: str = "rig-1", *, agent: Agent | None = None, **fields: Any
) -> services.PollRequest:
    """A worker that serves the usual hardware in every mode."""
    serves = fields.pop("serves", None) or [services.Serves(make.hardware().name)]
    return services.PollRequest(agent=agent or make.agent(), worker=worker, serves=serves, **fields)


def take(worker: str = "rig-1", *, at: datetime = NOW, **fields: Any) -> Job | None:
    """What a poll of the worker gets at once."""
    asked = asking(worker, **fields)
    return services.claim(request=asked, capabilities=services.capabilities_of(asked), now=at)


def taken(worker: str = "rig-1", **fields: Any) -> Job:
    job = take(worker, **fields)
    assert job is not None
    return job


def fail(job: Job, stage: str = "run", *, at: datetime = NOW, **fields: Any) -> Job:
    return services.fail(
        number=job.pk,
        agent=make.agent(),
        lease=job.lease,
        stage=stage,
        reason=fields.pop("reason", "iperf3 exited with 1"),
        now=at,
        **fields,
    )


def hear(job: Job, *, at: datetime = NOW, stage: str = "run") -> Heard:
    return services.hear(number=job.pk, agent=make.agent(), lease=job.lease, stage=stage, now=at)


def kinds(job: Job) -> list[str]:
    return list(job.events.values_list("kind", flat=True))
