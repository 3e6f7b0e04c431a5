"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.regressions import queue, services


@shared_task(ignore_result=True)
def analyse_series() -> None:
    """Analyse what is dirty, until nothing is left that nobody else works on."""
    queue.analysis_begins()
    while services.analyse_dirty_series().finished:
        pass


@shared_task(ignore_result=True)
def sweep_dirty_series() -> None:
    """Find dirty series whose message was lost (beat runs this)."""
    queue.analysis_begins()
    while services.analyse_dirty_series().finished:
        pass
