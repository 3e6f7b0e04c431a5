"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.jobs import services


@shared_task(ignore_result=True)
def sweep_jobs() -> None:
    """Queue again what silent workers held, cancel what comes too late (beat runs this)."""
    services.pass_time()
