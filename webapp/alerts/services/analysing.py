"""Analyse the series whose points changed, and group what was found into alerts."""

from dataclasses import dataclass

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from webapp.alerts.services.agreeing import reconcile_agreements
from webapp.alerts.services.clock import wake_at_revisions
from webapp.alerts.services.reconciling import reconcile_alerts
from webapp.analysis import services as analysis
from webapp.results import services as results
from webapp.results.models import Series

BATCH = 100
NOT_OF_THE_SERIES = (OperationalError, InterfaceError, SoftTimeLimitExceeded)
"""Errors that any series would meet now."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Analysed:
    """How many series were looked at, how many of them are done, and whether more were waiting."""

    claimed: int
    finished: int
    more: bool = False


@transaction.atomic
def analyse_dirty_series(*, limit: int = BATCH, only: int | None = None) -> Analysed:
    """Analyse up to ``limit`` series whose points changed, or ``only`` the one with that id, and
    bring their trees' alerts in line. What options cost follows from the series with and without
    them: its own series are marked, and are ``more``.

    Safe to run twice and in several workers at once: a worker holds the analysis rows of the
    series it works on, others pass them by. Locks are taken in this order: analysis rows, trees,
    findings, alerts, agreements, series in the order of their ids.
    """
    results.begin_writing()
    claimed = analysis.claim_series(limit, only)
    if not claimed:
        return Analysed(0, 0)
    detected = analysis.compare_and_detect(claimed)
    trees = results.lock_trees(series.tree_id for series in claimed)
    again = analysis.store_findings(detected)
    for tree in trees:
        reconcile_alerts(tree)
        reconcile_agreements(tree)
    wake_at_revisions(trees, now=timezone.now())
    costs = results.changed_costs(claimed)
    renewed = results.renew_costs(costs, besides=[*again, *(one.pk for one in claimed)])
    finished = analysis.finish(detected, again=again)
    more = bool(again) or renewed or len(claimed) == limit
    return Analysed(len(claimed), finished, more=more)


def analyse_apart() -> int:
    """Analyse each dirty series by itself, so that one that cannot be analysed holds up no other;
    how many are done. That one stays dirty, which /metrics shows, and the log says why.
    """
    finished = 0
    for pk in list(Series.objects.dirty().values_list("pk", flat=True)):
        try:
            finished += analyse_dirty_series(only=pk).finished
        except NOT_OF_THE_SERIES:
            raise
        except Exception:
            log.exception("a series could not be analysed, the next sweep tries again", series=pk)
    return finished
