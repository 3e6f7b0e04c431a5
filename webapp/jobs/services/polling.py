"""A worker asks for a job, and may wait for one."""

import random
import time
from dataclasses import dataclass

from webapp.jobs import waiting_polls
from webapp.jobs.models import Job
from webapp.jobs.services.leasing import claim
from webapp.jobs.services.poll_requests import PollRequest, capabilities_of

MOST_SECONDS = 60.0
COME_BACK_SECONDS = 5.0
"""For whom there is no place to wait. Half as much again or as little: not all at once."""


@dataclass(frozen=True, slots=True)
class Polled:
    """A job, or when to ask again (seconds; 0: at once)."""

    job: Job | None
    again_after: float


def poll(*, request: PollRequest, wait: float = 0.0) -> Polled:
    """The next job for a worker, waiting up to ``wait`` seconds (60 at most) for one.

    Raises:
        Unprocessable, Forbidden: as ``capabilities_of``.
    """
    end = time.monotonic() + min(wait, MOST_SECONDS)
    capabilities = capabilities_of(request)
    if wait <= 0 or request.draining:
        return Polled(claim(request=request, capabilities=capabilities), _later())
    # It enters first: a job that comes between a look and the waiting would be waited past.
    with waiting_polls.polls.entered((request.agent.pk, request.worker), capabilities) as waiting:
        job = claim(request=request, capabilities=capabilities)
        if waiting is None:
            return Polled(job, _later())
        while job is None and waiting_polls.wait_with(waiting, end):
            job = claim(request=request, capabilities=capabilities)
    return Polled(job, 0.0)


def _later() -> float:
    return round(COME_BACK_SECONDS * random.uniform(0.5, 1.5), 2)  # noqa: S311 (no secret)
