"""What agents are asked to measure, who measures it, and what happened."""

from webapp.jobs.models.jobs import Job, JobEvent
from webapp.jobs.models.workers import SILENT_AFTER, Worker

__all__ = ["SILENT_AFTER", "Job", "JobEvent", "Worker"]
