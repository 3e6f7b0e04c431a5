"""Tasks: thin, safe to run twice."""

import time

from celery import shared_task

from webapp.regressions import queue, services
from webapp.regressions.services import alerts, digests

GATHER_SECONDS = 0.2
"""Under a stream of uploads the same series are dirty again at once. Looking at them once for
several new revisions costs hardly more than for one."""


@shared_task(ignore_result=True)
def analyse_series() -> None:
    """Analyse what is dirty, until nothing is left that nobody else works on."""
    queue.analysis_begins()
    while (analysed := services.analyse_dirty_series()).finished:
        if not analysed.more:
            time.sleep(GATHER_SECONDS)


@shared_task(ignore_result=True)
def sweep_dirty_series() -> None:
    """Find dirty series whose message was lost (beat runs this)."""
    analyse_series()


@shared_task(ignore_result=True)
def sweep_alerts() -> None:
    """Close what stayed recovered, wake what slept long enough (beat runs this)."""
    alerts.pass_time()


@shared_task(ignore_result=True)
def post_digests() -> None:
    """Post the digests whose day or week is over (beat runs this)."""
    digests.post_digests()
