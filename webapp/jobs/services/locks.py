"""Hold one job for a change."""

from webapp.jobs.errors import ForeignJob, NoSuchJob
from webapp.jobs.models import Job
from webapp.labs.models import Agent

NUMBER_MAX = 2**63 - 1


def lock_job(number: int) -> Job:
    """The job, which nobody else changes until this transaction ends. Raises NoSuchJob."""
    locked = Job.objects.named().select_for_update(of=["self"], no_key=True)
    job = locked.filter(pk=number).first() if 0 <= number <= NUMBER_MAX else None
    if job is None:
        raise NoSuchJob(f"there is no job {number}")
    return job


def lock_job_for(number: int, agent: Agent) -> Job:
    """`lock_job` for an agent that reports on it. Raises NoSuchJob, ForeignJob."""
    job = lock_job(number)
    if job.hardware.lab_id != agent.lab_id:
        raise ForeignJob(f"job {number} is for hardware of another lab than this token")
    return job
