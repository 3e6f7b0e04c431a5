"""Tasks: thin, safe to run twice."""

import time

import structlog
from celery import shared_task

from webapp.alerts import services
from webapp.alerts.services import analysing
from webapp.queueing import Task, begins, queue_on_commit
from webapp.readiness.services import heartbeats, still_works
from webapp.results.models import Series

GATHER_SECONDS, GATHER_MOST_SECONDS = 0.2, 1.0
"""Under a stream of uploads the same series are dirty again at once. Looking at them once for
several new revisions costs hardly more than for one, so a worker rests as long as a batch took it,
within these bounds: the busier the machine, the more each batch gathers, and the more is left for
uploads."""

REPEAT_SECONDS = 30
"""How long a task repeats stale analyses, before another one goes on."""

log = structlog.get_logger()


@shared_task(ignore_result=True)
def analyse_series() -> None:
    """Analyse what is dirty, until nothing is left that nobody else works on."""
    begins(Task.ANALYSE)
    try:
        began = time.monotonic()
        while (analysed := services.analyse_dirty_series()).finished:
            still_works(heartbeats.WORKER)
            if not analysed.more:
                took = time.monotonic() - began
                time.sleep(min(max(took, GATHER_SECONDS), GATHER_MOST_SECONDS))
            began = time.monotonic()
    except analysing.NOT_OF_THE_SERIES:
        raise
    except Exception:
        log.exception("a batch could not be analysed, its series are analysed one by one")
        analysing.analyse_apart()


@shared_task(ignore_result=True)
def analyse_stale_series() -> None:
    """Repeat what an earlier version of the method analysed, while nothing fresh waits (beat runs
    this). What is left is stored, so it goes on wherever it was interrupted.
    """
    end = time.monotonic() + REPEAT_SECONDS
    try:
        while not Series.objects.dirty().exists() and analysing.analyse_stale_series():
            still_works(heartbeats.WORKER)
            if time.monotonic() > end:
                queue_on_commit(Task.ANALYSE_STALE)
                return
    except analysing.NOT_OF_THE_SERIES:
        raise
    except Exception:
        log.exception("a batch could not be analysed, its series are analysed one by one")
        analysing.analyse_stale_apart()


@shared_task(ignore_result=True)
def sweep_dirty_series() -> None:
    """Find dirty series whose message was lost (beat runs this)."""
    analyse_series()


@shared_task(ignore_result=True)
def sweep_alerts() -> None:
    """Close what stayed recovered, wake what slept long enough (beat runs this)."""
    services.pass_time()
