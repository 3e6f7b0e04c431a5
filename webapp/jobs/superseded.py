"""A run that was replaced: its successor is the result of the same jobs."""

from collections.abc import Mapping

from webapp.jobs.models import Job
from webapp.results.services.replacing import on_superseded


@on_superseded
def keep_results(successors: Mapping[int, int]) -> None:
    """Former run → its successor, by ids. The former one stays a result too: it was one."""
    results = Job.runs.through.objects
    results.bulk_create(
        [
            Job.runs.through(job_id=row.job_id, run_id=successors[row.run_id])
            for row in results.filter(run__in=successors)
        ]
    )
