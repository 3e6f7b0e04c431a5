"""Writes to jobs, one file per matter."""

from webapp.jobs.services.completing import (
    begin_result,
    check_result,
    complete,
    fail,
    hear,
    refuse_result,
)
from webapp.jobs.services.events import (
    LEASE,
    ActRefused,
    ForeignJob,
    JobsError,
    LeaseLost,
    NoSuchJob,
    ResultRefused,
    WrongKernel,
    job_ended,
)
from webapp.jobs.services.leasing import (
    MOST_SECONDS,
    PollRequest,
    Serves,
    capabilities_of,
    claim,
    expire_leases,
    pass_time,
    poll,
)
from webapp.jobs.services.requesting import (
    Asked,
    JobRequest,
    cancel_job,
    change_priority,
    request_builds,
    request_jobs,
    request_more_runs,
    retry_job,
)
